"""Whether a run learns: whether its loss falls far enough, or ends above its best by as much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.detectors.courses import Course, course_in, course_of
from tutor.detectors.objective import is_objective
from tutor.detectors.windows import FEWEST

if TYPE_CHECKING:
    import polars as pl

    from tutor.detectors.grouped import Gain
    from tutor.run import Run

LEARNS = ("start", "best", "best_step", "fell")
"""The facts of `found_learning`."""


def has_learned(run: Run, gain: Gain) -> bool | None:
    """Whether the loss ends lower than it began, by more than the share `gain` and beyond its noise.

    None where the log is too short to tell, or knows no loss. One that turns NaN or Inf learns nothing.
    """
    if not run.has("loss"):
        return None
    course = course_in(run, "loss", gain.level)
    if course and course.start - course.end > _least(course, gain):
        return True
    known = run["loss"].drop_nulls()
    return None if len(known) < 2 * FEWEST and known.is_finite().all() else False


def found_learning(run: Run, loss: pl.Series, gain: Gain) -> Finding | None:
    """The finding "learns": at its best the loss lay so far under its start that the weights were trained.

    Whatever wasn't logged, there was a gradient then, and steps were taken on it. None where it fell less, or
    isn't what the run brings down.
    """
    course = course_of(loss, gain.level) if is_objective(run) else None
    if course is None or course.improvement <= _least(course, gain):
        return None
    facts = {"start": course.start, "best": course.best, "best_step": int(run.steps[course.best_row])}
    facts["fell"] = 100 * course.improvement / abs(course.start) if course.start else math.inf
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), course.drawn(run, "loss")
    return Finding("learns", facts["best_step"], facts, None, seen, curve=curve)


def _least(course: Course, gain: Gain) -> float:
    """How far a loss has to fall from its start to count as one that learns."""
    return max(gain.gain * abs(course.start), gain.sigmas * course.noise)


def gives_back(run: Run, gain: Gain) -> Course | None:
    """The course of a loss that ends above its best level by as much as counts as learning; else None."""
    course = course_in(run, "loss", gain.level)
    if course is None:
        return None
    least = max(gain.gain * abs(course.top), gain.sigmas * math.sqrt(2) * course.noise)
    return course if course.rise > least else None


def untold(run: Run) -> Finding:
    """The answer where it takes a run that learns, or one that doesn't, and `has_learned` can't say which."""
    if not run.has("loss"):
        return Finding(NO_DATA, facts={"missing": ["loss"]})
    return Finding(NOT_YET, facts={"rows": len(run), "needed": 2 * FEWEST})
