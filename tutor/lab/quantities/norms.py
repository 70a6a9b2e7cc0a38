"""Norms and sums of squares, in fp32, left on the device."""

from collections.abc import Sequence

import torch
from torch import Tensor

_LONGEST = 2**31 - 1
"""Values, of which CUDA's `dot` takes no more."""


def norm(tensors: Sequence[Tensor]) -> Tensor:
    """The Euclidean norm over all elements of the tensors, a scalar; 0 of none."""
    return squares(tensors).sqrt()


def squares(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of the squares of all elements of the tensors, a scalar; 0 of none."""
    return total([square(tensor.flatten()) for tensor in tensors]) if tensors else torch.zeros(())


def square(flat: Tensor) -> Tensor:
    """The sum of the squares of a flat tensor's elements.

    On a CPU `dot` takes half the time of `linalg.vector_norm`, and a step has a dozen norms; on a GPU it is
    one kernel.
    """
    values = flat.float()
    if len(values) > _LONGEST:
        return torch.linalg.vector_norm(values).square()
    return torch.dot(values, values)


def total(parts: Sequence[Tensor]) -> Tensor:
    """The sum of scalars, of which there is one at least."""
    return parts[0] if len(parts) == 1 else torch.stack(list(parts)).sum()


def root(squares: Sequence[Tensor]) -> Tensor:
    """The norm of all, from the sums of squares of its parts; 0 of none."""
    return total(squares).sqrt() if squares else torch.zeros(())
