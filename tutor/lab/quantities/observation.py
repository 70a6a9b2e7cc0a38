"""What can be seen of one training step, as tensors on the device."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor


@dataclass(frozen=True)
class Moments:
    """Adam's state for one tensor, after the update.

    Attributes:
        gradient: what the update was given, in the tensor's shape; so are m and v.
        m, v: running means of the gradient and of its square, not corrected for their start at zero.
        updates: how many there were, a scalar.
        beta2, eps: of the tensor's group.
    """

    gradient: Tensor
    m: Tensor
    v: Tensor
    updates: Tensor
    beta2: float
    eps: float


@dataclass(frozen=True)
class Group:
    """Parameters that the optimizer treats alike, as one tensor or many, of any shape.

    Attributes:
        before: the parameters that this step's forward pass used, one tensor each.
        after: the same ones once the optimizer has stepped.
        gradients: what it was given, clipped; none where a tensor got no gradient.
        moments: none under an optimizer without m and v, or before its first update.
        size: how many values have moments, those that other processes hold included; None where none does.
    """

    name: str
    before: Sequence[Tensor]
    after: Sequence[Tensor]
    gradients: Sequence[Tensor]
    moments: Sequence[Moments]
    size: int | None = None


@dataclass(frozen=True)
class Observation:
    """One step. What a loop doesn't show is None or empty; quantities say what they can't do without.

    Attributes:
        groups: the parameters, by group of the optimizer.
        losses: loss of each token, in nats, of all micro-batches: (N,).
        targets: the token to be predicted at each of these places: (N,).
        objective: the scalar whose gradient the step took, after reduction and accumulation.
        streams: the hidden states by layer: of each micro-batch's the sum of its squares, a scalar.
        probe_loss: mean loss of a fixed batch under the parameters before the update, in nats.
        grad_norm: norm of the gradient before clipping.
        clipped: whether it was scaled down.
        rest_norm: norm before clipping of all but the embedding's gradient.
        scale, scale_after: factor on the loss in this step and in the next; None without a scaler.
    """

    groups: Sequence[Group] = ()
    losses: Tensor | None = None
    targets: Tensor | None = None
    objective: Tensor | None = None
    streams: Sequence[Sequence[Tensor]] = ()
    probe_loss: Tensor | None = None
    grad_norm: Tensor | None = None
    clipped: Tensor | None = None
    rest_norm: Tensor | None = None
    scale: Tensor | None = None
    scale_after: Tensor | None = None

    @property
    def moments(self) -> list[Moments]:
        """Those of all groups."""
        return [moments for group in self.groups for moments in group.moments]

    @property
    def size(self) -> int:
        """How many values have moments, in all processes."""
        return sum(
            sum(one.v.numel() for one in group.moments) if group.size is None else group.size
            for group in self.groups
        )


def scratch(like: Tensor) -> Tensor:
    """Flat memory for as many values as `like` has; a quantity may write over it, as may the next one.

    On a CPU memory that is new at every step costs more than the arithmetic that it is for.
    """
    return _memory(like.numel(), like.dtype, like.device)


@lru_cache(maxsize=8)
def _memory(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.empty(size, dtype=dtype, device=device)


def norm(tensors: Sequence[Tensor]) -> Tensor:
    """The Euclidean norm over all elements of the tensors, in fp32, left on the device; 0 of none."""
    return squares(tensors).sqrt()


def squares(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of the squares of all elements of the tensors, in fp32, left on the device; 0 of none."""
    if not tensors:
        return torch.zeros(())
    if tensors[0].device.type != "cpu":
        return by_few_kernels(tensors)
    flat = [tensor.flatten().float() for tensor in tensors]
    # On a CPU `dot` takes half the time of `linalg.vector_norm`, and a step has a dozen norms.
    return total([torch.dot(one, one) for one in flat])


def by_few_kernels(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of the squares, for a GPU: there the number of kernels takes the time, not their size."""
    norms = torch._foreach_norm(list(tensors), 2, dtype=torch.float32)  # pyright: ignore[reportPrivateImportUsage]
    return torch.stack(norms).square().sum()


def total(parts: Sequence[Tensor]) -> Tensor:
    """The sum of scalars, of which there is one at least."""
    return parts[0] if len(parts) == 1 else torch.stack(list(parts)).sum()
