"""A loss that falls far enough: whatever wasn't logged, there was a gradient, and steps were taken on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.courses import course_of
from tutor.detectors.objective import is_objective

if TYPE_CHECKING:
    import polars as pl

    from tutor.detectors.grouped import Gain
    from tutor.run import Run

LEARNS = ("start", "best", "best_step", "fell")


def learns(run: Run, loss: pl.Series, gain: Gain) -> Finding | None:
    """The finding that the loss fell by so much that there is a gradient; None where it didn't."""
    course = course_of(loss, gain.level) if is_objective(run) else None
    if course is None or course.improvement <= max(gain.gain * abs(course.start), gain.sigmas * course.noise):
        return None
    facts = {"start": course.start, "best": course.best, "best_step": int(run.steps[course.best_row])}
    facts["fell"] = 100 * course.improvement / abs(course.start) if course.start else math.inf
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), course.drawn(run, "loss")
    return Finding("learns", facts["best_step"], facts, None, seen, curve=curve)
