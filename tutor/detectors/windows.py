"""Windows in steps over logs of any cadence, and the statistics before a step.

Real logs hold a row per 1, 10 or 50 steps: a window of 100 steps may be 2 rows. So a window is taken by the
steps where it then holds enough rows, else in rows (https://arxiv.org/abs/2204.02311 logs every step; the
Hugging Face Trainer, every 500 by default).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

from tutor.detectors import Smoothed
from tutor.detectors.grouped import Grouped
from tutor.run import Run, known_float, once, to_float

if TYPE_CHECKING:
    import polars as pl


def finite(values: pl.Series) -> pl.Series:
    """The values as Float64, with NaN and Inf as null."""
    values = values.cast(float)
    if math.isfinite(to_float(values.sum())):  # in a quarter of the time: any NaN or Inf would show there
        return values
    known = values.is_finite()
    return values if known.all() else values.set(~known, None)


FEWEST = 5
"""Rows that say what is usual, at least."""

TOWERS = 10
"""A spike's row stands so many robust standard deviations above the rows around it."""

NORMAL_MAD = 1.4826
"""The standard deviation of a normal distribution, in median absolute deviations."""


def calm(values: pl.Series, span: int) -> pl.Series:
    """The finite values without spikes: null where one towers over the `span` rows before and those after.

    So an earlier spike pollutes no baseline, and a level that changed for good stays what it is.
    """
    values = finite(values)
    rows = _towers(values, span).arg_true()
    if not len(rows):
        return values
    first, end = int(rows[0]), int(rows[-1]) + _reach(span)  # what comes after decides about these alone
    behind = _towers(values[first:end].reverse(), span).reverse()
    return values.clone().scatter(rows.filter(behind.gather(rows - first)), None)


def calm_between(values: pl.Series, span: int, start: int, end: int) -> pl.Series:
    """`calm(values, span)[start:end]`, from the rows that decide about these alone."""
    first = max(0, start - _reach(span))
    return calm(values[first : end + _reach(span)], span)[start - first : end - first]


def _reach(span: int) -> int:
    """How far the rows lie that decide whether one is a spike: medians of deviations from medians."""
    return 2 * span + 1


STRETCH = 1_000_000
"""Rows of a log that are looked at together: what a longer one takes in between would fill the memory."""


PART = 200_000
"""Rows that are passed over together where none of them can be a spike."""


def _towers(values: pl.Series, span: int) -> pl.Series:
    """Whether each value lies far above the median of the rows before it, in their own deviations."""
    import polars as pl

    parts: list[pl.Series] = []
    for begin in range(0, max(1, len(values)), STRETCH):
        first = max(0, begin - _reach(span))
        parts.append(_towers_of_one(values[first : begin + STRETCH], span)[begin - first :])
    return pl.concat(parts)


def _towers_of_one(values: pl.Series, span: int) -> pl.Series:
    """As `_towers`, of one stretch."""
    import polars as pl

    medians = _rolling_median(values, span)
    parts: list[pl.Series] = []
    for begin in range(0, max(1, len(values)), PART):
        first = max(0, begin - span)
        near = slice(first, begin + PART)
        parts.append(_towers_of_part(values[near], medians[near], span, begin - first))
    return pl.concat(parts)


def _towers_of_part(values: pl.Series, medians: pl.Series, span: int, begin: int) -> pl.Series:
    """As `_towers`, of the rows from `begin` on, given the median of the rows up to each."""
    import polars as pl

    distances, heights = (values - medians).abs(), values - medians.shift(1)
    if not _may_tower(distances, heights, span, begin):
        return pl.repeat(False, len(values) - begin, dtype=pl.Boolean, eager=True)
    deviations = _rolling_median(distances, span).shift(1)
    return ((deviations > 0) & (heights > TOWERS * NORMAL_MAD * deviations)).fill_null(False)[begin:]


def _may_tower(distances: pl.Series, heights: pl.Series, span: int, begin: int) -> bool:
    """Whether a row from `begin` on may be so many median distances high; False for most parts of most logs.

    A median lies under the share of the greatest height only where half of the distances do, which is counted
    in a tenth of the time that medians take.
    """
    import polars as pl

    greatest = known_float(heights[begin:].max())
    if greatest is None or greatest <= 0:
        return False
    share = greatest / (TOWERS * NORMAL_MAD) * (1 + 1e-9)  # beyond rounding
    under = (distances < share).fill_null(False).cast(pl.Int32).rolling_sum(span, min_samples=1)
    full = begin >= span and not distances.null_count()
    known = span if full else distances.is_not_null().cast(pl.Int32).rolling_sum(span, min_samples=1)
    return bool(((2 * under >= known) & (under > 0))[max(0, begin - 1) :].any())


def _rolling_median(values: pl.Series, span: int) -> pl.Series:
    """The median of the `span` rows up to each; polars takes four times as long where there is a null."""
    import polars as pl

    first = values.is_not_null().arg_max() or 0
    medians = rolling_median(values[first:], span, FEWEST)
    return pl.concat([values[:first], medians]) if first else medians


LONG = 100_000
"""Rows from which on it pays to share the work among the cores."""


def rolling_median(values: pl.Series, span: int, least: int) -> pl.Series:
    """At each row the median of the `span` rows up to it; null where fewer than `least` are known.

    A long log is cut into a stretch for each core, which begins a window early: a median depends on its own
    rows alone.
    """
    import polars as pl

    count = pl.thread_pool_size() if len(values) >= LONG else 1
    edges = [len(values) * place // count for place in range(count + 1)]
    starts = [max(0, begin - span + 1) for begin in edges[:-1]]
    asked = [
        pl.LazyFrame({"value": values[start:end]}).select(
            pl.col("value").rolling_median(span, min_samples=least)
        )
        for start, end in zip(starts, edges[1:], strict=True)
    ]
    medians = [frame["value"] for frame in pl.collect_all(asked)]
    parts = [one[begin - start :] for one, begin, start in zip(medians, edges, starts, strict=False)]
    return pl.concat(parts, rechunk=True) if count > 1 else parts[0]


@once
def cadence(run: Run) -> float:
    """Median number of steps between rows (1 where there is one row or none)."""
    gaps = run.steps.diff().drop_nulls()
    return max(1.0, to_float(gaps.median()) if len(gaps) else 1.0)


def rows(run: Run, steps: float, least: int = 1) -> int:
    """How many rows a stretch of `steps` spans at the run's cadence, at least `least`."""
    return max(least, round(steps / cadence(run)))


@dataclass(frozen=True)
class Window(Grouped):
    """A stretch of the log, as a tree gives it: `{steps: 100, rows: 20}`.

    Attributes:
        steps: its length.
        rows: as many it holds at least; a sparse log's window is longer for it.
    """

    a_kind: ClassVar[str] = "a window"
    steps: int
    rows: int

    def of(self, run: Run) -> Self:
        """The window in rows, where the run counts epochs or these: no step of it is an update."""
        return replace(self, steps=round(self.rows * cadence(run))) if run.by_row else self

    def count(self, run: Run) -> int:
        """How many rows it spans at the run's cadence."""
        return rows(run, self.steps, self.rows)

    def start(self, run: Run, row: int) -> int:
        """The first row of the window that ends just before `row` (which may be one past the last)."""
        steps = run.steps
        end = steps[row] if row < len(run) else steps[-1] + cadence(run)
        first = bisect_left(steps, end - self.steps)
        return max(0, min(first, row - self.rows))

    def end(self, run: Run, row: int) -> int:
        """The last row of the window after `row`: past the log's end where the run hasn't got there yet."""
        last_step, target = int(run.steps[-1]), int(run.steps[row]) + self.steps
        beyond = math.ceil((target - last_step) / cadence(run)) if target > last_step else 0
        return max(row + self.rows, run.row_at(target) + beyond)


def noise_of(values: pl.Series, lag: int = 1) -> float:
    """The robust standard deviation around a signal's course.

    From second differences over `lag` rows, where a steady fall or rise cancels out; 0 with too few rows.
    """
    every = max(1, len(values) - 2 * lag) // LONG | 1  # of a long log, so many-th rows tell as much
    last, middle, first = (values[back:].gather_every(every) for back in (2 * lag, lag, 0))
    count = len(last)
    # Of one piece: its median is ten times as fast.
    bends = (last - 2.0 * middle[:count] + first[:count]).drop_nulls().rechunk()
    if not len(bends):
        return 0.0
    return NORMAL_MAD * to_float((bends - to_float(bends.median())).abs().median()) / math.sqrt(6)


@dataclass(frozen=True)
class Baseline:
    """Population statistics of the rows before one row.

    Attributes:
        mean: in the signal's unit.
        std: in the signal's unit.
        rows: how many rows the window spans.
    """

    mean: float
    std: float
    rows: int


def baseline(run: Run, signal: str, row: int, window: Window) -> Baseline | None:
    """Mean and deviation of the window before `row`, earlier spikes left out; None under two values.

    Of its last rows, `window.rows` of them, where these lie far below the rest in the first two windows of a
    log, and as many before them fall as far: as fast as a run learns there, the others say nothing of what
    is usual by then. One stretch that is easier says no such thing.
    """
    if row < 1:
        return None
    start = window.start(run, row)
    before = calm_between(run[signal], window.count(run), start, row)
    span, half, early = window.rows, window.rows // 2, row < _BEGINNING * window.count(run)
    earlier = before[: max(0, len(before) - span)]
    parts = (before, before[-span:], earlier[-2 * half : -half], earlier[-half:])
    whole, near, first, last = map(_baseline, parts)
    if not (early and whole and near and first and last):
        return whole
    falls = min(whole.mean - near.mean, first.mean - last.mean) > FALLEN * near.std
    return near if falls else whole


def _baseline(before: pl.Series) -> Baseline | None:
    known = before.drop_nulls()
    if len(known) < 2:
        return None
    return Baseline(to_float(known.mean()), to_float(known.std(ddof=0)), len(before))


_BEGINNING = 2
"""Windows in which a run learns fast at first: a constant of the method."""
FALLEN = 3.0
"""So many deviations of its last rows the mean of a window stands above theirs where it holds a fall."""


def rolling_baseline(run: Run, values: pl.Series, window: Window) -> tuple[pl.Series, pl.Series]:
    """At each row, mean and standard deviation of the window before it; null where the log begins later.

    Earlier spikes are left out, and what lies above a fall, as in `baseline`.
    """
    import polars as pl

    values = calm(values, window.count(run))

    steps = run.steps
    reach = steps - window.steps
    dense = ((steps.shift(window.rows) >= reach) & (steps[0] <= reach)).fill_null(False)
    whole, span = _by_steps(steps, values, window.steps), window.rows
    end = len(dense) - (dense.reverse().arg_min() or 0)  # rows from `end` on are dense
    early = _BEGINNING * window.count(run)
    end = max(end, min(len(dense), early))
    before, dense = values[:end].shift(1), dense[:end]
    short = pl.int_range(end, eager=True) < span
    sparse = pl.DataFrame(
        {
            "mean": before.rolling_mean(span, min_samples=max(2, span // 2)).set(short, None),
            "std": before.rolling_std(span, min_samples=max(2, span // 2), ddof=0).set(short, None),
        }
    )
    first, rest = whole[:end], whole[end:]
    half, least = span // 2, FALLEN * sparse["std"]
    last = before.rolling_mean(half, min_samples=2).shift(span)
    fallen = (first["mean"] - sparse["mean"] > least) & (last.shift(half) - last > least)
    dense &= ~(fallen.fill_null(False) & (pl.int_range(end, eager=True) < early))
    mean, std = (pl.concat([first[name].zip_with(dense, sparse[name]), rest[name]]) for name in whole.columns)
    return mean, std


def _by_steps(steps: pl.Series, values: pl.Series, length: int) -> pl.DataFrame:
    """At each row `mean` and `std` of the values of the `length` steps before it; null for fewer than two."""
    import polars as pl

    gaps = steps.diff()
    gap = gaps.min()
    if (
        isinstance(gap, int) and gap == gaps.max() and (rows := length // gap) > 1
    ):  # the same, in half the time
        return pl.DataFrame({"value": values}).select(
            mean=pl.col("value").rolling_mean(rows, min_samples=2).shift(1),
            std=pl.col("value").rolling_std(rows, min_samples=2, ddof=0).shift(1),
        )
    by_step = {"window_size": f"{length}i", "closed": "left", "min_samples": 2}
    return pl.DataFrame({"step": steps, "value": values}).select(
        mean=pl.col("value").rolling_mean_by("step", **by_step),
        std=pl.col("value").rolling_std_by("step", ddof=0, **by_step),
    )


def forward_mean(values: pl.Series, span: int, start: int, end: int) -> pl.Series:
    """At each row from `start` to before `end`, the mean of the `span` rows from it on; null where fewer are
    left.
    """
    ahead = finite(values[start : end + span - 1])
    return ahead.rolling_mean(span, min_samples=max(1, span - 1)).shift(1 - span)[: end - start]


def blocks(values: pl.Series, count: int) -> list[pl.Series]:
    """The finite values cut into `count` blocks of equal length, oldest first."""
    values = finite(values).drop_nulls()
    size = len(values) // count
    start = len(values) - size * count
    return [values[start + i * size : start + (i + 1) * size] for i in range(count)]


def piecewise(run: Run, signal: str, start: int, levels: Sequence[float | None]) -> Smoothed:
    """The levels of equal stretches of the log from row `start` on, as a curve in steps."""
    import polars as pl

    size = (len(run) - start) / len(levels)
    edges = [round(start + size * place) for place in range(len(levels) + 1)]
    rows = [row for begin, end in pairwise(edges) for row in (begin, max(begin, end - 1))]
    values = [level for level in levels for _ in range(2)]
    return Smoothed(signal, run.steps.gather(rows), pl.Series(values, dtype=pl.Float64))
