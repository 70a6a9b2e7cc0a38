"""Sample: a signal of any length as a few points per column, such that no spike vanishes."""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import polars as pl

from tutor.run import known_float

Point = tuple[int, float]


@dataclass(frozen=True)
class Sample:
    """What is left of a signal to draw.

    Attributes:
        lines: unbroken runs of (pixel column, value); values are finite. A line breaks where a NaN or an
            Inf was logged, not where nothing was.
        bad: pixel columns with a NaN or an Inf.
        few: whether the points are so few that each can have its glyph.
        sparse: whether most rows have no value, so that a line would claim what was not measured.
    """

    lines: tuple[tuple[Point, ...], ...]
    bad: tuple[int, ...]
    few: bool
    sparse: bool

    @property
    def points(self) -> bool:
        """Whether it is drawn as points: a line would claim what was not measured."""
        return self.sparse and self.few

    @property
    def values(self) -> list[float]:
        """Every value, in order."""
        return [value for line in self.lines for _, value in line]

    def between(self, low: float, high: float) -> "Sample":
        """What of it lies from `low` to `high`; a line that leaves them is cut there."""
        parts = [
            tuple(points)
            for line in self.lines
            for inside, points in groupby(line, key=lambda point: low <= point[1] <= high)
            if inside
        ]
        return replace(self, lines=tuple(parts))


def sample(steps: pl.Series, values: pl.Series, view: tuple[int, int], pixels: int) -> Sample:
    """The signal over the steps of `view`, for `pixels` columns.

    Columns that hold several rows keep their minimum and maximum.
    """
    first, last = view
    begin, end = bisect_left(steps, first), bisect_right(steps, last)
    steps, values = steps[begin:end], values[begin:end].cast(pl.Float64)
    scale = (pixels - 1) / max(1, last - first)
    rows, known = len(values), len(values) - values.null_count()
    sparse = 2 * known < rows
    # Of a sparse signal a line is honest only where the gaps that it fills are too narrow to be seen.
    few = known <= pixels // (4 if sparse else 8)
    if known <= 2 * pixels:
        there = values.is_not_null()
        columns = [round((step - first) * scale) for step in steps.filter(there).to_list()]
        return _cut(list(zip(columns, values.filter(there).to_list(), strict=True)), few, sparse)
    bad = None
    if not math.isfinite(float(values.sum())):  # quick; a sum that overflows only has each value looked at
        bad = (~values.is_finite()).fill_null(False)
        values = values.set(bad, None)
    # Where each column's rows begin: the log is sorted, so a slice per column needs no grouping.
    edges = [math.ceil(first + (column - 0.5) / scale) for column in range(1, pixels)]
    bounds = [0, *steps.search_sorted(pl.Series(edges, dtype=steps.dtype), side="left").to_list(), rows]
    points: list[Point] = []
    for column, (begin, end) in enumerate(pairwise(bounds)):
        here = values.slice(begin, end - begin)
        low, high = known_float(here.min()), known_float(here.max())
        if low is not None and high is not None:
            points += [(column, low)] if low == high else [(column, low), (column, high)]
        if bad is not None and bad.slice(begin, end - begin).any():
            points.append((column, math.nan))
    return _cut(points, few, sparse)


def _cut(points: list[Point], few: bool, sparse: bool) -> Sample:
    lines: list[list[Point]] = [[]]
    bad = []
    for column, value in points:
        if math.isfinite(value):
            lines[-1].append((column, value))
        else:
            bad.append(column)
            lines.append([])
    return Sample(tuple(tuple(line) for line in lines if line), tuple(dict.fromkeys(bad)), few, sparse)
