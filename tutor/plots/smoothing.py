"""Smoothing: a curve as means over neighbouring rows, drawn over the logged one."""

import polars as pl

from tutor.run import Run

ROWS = (5, 20, 100)
"""Rows to average: a handful against jitter, then the usual windows of the trees' rules."""


def offered(run: Run) -> tuple[int, ...]:
    """How many rows a curve of `run` can be averaged over, 0 for none: its log must hold twice as many."""
    return (0, *(rows for rows in ROWS if 2 * rows <= len(run)))


def fitting(run: Run, rows: int) -> int:
    """The most rows, but not over `rows`, that a curve of `run` can be averaged over."""
    return max(one for one in offered(run) if one <= rows)


def following(run: Run, rows: int) -> int:
    """What comes after `rows` in what is offered, around the end."""
    choice = offered(run)
    return choice[(choice.index(fitting(run, rows)) + 1) % len(choice)]


def smoothed(values: pl.Series, rows: int) -> pl.Series:
    """The mean of the `rows` rows about each one, fewer at the ends, over what is finite.

    Where nothing was logged, nothing is made up; NaN and Inf stay, so that they are still drawn as marks.
    """
    values = values.cast(pl.Float64)
    good = values.is_finite().fill_null(False)
    means = values.set(~good, None).rolling_mean(rows, min_samples=1, center=True)
    return values.zip_with(~good, means)
