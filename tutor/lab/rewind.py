"""Rewind: a run's state before any of its steps, from the nearest checkpoint or from its beginning.

The steps between are trained again, and their rows are measured again: on the machine of the run they are
those of its log, bit for bit.
"""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutor.lab import checkpoint
from tutor.lab.loop import Log, restored, take_step
from tutor.lab.recipe import Recipe
from tutor.lab.trainer import Trainer
from tutor.runfolder.buffer import Counted

State = Mapping[str, Any]
"""What `Trainer.state` gives, and `counted`: what the rows before had counted."""


@dataclass(frozen=True)
class Rewound:
    """A run's states before some of its steps.

    Attributes:
        base: the step of the checkpoint that they were reached from; 0 for the beginning.
        states: by step, copies that further training leaves as they are.
        rows: those of the steps from `base` on that were trained again.
    """

    base: int
    states: Mapping[int, State]
    rows: Sequence[Mapping[str, Any]] = ()

    @property
    def last(self) -> State:
        """The state before the last of the steps."""
        return self.states[max(self.states)]


@dataclass
class _Kept:
    """Rows in memory."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows.extend(rows)


def nearest(run: Path, step: int) -> int:
    """The latest step at or before `step` whose state can be loaded; 0, the beginning, always can."""
    return max((one.resumes_at for one in checkpoint.saved(run) if one.resumes_at <= step), default=0)


def rewind(
    run: Path,
    recipe: Recipe,
    steps: Sequence[int],
    *,
    on_row: Callable[[Mapping[str, Any]], None] | None = None,
    on_step: Callable[[int, Trainer], None] | None = None,
) -> Rewound:
    """The states of `run` before each of `steps`.

    Args:
        run: the run's folder.
        recipe: that of the run, as `tutor.lab.assembly.recipe_of` gives it.
        steps: one at least; the farthest ahead decides how long it takes.
        on_row: called with each row that was measured again.
        on_step: called with the step that is about to be trained again and the trainer.

    Raises:
        ValueError: the checkpoint can't be used.
    """
    wanted, base = sorted(set(steps)), nearest(run, min(steps))
    trainer, counted = trainer_at(run, recipe, base)
    kept, states = _Kept(), dict[int, State]()
    log = Log(trainer, kept, counted, on_row or (lambda _: None), time.perf_counter())
    for step in range(base, wanted[-1] + 1):
        if step in wanted:
            log.flush()
            states[step] = copied(trainer, log.counted)
        if step < wanted[-1]:
            if on_step:
                on_step(step, trainer)
            log.add(take_step(trainer, step))
    return Rewound(base, states, kept.rows)


def trainer_at(run: Path, recipe: Recipe, base: int) -> tuple[Trainer, Counted]:
    """A trainer in the state before `base`, which is 0 or the step of a checkpoint of `run`.

    Raises:
        ValueError: the checkpoint can't be used.
    """
    trainer = Trainer(recipe)
    if not base:
        return trainer, Counted()
    path = checkpoint.path_of(run, base)
    return trainer, restored(trainer, checkpoint.load(path, trainer.settings.device), path)


def copied(trainer: Trainer, counted: Counted) -> State:
    """The trainer's state, its tensors copied."""
    return copy.deepcopy(trainer.state()) | {"counted": dict(counted)}


def same_bits(rows: Sequence[Mapping[str, Any]], logged: Sequence[Mapping[str, Any]]) -> int | None:
    """The first step at which rows that were trained again differ from the log's; None where none does.

    Their loss and their gradient's norm are compared, as the log has them.
    """
    by_step = {row.get("step"): row for row in logged}
    for row in rows:
        was = by_step.get(row["step"])
        if was is None or any(_differ(row[name], was.get(name)) for name in ("loss", "grad_norm")):
            return row["step"]
    return None


def _differ(value: float, logged: Any) -> bool:
    if isinstance(logged, str):  # NaN and Inf are words in a log
        return str(float(value)) != str(float(logged))
    return logged is None or float(f"{value:.9g}") != logged
