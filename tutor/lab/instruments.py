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
from tutor.lab.quantities.observation import Group, Moments, Observation

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
    streams: list[Tensor]
    losses: Tensor
    targets: Tensor
    objective: Tensor


class Instruments(Silent):
    """Instruments that measure every quantity at every step."""

    def __init__(self) -> None:
        self._forward: list[_MicroBatch] = []
        self._optimizer: torch.optim.Optimizer | None = None
        self._before: list[Tensor] = []  # copies of the parameters, kept for the next step to overwrite
        self._seen = Observation()
        self._rows: list[_Row] = []

    def forward(self, streams: Sequence[Tensor], losses_BT: Tensor, y_BT: Tensor, objective: Tensor) -> None:
        """Keep what the micro-batch showed."""
        detached = [stream.detach() for stream in streams]
        losses, targets = losses_BT.detach().flatten(), y_BT.flatten()
        self._forward.append(_MicroBatch(detached, losses, targets, objective.detach()))

    @torch.no_grad()
    def before_update(self, known: BeforeUpdate) -> None:
        """Keep the parameters, and what only exists before the update."""
        self._optimizer = known.optimizer
        parameters = [p for group in known.optimizer.param_groups for p in group["params"]]
        if [copy.shape for copy in self._before] != [p.shape for p in parameters]:
            self._before = [torch.empty_like(p) for p in parameters]
        for copy, parameter in zip(self._before, parameters, strict=True):
            copy.copy_(parameter)
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

    @torch.no_grad()
    def updated(self, scale: Tensor | None) -> None:
        """Measure the step, now that all of it was seen."""
        assert self._optimizer is not None, "before_update comes first"
        seen = replace(self._seen, groups=groups_of(self._optimizer, self._before), scale_after=scale)
        self._seen = Observation()  # so that the hidden states are freed
        self._rows.append(_Row(_measure(seen)))

    def read(self) -> list[dict[str, Any]]:
        """The rows gathered since the last time; the one place that waits for the device."""
        if not self._rows:
            return []
        rows, self._rows = self._rows, []
        values = iter(torch.cat([row.values for row in rows]).tolist())
        return [row.named(values) for row in rows]


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


def _measure(seen: Observation) -> dict[str, Tensor | None]:
    """Every column of every quantity; null where the step didn't show what the quantity needs."""
    columns: dict[str, Tensor | None] = {}
    for quantity in quantities():
        columns |= dict.fromkeys(quantity.columns_of(seen))
        if quantity.possible(seen):
            columns |= quantity.measure(seen)
    return columns


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
