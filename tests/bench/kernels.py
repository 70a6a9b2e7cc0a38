"""What a step asks of a GPU, counted without one: how many kernels, and how many bytes they move.

On the meta device tensors have a shape and no values. Every operation that a device would be asked for is
seen there, and what is asked of it doesn't depend on how busy the machine is.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tests.bench.loops import Watched
from tutor.lab import Recorder
from tutor.lab.instruments import Meter
from tutor.lab.recorder import described


@dataclass(frozen=True)
class Asked:
    """What a step asks of the device.

    Attributes:
        kernels: operations, of which each is one kernel or, over a list of tensors, a few.
        size: of what they read and write, in bytes.
    """

    kernels: int
    size: int


class _Counting(TorchDispatchMode):
    """Counts what a device has to do: neither views nor memory that is only asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = func(*args, **(kwargs or {}))
        touched = [leaf for leaf in tree_leaves((args, kwargs, given)) if _on_device(leaf)]
        if touched and not (func.is_view or func.overloadpacket in _FREE):
            self.sizes.append(sum(one.numel() * one.element_size() for one in touched))
        return given


_FREE = {torch.ops.aten.empty, torch.ops.aten.empty_like, torch.ops.aten.detach}


def _on_device(value: object) -> bool:
    return isinstance(value, Tensor) and value.device.type == "meta"


def of_bare() -> Asked:
    """Of a step that nobody watches."""
    return _of(Watched.begun("meta", foreach=True).step)


def of_recorded() -> Asked:
    """Of the same step, recorded."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(described, "initial_weights", lambda model: {}),  # a value can't be had there
        patch.object(Meter, "read", lambda meter: []),
        torch.device("meta"),
    ):
        loop = Watched.begun("meta", foreach=True)
        with Recorder(Path(folder) / "run", loop.model, loop.optimizer) as recorder:
            return _of(lambda: loop.recorded(recorder))


def _of(step: Callable[[], object]) -> Asked:
    """Of a step that isn't the first, in which memory is made ready."""
    step()
    with _Counting() as counting:
        step()
    return Asked(len(counting.sizes), sum(counting.sizes))
