"""Tensors of which each process holds a part (FSDP2's, as DTensors) or a copy (DDP's).

A norm over all processes is the root of the sum of each one's squares, if each value counts once: that of a
sharded tensor in the process that holds it, that of a copy in the first.
"""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeGuard

from torch import Tensor, distributed

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


def several() -> bool:
    """Whether several processes train together; only then is any tensor sharded."""
    return distributed.is_available() and distributed.is_initialized()


def ranks() -> tuple[int, int]:
    """This process's number, and how many there are; (0, 1) where it trains alone."""
    return (distributed.get_rank(), distributed.get_world_size()) if several() else (0, 1)


def local(tensor: Tensor) -> Tensor:
    """The part of the tensor that this process holds."""
    return tensor.to_local() if _sharded(tensor) else tensor


def whole(tensor: Tensor) -> Tensor:
    """All of the tensor. Every process has to ask for it."""
    return tensor.full_tensor() if _sharded(tensor) else tensor


def counted(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Those of which this process's part is to be counted in a sum over all processes."""
    return [tensor for tensor in tensors if counts(tensor)] if several() else list(tensors)


def counts(tensor: Tensor) -> bool:
    """Whether this process's part of the tensor is to be counted in a sum over all processes."""
    if not _sharded(tensor):
        return ranks()[0] == 0
    place = tensor.device_mesh.get_coordinate()
    return place is not None and all(
        at == 0 for at, placement in zip(place, tensor.placements, strict=True) if placement.is_replicate()
    )


def locals_of(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Of each tensor the part that this process holds."""
    return [local(tensor) for tensor in tensors] if several() else list(tensors)


def _sharded(tensor: Tensor) -> "TypeGuard[DTensor]":
    loaded = sys.modules.get("torch.distributed.tensor")  # it takes a second to import, and few have any
    return loaded is not None and isinstance(tensor, loaded.DTensor)
