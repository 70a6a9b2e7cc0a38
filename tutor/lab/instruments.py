"""The instruments: they watch a step and run every quantity over what they saw.

A step's numbers are packed into one vector on the device and stay there; `read` copies out all that
gathered since the last time, so a GPU waits for the log once in twenty steps and not in each. They know
torch's optimizers and nothing else, so any training loop can call the same three methods.
"""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from tutor.lab.ages import Ages
from tutor.lab.quantities import quantities
from tutor.lab.quantities.group import Group, Moments
from tutor.lab.quantities.norms import squares
from tutor.lab.quantities.observation import Observation
from tutor.lab.shards import counted, locals_of, several

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
        self._ages = Ages()

    @torch.no_grad()
    def begins(self, optimizer: torch.optim.Optimizer) -> None:
        """Keep the parameters as they are."""
        now = locals_of(parameters(optimizer))
        if [copy.shape for copy in self._before] != [p.shape for p in now]:
            self._before = [torch.empty_like(p) for p in now]
        if now:
            torch._foreach_copy_(self._before, now)  # pyright: ignore[reportPrivateImportUsage]

    def ended(self, optimizer: torch.optim.Optimizer) -> None:
        """The optimizer has stepped. Gradients must still be there."""
        states = (optimizer.state.get(p) or {} for p in parameters(optimizer) if p.grad is not None)
        self._ages.step([state["step"] for state in states if "exp_avg_sq" in state])

    def groups(
        self,
        optimizer: torch.optim.Optimizer,
        names: Sequence[str] | None = None,
        embedding: Tensor | None = None,
        *,
        moved: bool = True,
    ) -> list[Group]:
        """The optimizer's groups once it has stepped, or was to, as `groups_of` has them.

        `moved` is whether it was called at all.
        """
        return groups_of(optimizer, self._before if moved else None, names, embedding, self._ages)


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
        values = iter(together([row.values for row in rows]).tolist())
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
        self._update.ended(self._optimizer)
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
        self.values = together([value.float().reshape(-1) for value in columns.values() if value is not None])

    def named(self, values: Iterator[float]) -> dict[str, Cell]:
        """The row, its numbers taken from `values`, where they come in the order of the vector."""
        return {name: kind and _cell(values, *kind) for name, kind in self._columns}


def together(vectors: Sequence[Tensor]) -> Tensor:
    """The vectors as one, on the first device among theirs that isn't the CPU; nothing waits for it."""
    if not vectors:
        return torch.zeros(0)
    device = next((one.device for one in vectors if one.device.type != "cpu"), vectors[0].device)
    return torch.cat([one.to(device, non_blocking=True) for one in vectors])


def _cell(values: Iterator[float], dtype: torch.dtype, length: int | None) -> Cell:
    """The next number, or the next `length` numbers, in the type that `dtype` stands for."""
    kind = bool if dtype == torch.bool else float if dtype.is_floating_point else int
    cells = [kind(value) for value in islice(values, 1 if length is None else length)]
    return cells[0] if length is None else cells


def parameters(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """What the optimizer trains and this process answers for, group by group."""
    return [parameter for group in optimizer.param_groups for parameter in counted(group["params"])]


def names_of(optimizers: Sequence[torch.optim.Optimizer]) -> list[str]:
    """The names of all groups of the optimizers: the `name` among a group's options, or else its number.

    Of two groups with one name the second has its number behind it.
    """
    names: list[str] = []
    for number, options in enumerate(options for one in optimizers for options in one.param_groups):
        name = str(options.get("name", number))
        names.append(f"{name}_{number}" if name in names else name)
    return names


def groups_of(
    optimizer: torch.optim.Optimizer,
    before: Sequence[Tensor] | None = None,
    names: Sequence[str] | None = None,
    embedding: Tensor | None = None,
    ages: Ages | None = None,
) -> list[Group]:
    """The optimizer's groups of parameters, or this process's part of them. Gradients must still be there.

    Args:
        optimizer: after its step.
        before: of `parameters(optimizer)`, the copies made ahead of the update; where they are None there was
            no update.
        names: of the groups; where they are None, as `names_of` gives them.
        embedding: the embedding's parameter, whose gradient is told from the rest.
        ages: of the tensors, by the steps before; without them each count is read.
    """
    copies = None if before is None else iter(before)
    groups = []
    for name, options in zip(names or names_of([optimizer]), optimizer.param_groups, strict=True):
        held = counted(options["params"])
        driven = [parameter for parameter in held if parameter.grad is not None]
        states = [optimizer.state.get(parameter) or {} for parameter in driven]
        known = [place for place, state in enumerate(states) if "exp_avg_sq" in state]
        if len(known) < len(driven):  # those whose moments are known come first
            order = known + [place for place, state in enumerate(states) if "exp_avg_sq" not in state]
            driven = [driven[place] for place in order]
            states = [states[place] for place in known]
        after, counts = locals_of(held), [state["step"] for state in states]
        at = next((place for place, parameter in enumerate(driven) if parameter is embedding), None)
        groups.append(
            Group(
                name=name,
                before=after if copies is None else list(islice(copies, len(held))),
                after=after,
                gradients=locals_of(p.grad for p in driven if p.grad is not None),
                moments=_moments(states, options, (ages or Ages()).of(counts)) if states else None,
                embedding=at,
                size=_size(optimizer, options["params"]) if several() else None,
            )
        )
    return groups


def _size(optimizer: torch.optim.Optimizer, trained: Sequence[Tensor]) -> int:
    """How many values of these parameters have moments, those that other processes hold included."""
    return sum(
        parameter.numel()
        for parameter in trained
        if parameter.grad is not None and "exp_avg_sq" in optimizer.state.get(parameter, {})
    )


def _moments(
    states: Sequence[Mapping[str, Any]], options: Mapping[str, Any], ages: Sequence[Hashable]
) -> Moments:
    """Adam's state of some parameters, of one at least."""
    return Moments(
        m=locals_of(state["exp_avg"] for state in states),
        v=locals_of(state["exp_avg_sq"] for state in states),
        updates=[state["step"] for state in states],
        ages=ages,
        beta2=options["betas"][1],
        eps=options["eps"],
    )
