"""The instruments: they watch a step and run every quantity over what they saw.

A step's numbers are packed into one vector on the device and stay there; `read` copies out all that
gathered since the last time, so a GPU waits for the log once in twenty steps and not in each. They know
torch's optimizers and nothing else, so any training loop can call the same three methods.
"""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from tutor.lab.quantities import quantities
from tutor.lab.quantities.observation import Group, Moments, Observation, squares

Cell = bool | int | float | list[bool] | list[int] | list[float] | None


@dataclass(frozen=True)
class BeforeUpdate:
    """What is known once gradients are clipped and before the optimizer steps.

    Attributes:
        optimizer: it may be another object at every step.
        grad_norm: the norm of the gradient before clipping.
        clipped: whether it was scaled down.
        scale: the factor on the loss, None without a scaler.
        probe: gives the loss on the probe batch, None at a step that has none.
        rest_norm: the norm before clipping of all but the embedding's gradient.
    """

    optimizer: torch.optim.Optimizer
    grad_norm: Tensor
    clipped: Tensor
    scale: Tensor | None = None
    probe: Callable[[], Tensor] | None = None
    rest_norm: Tensor | None = None


class Silent:
    """Instruments that measure nothing, for a loop with logging off. Its methods are those a loop calls."""

    def forward(self, streams: Sequence[Tensor], losses_BT: Tensor, y_BT: Tensor, objective: Tensor) -> None:
        """A micro-batch went forward.

        Args:
            streams: the hidden states by layer, (B, T, C) each.
            losses_BT: the loss of each token, in nats.
            y_BT: the tokens that were to be predicted.
            objective: what it adds to the scalar that goes backward.
        """

    def before_update(self, known: BeforeUpdate) -> None:
        """Gradients are clipped and the optimizer is about to step."""

    def updated(self, scale: Tensor | None) -> None:
        """The optimizer has stepped; the next step will have `scale`. Gradients must still be there."""

    def read(self) -> list[dict[str, Any]]:
        """The rows gathered since the last time, oldest first."""
        return []


@dataclass(frozen=True)
class _MicroBatch:
    streams: list[Tensor]  # the sum of the squares of each
    losses: Tensor
    targets: Tensor
    objective: Tensor


class Update:
    """What an optimizer does to its parameters in one step. It may be another optimizer at every step."""

    def __init__(self) -> None:
        self._before: list[Tensor] = []  # copies of the parameters, kept for the next step to overwrite

    @torch.no_grad()
    def begins(self, optimizer: torch.optim.Optimizer) -> None:
        """Keep the parameters as they are."""
        now = parameters(optimizer)
        if [copy.shape for copy in self._before] != [p.shape for p in now]:
            self._before = [torch.empty_like(p) for p in now]
        for copy, parameter in zip(self._before, now, strict=True):
            copy.copy_(parameter)

    def groups(self, optimizer: torch.optim.Optimizer) -> list[Group]:
        """The optimizer's groups once it has stepped; their gradients must still be there."""
        return groups_of(optimizer, self._before)


class Meter:
    """Measures steps: the core that the lab's instruments and `tutor.lab.Recorder` share.

    Of each step: `measure` once for each part of it that is seen, then `end`.
    """

    def __init__(self) -> None:
        self._columns: dict[str, Tensor | None] = {}  # of the step under way
        self._rows: list[_Row] = []

    @torch.no_grad()
    def measure(self, seen: Observation) -> None:
        """Take every column of every quantity; null where `seen` doesn't show what the quantity needs."""
        for quantity in quantities():
            for column in quantity.columns_of(seen):
                self._columns.setdefault(column, None)
            if quantity.possible(seen):
                self._columns |= quantity.measure(seen)

    def end(self, more: Mapping[str, Tensor] | None = None) -> None:
        """The step is over: its columns, and `more`, are packed, and stay on the device."""
        self._rows.append(_Row(self._columns | dict(more or {})))
        self._columns = {}

    def read(self) -> list[dict[str, Any]]:
        """The rows gathered since the last time; the one place that waits for the device."""
        if not self._rows:
            return []
        rows, self._rows = self._rows, []
        values = iter(torch.cat([row.values for row in rows]).tolist())
        return [row.named(values) for row in rows]


class Instruments(Silent):
    """Instruments that measure every quantity at every step."""

    def __init__(self) -> None:
        self._meter, self._update = Meter(), Update()
        self._forward: list[_MicroBatch] = []
        self._optimizer: torch.optim.Optimizer | None = None
        self._seen = Observation()

    def forward(self, streams: Sequence[Tensor], losses_BT: Tensor, y_BT: Tensor, objective: Tensor) -> None:
        """Keep what the micro-batch showed."""
        sizes = [squares([stream.detach()]) for stream in streams]
        losses, targets = losses_BT.detach().flatten(), y_BT.flatten()
        self._forward.append(_MicroBatch(sizes, losses, targets, objective.detach()))

    @torch.no_grad()
    def before_update(self, known: BeforeUpdate) -> None:
        """Keep the parameters, and what only exists before the update."""
        self._optimizer = known.optimizer
        self._update.begins(known.optimizer)
        micro = self._forward
        self._seen = Observation(
            losses=torch.cat([one.losses for one in micro]) if micro else None,
            targets=torch.cat([one.targets for one in micro]) if micro else None,
            objective=torch.stack([one.objective for one in micro]).sum() if micro else None,
            streams=list(zip(*(one.streams for one in micro), strict=True)),
            probe_loss=known.probe() if known.probe is not None else None,
            grad_norm=known.grad_norm,
            clipped=known.clipped,
            scale=known.scale,
            rest_norm=known.rest_norm,
        )
        self._forward = []

    def updated(self, scale: Tensor | None) -> None:
        """Measure the step, now that all of it was seen."""
        assert self._optimizer is not None, "before_update comes first"
        groups = self._update.groups(self._optimizer)
        self._meter.measure(replace(self._seen, groups=groups, scale_after=scale))
        self._meter.end()
        self._seen = Observation()

    def read(self) -> list[dict[str, Any]]:
        """The rows gathered since the last time; the one place that waits for the device."""
        return self._meter.read()


class _Row:
    """The columns of one step, their values packed into one fp32 vector on the device."""

    def __init__(self, columns: Mapping[str, Tensor | None]):
        self._columns = [
            (name, None) if value is None else (name, (value.dtype, value.numel() if value.ndim else None))
            for name, value in columns.items()
        ]
        there = [value.float().reshape(-1) for value in columns.values() if value is not None]
        self.values = torch.cat(there) if there else torch.zeros(0)

    def named(self, values: Iterator[float]) -> dict[str, Cell]:
        """The row, its numbers taken from `values`, where they come in the order of the vector."""
        return {name: kind and _cell(values, *kind) for name, kind in self._columns}


def _cell(values: Iterator[float], dtype: torch.dtype, length: int | None) -> Cell:
    """The next number, or the next `length` numbers, in the type that `dtype` stands for."""
    kind = bool if dtype == torch.bool else float if dtype.is_floating_point else int
    cells = [kind(value) for value in islice(values, 1 if length is None else length)]
    return cells[0] if length is None else cells


def parameters(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """All that the optimizer trains, group by group."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def groups_of(optimizer: torch.optim.Optimizer, before: Sequence[Tensor]) -> list[Group]:
    """The optimizer's groups of parameters, with `before` as the copies made ahead of the update.

    A group's name is the `name` among its options, where it has one, else its number.
    """
    copies = iter(before)
    groups = []
    for number, options in enumerate(optimizer.param_groups):
        parameters: list[Tensor] = options["params"]
        trained = [parameter for parameter in parameters if parameter.grad is not None]
        groups.append(
            Group(
                name=options.get("name", str(number)),
                before=list(islice(copies, len(parameters))),
                after=parameters,
                gradients=[parameter.grad for parameter in trained if parameter.grad is not None],
                moments=[
                    moments for p in trained if (moments := _moments(p, optimizer.state.get(p, {}), options))
                ],
            )
        )
    return groups


def _moments(parameter: Tensor, state: Mapping[str, Any], options: Mapping[str, Any]) -> Moments | None:
    """Adam's state of one parameter; None before its first update and under optimizers without m and v."""
    if "exp_avg_sq" not in state or parameter.grad is None:
        return None
    return Moments(
        gradient=parameter.grad,
        m=state["exp_avg"],
        v=state["exp_avg_sq"],
        updates=state["step"],
        beta2=options["betas"][1],
        eps=options["eps"],
    )
