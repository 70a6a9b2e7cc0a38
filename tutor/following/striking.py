"""Striking: a spike, or a NaN, among the rows that came: what rings.

A run that trains for days is not to ring at every hard batch: what counts is the jump of the tree for long
runs, twice the level before and far above the noise, by the numbers of that tree.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tutor import tree as trees
from tutor.detectors.jump import jumps
from tutor.detectors.objective import is_objective
from tutor.detectors.spike import as_long_as
from tutor.run import Run
from tutor.words import say

LONG_RUNS = "scale"
"""The tree by whose numbers a jump is one."""


@dataclass(frozen=True)
class Strike:
    """Something that came.

    Attributes:
        step: where it begins.
        loss: at its peak, so far; infinite where it isn't finite.
        bound: what the loss had to pass, in nats; None where it isn't finite.
    """

    step: int
    loss: float
    bound: float | None = None

    def says(self, lang: str) -> str:
        """The line to show."""
        if not math.isfinite(self.loss):
            return say("follow.not_finite", lang, step=self.step)
        facts = {"loss": self.loss, "bound": self.bound, "times": _numbers()["times"]}
        return say("follow.spike", lang, step=self.step, **facts)


def strikes(run: Run, after: int) -> list[Strike]:
    """What began after the step `after`, in order: each spike, and where the log first isn't finite."""
    found = sorted((*_first_not_finite(run), *_spikes(run)), key=lambda one: (one.step, -one.loss))
    first_of_a_step = {one.step: one for one in reversed(found)}
    return [one for step, one in sorted(first_of_a_step.items()) if step > after]


def _first_not_finite(run: Run) -> Iterator[Strike]:
    """Where the loss is first NaN or Inf; the gradient norm, where the loss would hide it."""
    signal = "loss" if run.aggregation("loss").shows_nan else "grad_norm"
    if run.has(signal):
        bad = (~run[signal].cast(float).is_finite()).fill_null(False).arg_true()
        if len(bad):
            yield Strike(int(run.steps[int(bad[0])]), math.inf)


def _spikes(run: Run) -> Iterator[Strike]:
    if not run.has("loss") or not is_objective(run):
        return
    rows, numbers = run.logged("loss"), dict(_numbers())
    within = as_long_as(rows, numbers.pop("within"))
    if len(rows) <= within.count(rows):
        return
    loss = rows["loss"].cast(float)
    for jump in jumps(rows, within, **numbers):
        begins, before = loss[jump.row], loss[jump.row - 1]
        if math.isfinite(begins):  # one that ends in NaN begins as a spike all the same
            yield Strike(
                int(rows.steps[jump.row]), jump.peak if math.isfinite(jump.peak) else begins, jump.bound
            )
        elif math.isfinite(before):
            yield Strike(int(rows.steps[jump.row]), math.inf)


@cache
def _numbers() -> dict[str, Any]:
    """The tree's, but for what only tells jumps apart."""
    found = trees.numbers("jump", trees.find(LONG_RUNS, checked=False))
    assert found is not None, "the tree for long runs asks for a jump"
    return {name: found[name] for name in ("within", "ema", "times", "sigmas")}
