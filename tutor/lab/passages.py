"""Passages: where, on the way through one step, values stop being finite.

Hooks on every module of any model, put on for one step and taken off after it: training itself pays nothing.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from tutor.run.replay import Passage, Phase


class Passages:
    """What passed through the modules of `model` and the stages of the loss, in order."""

    def __init__(self, model: nn.Module) -> None:
        self._names = {module: name for name, module in model.named_modules() if name}
        self._seen: list[Passage] = []
        self._received: dict[nn.Module, bool] = {}  # whether each module's incoming gradient was finite
        self._model = model

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Every module is watched meanwhile."""
        hooks: list[RemovableHandle] = []
        for module in self._names:
            hooks.append(module.register_forward_hook(self._forward))
            hooks.append(module.register_full_backward_hook(self._backward))
        try:
            with warnings.catch_warnings():
                # An embedding takes numbers of tokens, which have no gradient to be handed back.
                warnings.filterwarnings("ignore", "Full backward hook is firing")
                yield
        finally:
            for hook in hooks:
                hook.remove()

    def stage(self, name: str, given: object, taken: object) -> None:
        """A stage of the loss: what it was given and what it made of it."""
        self._add(name, "forward", given, taken)

    def all(self) -> tuple[Passage, ...]:
        """Those seen, and after the way back the gradients of the parameters, by module.

        A module whose incoming gradient was finite and whose own parameters' gradient is not is where it
        broke, though what it handed on may be finite.
        """
        found = list(self._seen)
        for module, received in self._received.items():
            own = [p.grad for p in module.parameters(recurse=False) if p.grad is not None]
            if own and received and not _finite(own):
                found.append(self._passage(f"{self._names[module]} (gradient)", "backward", received, own))
        return tuple(found)

    def _forward(self, module: nn.Module, given: Any, taken: Any) -> None:
        self._add(self._names[module], "forward", (given, *module.parameters(recurse=False)), taken)

    def _backward(self, module: nn.Module, handed_on: Any, received: Any) -> None:
        self._received[module] = _finite(received)
        if any(one is not None for one in _tensors(handed_on)):
            self._add(self._names[module], "backward", received, handed_on)

    def _add(self, name: str, phase: Phase, given: object, taken: object) -> None:
        self._seen.append(self._passage(name, phase, _finite(given), taken))

    @staticmethod
    def _passage(name: str, phase: Phase, finite_in: bool, taken: object) -> Passage:
        largest = None
        for tensor in _tensors(taken):
            if len(sound := tensor.detach()[torch.isfinite(tensor)]):
                largest = max(largest or 0.0, float(sound.abs().max()))
        return Passage(
            name=name, phase=phase, finite_in=finite_in, finite_out=_finite(taken), largest=largest
        )


def _tensors(values: object) -> Iterator[Tensor]:
    """Every tensor of floats in what a module takes or gives."""
    if isinstance(values, Tensor):
        if values.is_floating_point():
            yield values
    elif isinstance(values, Iterable) and not isinstance(values, str):
        for value in values:
            yield from _tensors(value)


def _finite(values: object) -> bool:
    return all(bool(torch.isfinite(tensor).all()) for tensor in _tensors(values))
