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
"""A trend looks at every pair, so many values are cut into this many stretches, and their medians are looked
at: a constant of the method."""


def trend(values: pl.Series) -> float:
    """Mann and Kendall's test: how many standard deviations of chance the values lie from no trend at all.

    Below 0 where they fall. It goes by the order of each pair alone, so it holds for few values, whatever
    their noise. It looks at every pair, so it is for some tens of values; `ordered` is for any number.
    Source: Mann, Econometrica 13 (1945), 245.
    """
    return _trend(finite(values).drop_nulls().to_list())


def ordered(values: pl.Series) -> float:
    """As `trend`, of any number of values: where they are many, of the medians of `PIECES` stretches."""
    return _trend(_of_some_tens(values))


def share_fallen(values: pl.Series) -> float:
    """By what share of itself the median falls from the first third of the values to the last third.

    Below 0 where it rises; inf where the first is 0. There has to be one value at least.
    """
    third = max(1, len(values) // 3)
    first, last = to_float(values[:third].median()), to_float(values[-third:].median())
    return (first - last) / abs(first) if first else math.inf


def _of_some_tens(values: pl.Series) -> list[float]:
    """The finite values; where they are many, the medians of `PIECES` stretches."""
    known = finite(values).drop_nulls()
    many = len(known) >= 2 * PIECES
    return [to_float(piece.median()) for piece in blocks(known, PIECES)] if many else known.to_list()


def lasting_trend(values: pl.Series) -> float:
    """As `trend`, of values that resemble their neighbours, and so wander up or down for a while by chance.

    n of them tell as much as n (1 - r) / (1 + r) independent ones, where r is the correlation of each value
    with the one before, around their median slope. Of many values it takes the medians of `PIECES` stretches.
    Source: Yue and Wang, Water Resources Management 18 (2004), 201; the slope: Sen, Journal of the American
    Statistical Association 63 (1968), 1379.
    """
    course = _of_some_tens(values)
    alike = _alike(course)
    return _trend(course) * math.sqrt((1 - alike) / (1 + alike))


def climbing(values: pl.Series) -> float:
    """The sign test of the steps: how many standard deviations of chance more of them rise than fall.

    Below 0 where more fall. Values that only wander step up or down by chance, however much they resemble
    their neighbours. So this shows a smooth climb, which `lasting_trend` may take for wandering.
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
    """The correlation of each value with the one before, around their median slope; 0 where it is below."""
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
"""What chance brings about less than once in so many times is called no chance: a constant of the method."""
_FEWEST_SUNK = 3
"""Values at the end that are looked at together, at least: a constant of the method."""


def sunk(values: pl.Series) -> bool:
    """Whether the last values, three or more, all lie below so many before them that it is no chance.

    Of k + m values in random order the k lowest come last once in (k + m choose k) times, whatever the noise.
    That is less than once in `UNLIKELY` times for three below 25, for four below 14 and for five below ten.
    Of many values it takes the medians of `PIECES` stretches. Source: Wilcoxon, Biometrics Bulletin 1 (1945),
    80: the smallest sum of ranks that is possible.
    """
    known = _of_some_tens(values)[::-1]
    for count in range(_FEWEST_SUNK, len(known)):
        ahead = len(list(takewhile(max(known[:count]).__lt__, known[count:])))
        if math.comb(count + ahead, count) > UNLIKELY:
            return True
    return False


def rises_straight(values: pl.Series, rows: int, sigmas: float, alike: float = 0.0) -> bool:
    """Whether each of few values after the lowest one stands above the one before, and the last far above it.

    There have to be `rows` or more after the lowest one. To lie below the one before by less than `alike` is
    no fall. Far above is `sigmas` standard deviations of a difference. So few values don't tell their noise
    from the bends of their course, so that all their bends are taken for noise; or only the bends from the
    lowest value on, where that is less: a loss bends most while it learns.
    """
    lowest = values.arg_min() or 0
    rising = values[lowest:].diff().drop_nulls()
    if len(rising) < rows or to_float(rising.min()) <= -alike:
        return False
    noise = min(_bends(values), _bends(values[max(0, lowest - 1) :]))
    return float(values[-1]) - float(values[lowest]) > sigmas * math.sqrt(2) * noise


def _bends(values: pl.Series) -> float:
    """The standard deviation of noise that would explain all the bends of three values or more by itself."""
    bends = values.diff().diff().drop_nulls()
    return math.sqrt(to_float((bends * bends).mean()) / 6)  # of a second difference: 1 + 4 + 1 variances
