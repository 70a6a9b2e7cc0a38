"""Windows counted in steps over logs of any cadence, and the statistics before a step.

Real logs hold a row per 1, 10 or 50 steps: a window of 100 steps may be 2 rows. So a window is taken in
steps where it holds enough rows, else in rows (https://arxiv.org/abs/2204.02311 logs every step; the
Hugging Face Trainer, every 500 by default).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tutor.run import Run

if TYPE_CHECKING:
    import polars as pl


def finite(values: pl.Series) -> pl.Series:
    """The values as Float64, with NaN and Inf as null."""
    values = values.cast(float)
    return values.set(~values.is_finite(), None)


def cadence(run: Run) -> float:
    """Median number of steps between rows (1 where there is one row or none)."""
    gaps = run.steps.diff().drop_nulls()
    return max(1.0, float(gaps.median() or 1))


def rows(run: Run, steps: float, min_rows: int = 1) -> int:
    """How many rows a window of `steps` spans, at least `min_rows`."""
    return max(min_rows, round(steps / cadence(run)))


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


def baseline(run: Run, signal: str, row: int, span: int) -> Baseline | None:
    """Mean and standard deviation of the `span` rows before `row`, or None where there are under two."""
    before = finite(run[signal][max(0, row - span) : max(0, row)]).drop_nulls()
    if len(before) < 2:
        return None
    return Baseline(float(before.mean()), float(before.std(ddof=0)), span)


def forward_mean(values: pl.Series, span: int) -> pl.Series:
    """At each row, the mean of the `span` rows from it on (null where fewer are left)."""
    return finite(values).rolling_mean(span, min_samples=max(1, span - 1)).shift(1 - span)


def blocks(values: pl.Series, count: int) -> list[pl.Series]:
    """The finite values cut into `count` blocks of equal length, oldest first."""
    values = finite(values).drop_nulls()
    size = len(values) // count
    start = len(values) - size * count
    return [values[start + i * size : start + (i + 1) * size] for i in range(count)]
