"""Axes: how a value becomes a height, and the few numbers written beside it."""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_LARGEST = sys.float_info.max  # logs of runs that blow up do hold such numbers


_MANY = 10  # rows of which one is a tenth


@dataclass(frozen=True)
class Scale:
    """The vertical axis: from `low` at the bottom to `high` at the top, in the signal's unit."""

    low: float
    high: float
    log: bool

    def share(self, value: float) -> float:
        """The height of `value`, from 0 to 1; what lies beyond is drawn at the edge."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, low))
        return min(1.0, max(0.0, (value / 2 - low / 2) / (high / 2 - low / 2)))

    def row(self, value: float, rows: int) -> int:
        """The row, of so many, that holds the value's dot, four dots to a row; rounds as the raster does."""
        return rows - 1 - int((rows * 4 - 1) * self.share(value) + 0.5) // 4

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """About `count` round values inside the axis, each with its label."""
        values = _decades(self.low, self.high, count) if self.log else []
        if len(values) < 2:
            values = round_values(self.low, self.high, count)
        if self.log:
            return [(value, label(value)) for value in values]
        spread = min((b - a for a, b in pairwise(values)), default=self.high - self.low)
        largest = max(map(abs, values), default=0.0)
        return [(value, label(value, spread, largest)) for value in values]


def scale(
    values: Iterable[float], log_beyond: float, floor: float | None = None, level: float | None = None
) -> Scale:
    """The axis that holds `values`.

    Args:
        values: finite ones; there may be none.
        log_beyond: logarithmic where the largest is so many times the smallest (of the positive ones).
        floor: a value to include at the bottom where the axis is linear, such as 0 for a rate.
        level: a bound that must be seen.
    """
    values = [*values, *([] if level is None else [level])]
    if not values:
        return Scale(0.0, 1.0, False)
    low, high = min(values), max(values)
    positive = sorted(value for value in values if value > 0)
    if low >= 0 and positive:
        # A log axis has no end below: a dip of a row or two would take most of it, so it is cut off. What a
        # tenth of the rows are is no dip, however far below the highest.
        bottom, farthest = positive[len(positive) // 50], high * 1e-12
        climbs = len(positive) >= _MANY and positive[len(positive) // _MANY] < farthest
        bottom = bottom if climbs else max(bottom, farthest)
        bottom = min(bottom, level) if level else bottom
        if high / bottom >= log_beyond:
            return Scale(bottom, high, True)
    if floor is not None:
        low = min(low, floor)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        pad = abs(high) * 0.05 or 0.5
        low, high = max(low - pad, -_LARGEST), min(high + pad, _LARGEST)
    return Scale(low, high, False)


_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))  # 4 digits are still read at a glance


def label(value: float, spread: float | None = None, largest: float | None = None) -> str:
    """A number in at most seven characters.

    Args:
        value: finite.
        spread: the distance to the next tick, for as many decimals as tell them apart.
        largest: of all ticks on the axis, so that they share one notation.
    """
    size = abs(value) if largest is None else largest
    if value == 0 or size == 0:
        return "0"
    if size >= 1e15 or size < 1e-2:
        digits, _, power = f"{value:.1e}".partition("e")
        text = f"{digits.removesuffix('.0')}e{int(power)}"
        return text if len(text) <= 7 else f"{value:.0e}"
    for bound, name in _UNITS:
        if size >= bound:
            return f"{value / (1e3 if name == 'k' else bound):.4g}{name}"
    if not spread or not math.isfinite(spread):
        return f"{value:.3g}" if size < 1000 else f"{value:.0f}"
    decimals = max(0, math.ceil(-math.log10(spread) - 1e-9))
    text = f"{value:.{min(decimals + 1, 4)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def round_values(low: float, high: float, count: int) -> list[float]:
    """About `count` round values from `low` to `high`, at least two where that can be."""
    span = high / 2 - low / 2  # halved, so that the ends of Float64 don't overflow
    if not span > 0:
        return [low]
    rough = span * 2 / max(1, count)
    if not rough < _LARGEST / 1e3:
        return [low, high]
    power = 10.0 ** math.floor(math.log10(rough))
    choices = [_multiples(low, high, power * nice) for nice in (1, 2, 5, 2.5, 0.5, 10)]
    return min(choices, key=lambda values: (len(values) < 2, abs(len(values) - count)))


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _decades(low: float, high: float, count: int) -> list[float]:
    first, last = math.floor(math.log10(low)), min(308, math.ceil(math.log10(high)))
    every = max(1, math.ceil((last - first - 1) / max(1, count)))
    choices = [((1,), every), ((1,), max(1, every - 1)), ((1, 3), 1), ((1, 2, 5), 1)]
    ticks = [
        [nice * 10.0**power for power in range(first, last + 1, step) for nice in nices]
        for nices, step in choices
    ]
    inside = [
        [value for value in values if low * 0.999 <= value <= min(high * 1.001, _LARGEST)] for values in ticks
    ]
    return min(inside, key=lambda values: (len(values) < 2, abs(len(values) - count)))
