"""What noise hides: whether a loss that seems to have gained nothing may have gained it all the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors.courses import Course
from tutor.detectors.grouped import Enough
from tutor.detectors.trends import ordered, trend
from tutor.detectors.windows import FEWEST, finite
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


def order_tells(run: Run, order: float, least: Enough) -> bool:
    """Whether the order of a loss says that nothing is learned, whatever its noise: that of its levels, or of
    its rows.
    """
    known = finite(run["loss"]).drop_nulls()
    return order >= least.sure or _never_below(run, known, least.rows) or _in_no_order(known, least)


def _never_below(run: Run, known: pl.Series, least: int) -> bool:
    """Whether no epoch ended below the first one, in one and a half times as many as a log needs.

    The mean over an epoch is no lucky batch: where anything is learned, a later one is lower. Where a
    validation loss says the same, the later ones need lie above the first in the median alone.
    """
    if run.counts != "epochs" or 2 * len(known) < 3 * least:
        return False
    held_out = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else known[:0]
    both = (known, held_out) if len(held_out) == len(known) else ()
    usual = bool(both) and all(to_float(one[1:].median()) > one[0] for one in both)
    return usual or to_float(known[1:].min()) > known[0]


def _in_no_order(known: pl.Series, least: Enough) -> bool:
    """Whether the loss of twice as many rows as a log needs falls neither in order nor after its first rows.

    Nor from its earlier half to the later one, by the share `least.shows`, noise included.
    """
    half = len(known) // 2
    if half < least.rows or ordered(known) < 0:
        return False
    if to_float(known[:FEWEST].mean()) > to_float(known.mean()):
        return False
    early, late = (to_float(part.mean()) for part in (known[:half], known[half:]))
    unsure = least.sure * 2 * to_float(known.std()) / math.sqrt(len(known))
    return early - late + unsure < least.shows * abs(early)


def goes_on_falling(course: Course, sigmas: float) -> bool:
    """Whether the loss falls, beyond chance, and as fast in the later half of the log as in the first."""
    levels = apart(course)
    middle = len(levels) // 2
    halves = levels[: middle + 1], levels[middle:]
    early, late = ((float(half[0]) - float(half[-1])) / max(1, len(half) - 1) for half in halves)
    return trend(levels) < -sigmas and early > 0 and (late > early or math.isclose(late, early))
