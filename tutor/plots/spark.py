"""Spark: a signal of any length in one line of text, one sign per cell, such that no spike vanishes."""

import math

from tutor.plots.sample import sample
from tutor.plots.view import whole
from tutor.run import Run

LEVELS = "▁▂▃▄▅▆▇█"
BAD, NOTHING = "×", " "


def spark(run: Run, signal: str, width: int) -> str:
    """The signal over the whole run as `width` signs; "" where it wasn't recorded.

    Each sign is as tall as the largest value of its steps, between the signal's smallest and largest; × holds
    a NaN or an Inf, and a blank no value.
    """
    if not run.has(signal):
        return ""
    drawn = sample(run.steps, run[signal], whole(run), width)
    tops = [-math.inf] * width
    for column, value in (point for line in drawn.lines for point in line):
        tops[column] = max(tops[column], value)
    known = drawn.values
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    span = high / 2 - low / 2 or 1.0  # halves: the difference of two floats can be too large for one
    levels = [(top / 2 - low / 2) / span * (len(LEVELS) - 1) for top in tops]
    signs = [NOTHING if level == -math.inf else LEVELS[round(level)] for level in levels]
    for column in drawn.bad:
        signs[column] = BAD
    return "".join(signs)
