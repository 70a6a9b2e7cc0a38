"""Courses: where a signal began, was lowest and ended, which the detectors of the whole run ask about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tutor.detectors import Smoothed
from tutor.detectors.despiking import LONG, TOWERS, rolling_median
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, once, to_float

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Course:
    """Where a signal began, was lowest and ended; each level is a median of `span` rows.

    Attributes:
        start: the level of the first rows: of no more than `BEGINNING`, where it stands above that of more.
        top: the highest level up to the best one; the start, where it only fell.
        best: the lowest level.
        best_row: the last row of the lowest level.
        end: the level of the last rows.
        noise: the standard deviation of one level, from the differences between neighbouring rows.
        span: how many rows make a level.
        rows: the rows of the levels.
        levels: the median of the `span` rows up to each of them.
    """

    start: float
    top: float
    best: float
    best_row: int
    end: float
    noise: float
    span: int
    rows: pl.Series
    levels: pl.Series

    def drawn(self, run: Run, signal: str) -> Smoothed:
        """The levels, to lay over the signal."""
        return Smoothed(signal, run.steps.gather(self.rows), self.levels)

    @property
    def improvement(self) -> float:
        """How far the level fell from the start, at best; never below 0."""
        return max(0.0, self.start - self.best)

    @property
    def rise(self) -> float:
        """How far the end stands above the best level."""
        return self.end - self.best


BEGINNING = 1000
"""Rows whose median tells where a run began, at most: an estimator's, not a bound.

A run learns most of what it ever learns in its first thousands of steps. In a log of millions of rows, one a
step, a share of the rows spans all of that, and its median knows nothing of how high the loss once stood.
"""


def _beginning(known: pl.Series, level: float, noise: float) -> float:
    """The level of the first rows where it stands above that of more of them, beyond chance; else that.

    The first rows are looked at once, however long the log is, so chance has no more occasions in a long one.
    `noise` is that of one row.
    """
    # As in `course_of`: neighbouring rows may hardly differ.
    whole = len(known) // BEGINNING * BEGINNING
    means = known[:whole].reshape((-1, BEGINNING)).arr.mean()
    chance = max(noise / math.sqrt(BEGINNING), noise_of(means))
    first = to_float(known[:BEGINNING].median())
    return first if first - level > TOWERS * chance else level


def course_of(values: pl.Series, share: float) -> Course | None:
    """The course of a signal known at every row; a level takes `share` of the rows. None under three values.

    Of a log of several times `LONG` rows only every so many-th is taken for the levels: thousands make one
    still. NaN and Inf are left out: other questions ask for them.
    """
    known = finite(values)
    rows = known.is_not_null().arg_true()
    known = known.drop_nulls()
    if len(known) < 3:
        return None
    each = len(known) // LONG | 1  # odd: losses that alternate are of both kinds
    thin, rows = (one.gather_every(each, (len(one) - 1) % each) for one in (known, rows))
    span = max(1, round(share * len(thin)))
    # Neighbouring rows of a smoothed log hardly differ, which says nothing of its noise: levels apart do.
    levels = rolling_median(thin, span, span).drop_nulls()
    best, noise = levels.arg_min() or 0, noise_of(known)
    start = float(levels[0]) if span <= BEGINNING else _beginning(known, float(levels[0]), noise)
    return Course(
        start=start,
        top=max(start, to_float(levels[: best + 1].max())),
        best=float(levels[best]),
        best_row=int(rows[best + span - 1]),
        end=float(levels[-1]),
        noise=max(noise / math.sqrt(span), noise_of(levels, span)),
        span=span,
        rows=rows[span - 1 :],
        levels=levels,
    )


@once
def course_in(run: Run, signal: str, share: float) -> Course | None:
    """The course of a signal of the run, recorded at every row."""
    return course_of(run[signal], share)


def steady_course(run: Run, batches: int, share: float, gain: float) -> Course | None:
    """The course of the loss: of its means over epochs of so many `batches`; where one odd row alone gained,
    of levels of three rows.
    """
    loss = finite(run["loss"])
    course = course_of(loss.rolling_mean(batches), share) if batches else course_in(run, "loss", share)
    if course and _dips(course, gain):
        return course_of(loss, THREE / loss.count())
    return course


THREE = 3
"""Rows whose median one odd row doesn't move: a constant of the method."""


def _dips(course: Course, gain: float) -> bool:
    """Whether the best level of few rows is a single row that gained, between two that didn't."""
    if course.span > 1 or course.best_row in (course.rows[0], course.rows[-1]):
        return False
    at = course.rows.search_sorted(course.best_row)
    bound = course.top - gain * abs(course.top)
    return course.best < bound <= min(course.levels[at - 1], course.levels[at + 1])
