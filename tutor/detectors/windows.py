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
from tutor.detectors.despiking import FEWEST, LONG, NORMAL_MAD, calm, calm_between, finite
from tutor.detectors.grouped import Grouped
from tutor.run import Run, once, to_float

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FEWEST",
    "Baseline",
    "Window",
    "baseline",
    "blocks",
    "cadence",
    "finite",
    "forward_mean",
    "noise_of",
    "piecewise",
    "rolling_baseline",
    "rows",
]


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

    def reach(self, run: Run) -> int:
        """How many steps it spans at the run's cadence."""
        return max(self.steps, round(self.rows * cadence(run)))

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


_BEGINNING = 2
"""Windows in which a run learns fast at first: a constant of the method."""
_FALLEN = 3.0
"""So many deviations of its last rows the mean of a window stands above theirs where it holds a fall."""


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
    falls = min(whole.mean - near.mean, first.mean - last.mean) > _FALLEN * near.std
    return near if falls else whole


def _baseline(before: pl.Series) -> Baseline | None:
    known = before.drop_nulls()
    if len(known) < 2:
        return None
    return Baseline(to_float(known.mean()), to_float(known.std(ddof=0)), len(before))


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
    half, least = span // 2, _FALLEN * sparse["std"]
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
