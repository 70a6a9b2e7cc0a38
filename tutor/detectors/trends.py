"""Trends: whether values rise or fall in their order by more than chance, whatever the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, takewhile
from statistics import median
from typing import TYPE_CHECKING

from tutor.detectors.windows import blocks, finite
from tutor.run import to_float

if TYPE_CHECKING:
    import polars as pl

PIECES = 50
"""Of so many medians a trend is asked at most, since it looks at every pair: a constant of the method."""


def trend(values: pl.Series) -> float:
    """Mann and Kendall's test: how many standard deviations of chance the values lie from no trend at all.

    Below 0 where they fall. It asks for the order of each pair alone, so it holds for few values and for any
    noise; for some tens of them, since it looks at every pair. Source: Mann, Econometrica 13 (1945), 245.
    """
    return _trend(finite(values).drop_nulls().to_list())


def ordered(values: pl.Series) -> float:
    """As `trend`, of any number of values: of many, of the medians of `PIECES` stretches."""
    return _trend(_of_some_tens(values))


def share_fallen(values: pl.Series) -> float:
    """By what share of the median of their first third the last third of the values lies lower.

    Below 0 where it lies higher; inf where the first is 0. Of one value at least.
    """
    third = max(1, len(values) // 3)
    first, last = to_float(values[:third].median()), to_float(values[-third:].median())
    return (first - last) / abs(first) if first else math.inf


def _of_some_tens(values: pl.Series) -> list[float]:
    """The finite values; of many the medians of `PIECES` stretches."""
    known = finite(values).drop_nulls()
    many = len(known) >= 2 * PIECES
    return [to_float(piece.median()) for piece in blocks(known, PIECES)] if many else known.to_list()


def lasting_trend(values: pl.Series) -> float:
    """As `trend`, of a course whose neighbours resemble each other, which by itself makes them wander.

    Such values tell as much as fewer that don't: n (1 - r) / (1 + r), where r is the correlation of each with
    the one before, beside their median slope. Of many values it takes the medians of `PIECES` stretches.
    Source: Yue and Wang, Water Resources Management 18 (2004), 201; the slope: Sen, Journal of the American
    Statistical Association 63 (1968), 1379.
    """
    course = _of_some_tens(values)
    alike = _alike(course)
    return _trend(course) * math.sqrt((1 - alike) / (1 + alike))


def climbing(values: pl.Series) -> float:
    """The sign test of the steps: how many standard deviations of chance more of them rise than fall.

    Below 0 where more fall. What wanders takes each step up or down by chance, however much neighbours
    resemble each other, so that a smooth climb shows here which `lasting_trend` may take for wandering.
    Source: Dixon and Mood, Journal of the American Statistical Association 41 (1946), 557.
    """
    steps = [later - one for one, later in pairwise(_of_some_tens(values))]
    signs = sum((step > 0) - (step < 0) for step in steps)
    return math.copysign(max(0, abs(signs) - 1), signs) / math.sqrt(len(steps)) if steps else 0.0


def _trend(known: Sequence[float]) -> float:
    count = len(known)
    order = sum((later > one) - (later < one) for i, one in enumerate(known) for later in known[i + 1 :])
    chance = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return math.copysign(max(0, abs(order) - 1), order) / chance if chance else 0.0


def _alike(known: Sequence[float]) -> float:
    """How much each value resembles the one before beside their median slope, from 0 to 1."""
    if len(known) < 3:
        return 0.0
    slope = median(
        (later - one) / ahead for i, one in enumerate(known) for ahead, later in enumerate(known[i + 1 :], 1)
    )
    level = [value - slope * place for place, value in enumerate(known)]
    mean = sum(level) / len(level)
    off = [value - mean for value in level]
    power = sum(one * one for one in off)
    return max(0.0, sum(one * later for one, later in pairwise(off)) / power) if power else 0.0


UNLIKELY = 3000
"""Once in so many times is no chance: a constant of the method."""
_FEWEST_SUNK = 3


def sunk(values: pl.Series) -> bool:
    """Whether the last values, three or more, each lie below so many before them that it is no chance.

    In any order the lowest k of k + m values come last once in (k + m choose k) times, whatever the noise.
    Under once in `UNLIKELY` times are three below 25, four below 14, five below ten. Of many values it takes
    the medians of `PIECES` stretches. Source: Wilcoxon, Biometrics Bulletin 1 (1945), 80: the least sum of
    ranks that there is.
    """
    known = _of_some_tens(values)[::-1]
    for count in range(_FEWEST_SUNK, len(known)):
        ahead = len(list(takewhile(max(known[:count]).__lt__, known[count:])))
        if math.comb(count + ahead, count) > UNLIKELY:
            return True
    return False


def rises_straight(values: pl.Series, rows: int, sigmas: float, alike: float = 0.0) -> bool:
    """Whether few values, `rows` or more, each stand above the one before, and end far above the lowest.

    Below it by less than `alike` is no fall.

    Noise as large as the bends of the course is the most that so few can say of it: the end lies `sigmas` of
    it above. Where it bends most before it is lowest, as learning does, those from there on say more.
    """
    lowest = values.arg_min() or 0
    rising = values[lowest:].diff().drop_nulls()
    if len(rising) < rows or to_float(rising.min()) <= -alike:
        return False
    noise = min(_bends(values), _bends(values[max(0, lowest - 1) :]))
    return float(values[-1]) - float(values[lowest]) > sigmas * math.sqrt(2) * noise


def _bends(values: pl.Series) -> float:
    """The standard deviation of noise that alone would bend a course so, of four values or more."""
    bends = values.diff().diff().drop_nulls()
    return math.sqrt(to_float((bends * bends).mean()) / 6)  # of a second difference: 1 + 4 + 1 variances
