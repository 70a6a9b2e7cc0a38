"""Parts of the loss that a run adds on its way: what the loss rises by then is theirs, and no fault."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tutor import signals
from tutor.run.names import LOSS, says_held_out, spelled
from tutor.run.scalars import to_float
from tutor.run.vocabulary import KNOWN

if TYPE_CHECKING:
    import polars as pl

_BEFORE = 2
"""Rows of a loss without the part: it wasn't there at first."""
_HALF = 0.5
"""The share of a rise that the parts have to be, to explain it; and the share that it has to be of them."""
_ONCE_MORE = re.compile(
    r"(?<![a-z])(epoch|avg|average|mean|ema|smooth(ed)?|running|best|min|max|std|total)(?![a-z])|avg[0-9]+"
)
"""Words of a column that holds the loss once more."""


def added(frame: pl.DataFrame) -> Mapping[int, list[str]]:
    """By row the columns of parts of the loss that begin there, and are about as large as its rise.

    Before, they were null or 0. Args: `frame` has the column `loss`, and a row for each step.
    """
    if "loss" not in frame.columns or not frame["loss"].dtype.is_numeric():
        return {}
    begun: dict[int, list[str]] = defaultdict(list)
    for name in filter(_is_part, frame.columns):
        if not frame[name].dtype.is_numeric():
            continue
        there = ((frame[name] != 0) & frame[name].cast(float).is_finite()).fill_null(False)
        row = there.arg_max() if there.any() else None
        if row and frame["loss"][row] is not None and frame["loss"][:row].count() >= _BEFORE:
            begun[row].append(name)
    return {row: names for row, names in begun.items() if _lift(frame, row, names)}


def _is_part(name: str) -> bool:
    """Whether a column holds a part of the loss, and not the loss once more, as its mean over an epoch."""
    spelt = spelled(name)
    whole = spelt in KNOWN["loss"] or _ONCE_MORE.search(spelt) or signals.find(name)
    return bool(LOSS.search(spelt)) and not whole and not says_held_out(name)


def _lift(frame: pl.DataFrame, row: int, names: list[str]) -> bool:
    """Whether the loss rises at a row by what the parts are that begin there: half to twice as much."""
    rise = to_float(frame["loss"][row]) - to_float(frame["loss"][:row].drop_nulls()[-1])
    parts = sum(to_float(frame[name][row]) for name in names)
    return 0 < _HALF * rise <= parts <= rise / _HALF
