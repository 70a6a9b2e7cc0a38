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
    scale = (len(LEVELS) - 1) / (high - low) if high > low else 0.0
    signs = [NOTHING if top == -math.inf else LEVELS[round((top - low) * scale)] for top in tops]
    for column in drawn.bad:
        signs[column] = BAD
    return "".join(signs)
