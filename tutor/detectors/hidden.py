"""What noise hides: whether a loss that seems to have gained nothing may have gained it all the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors.courses import Course
from tutor.detectors.grouped import Enough
from tutor.detectors.objective import ends_at_its_lowest, scores_rise
from tutor.detectors.trends import trend
from tutor.detectors.windows import finite
from tutor.run import Run, to_float

if TYPE_CHECKING:
    import polars as pl

ERROR_OF_MEDIAN = math.sqrt(math.pi / 2)
"""The standard deviation of a median of many normal values, in those of their mean."""


def apart(course: Course) -> pl.Series:
    """The levels that share no row, up to the last one."""
    return course.levels.reverse().gather_every(course.span).reverse()


def hidden_by_noise(course: Course, sigmas: float) -> float:
    """How far levels fall by chance: two by so many `sigmas`, and the farthest of many by more."""
    farthest = math.sqrt(2 * math.log(max(2, len(apart(course)))))  # of so many draws of a normal one
    return (sigmas + farthest) * math.sqrt(2) * course.noise


def may_hide(course: Course, needed: float, sigmas: float, sure: float) -> bool:
    """Whether a fall is no more than chance, whose noise may hide one of `needed`."""
    fall, hidden = course.top - course.best, hidden_by_noise(course, sigmas)
    known_within = sure * ERROR_OF_MEDIAN * math.sqrt(2) * course.noise
    return fall <= hidden and min(hidden, fall + known_within) > needed


def may_gain_early(early: Course, end: float, needed: float, sure: float) -> bool:
    """Whether short levels fall in order, by `needed` or nearly so: long ones hide an early gain."""
    return trend(apart(early)) < -sure and early.start - end + sure * early.noise > needed


def never_below_the_first(run: Run, least: Enough) -> bool:
    """Whether no row of the loss came below the first, in twice as many as a log needs (`least.rows`).

    Nor does validation end at its lowest, or a score rise. Of epochs one and a half times as many are enough:
    their mean is no lucky batch, and where anything is learned, a later one is lower. Where a validation loss
    says the same, the later ones need lie above the first in the median alone.
    """
    known = finite(run["loss"]).drop_nulls()
    of_epochs = run.counts == "epochs"
    if len(known) < 2 * least.rows and not (of_epochs and 2 * len(known) >= 3 * least.rows):
        return False
    if not of_epochs and (ends_at_its_lowest(run) or scores_rise(run, 0.0, least.scored)):
        return False
    held_out = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else known[:0]
    both = (known, held_out) if of_epochs and len(held_out) == len(known) else ()
    usual = bool(both) and all(to_float(one[1:].median()) > one[0] for one in both)
    return usual or to_float(known[1:].min()) > known[0]


def goes_on_falling(course: Course, sigmas: float) -> bool:
    """Whether the loss falls, beyond chance, and as fast in the later half of the log as in the first."""
    levels = apart(course)
    middle = len(levels) // 2
    halves = levels[: middle + 1], levels[middle:]
    early, late = ((float(half[0]) - float(half[-1])) / max(1, len(half) - 1) for half in halves)
    return trend(levels) < -sigmas and early > 0 and (late > early or math.isclose(late, early))
