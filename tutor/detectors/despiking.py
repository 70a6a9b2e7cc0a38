"""A signal's finite values, and those without its spikes: what is usual around each row.

Nothing here knows a run or its steps, but only a series and a span of so many rows: see `windows` for these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.run import known_float, to_float

if TYPE_CHECKING:
    import polars as pl

FEWEST = 5
"""Rows that say what is usual, at least."""

TOWERS = 10
"""A spike's row stands so many robust standard deviations above the rows around it."""

NORMAL_MAD = 1.4826
"""The standard deviation of a normal distribution, in median absolute deviations."""

STRETCH = 1_000_000
"""Rows of a log that are looked at together: what a longer one takes in between would fill the memory."""

PART = 200_000
"""Rows that are passed over together where none of them can be a spike."""

LONG = 100_000
"""Rows from which on it pays to share the work among the cores."""


def finite(values: pl.Series) -> pl.Series:
    """The values as Float64, with NaN and Inf as null."""
    values = values.cast(float)
    if math.isfinite(to_float(values.sum())):  # in a quarter of the time: any NaN or Inf would show there
        return values
    known = values.is_finite()
    return values if known.all() else values.set(~known, None)


def calm(values: pl.Series, span: int) -> pl.Series:
    """The finite values without spikes: null where one towers over the `span` rows before and those after.

    So an earlier spike pollutes no baseline, and a level that changed for good stays what it is.
    """
    values = finite(values)
    rows = _towers_by_stretch(values, span).arg_true()
    if not len(rows):
        return values
    first, end = int(rows[0]), int(rows[-1]) + _reach(span)  # what comes after decides about these alone
    behind = _towers_by_stretch(values[first:end].reverse(), span).reverse()
    return values.clone().scatter(rows.filter(behind.gather(rows - first)), None)


def calm_between(values: pl.Series, span: int, start: int, end: int) -> pl.Series:
    """`calm(values, span)[start:end]`, from the rows that decide about these alone."""
    first = max(0, start - _reach(span))
    return calm(values[first : end + _reach(span)], span)[start - first : end - first]


def _reach(span: int) -> int:
    """How far the rows lie that decide whether one is a spike: medians of deviations from medians."""
    return 2 * span + 1


def _towers_by_stretch(values: pl.Series, span: int) -> pl.Series:
    """As `_towers`, of a log of any length: a stretch of it at a time, so that it fits the memory."""
    import polars as pl

    parts: list[pl.Series] = []
    for begin in range(0, max(1, len(values)), STRETCH):
        first = max(0, begin - _reach(span))
        parts.append(_towers_by_part(values[first : begin + STRETCH], span)[begin - first :])
    return pl.concat(parts)


def _towers_by_part(values: pl.Series, span: int) -> pl.Series:
    """As `_towers`, a part at a time, so that those without any spike, which are most, cost little."""
    import polars as pl

    medians = _medians(values, span)
    parts: list[pl.Series] = []
    for begin in range(0, max(1, len(values)), PART):
        first = max(0, begin - span)
        near = slice(first, begin + PART)
        parts.append(_towers(values[near], medians[near], span, begin - first))
    return pl.concat(parts)


def _towers(values: pl.Series, medians: pl.Series, span: int, begin: int) -> pl.Series:
    """Whether each value from row `begin` on lies far above the median of the rows before it.

    How far is counted in their own deviations from `medians`, those of the `span` rows up to each.
    """
    import polars as pl

    distances, heights = (values - medians).abs(), values - medians.shift(1)
    if not _may_tower(distances, heights, span, begin):
        return pl.repeat(False, len(values) - begin, dtype=pl.Boolean, eager=True)
    deviations = _medians(distances, span).shift(1)
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


def _medians(values: pl.Series, span: int) -> pl.Series:
    """`rolling_median` of at least `FEWEST` rows; polars takes four times as long where there is a null."""
    import polars as pl

    first = values.is_not_null().arg_max() or 0
    medians = rolling_median(values[first:], span, FEWEST)
    return pl.concat([values[:first], medians]) if first else medians


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
