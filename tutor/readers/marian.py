"""Marian's logs of training and validation: `Ep. 1 : Up. 1000 : Sen. 69,000 : Cost 7.96 : L.r. 1e-05`.

The cost is a mean since the row before, of a sentence or of a word as `cost-type` says; so is the norm,
where it is printed. What is held out has lines of its own, `[valid] Ep. 1 : Up. 5000 : ce-mean-words : 5.2
: ...`, one for each metric and often in a file of its own: of those that are losses the one nearest to the
cost is in its unit, and a perplexity is brought into nats, unless the cost is one. `translation` is the
BLEU score of a script. NaN shows.
Source: marian-dev/src/training/scheduler.h (`update`, `validate`), src/training/validator.h
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source
from tutor.run import to_float

if TYPE_CHECKING:
    import polars as pl

_AT = r"\bEp\. [0-9.]+ : Up\. (?P<step>[0-9]+) : "
_TRAINED = rf"{_AT}Sen\. "
_FIELD = rf" : (?P<name>Cost|gNorm|L\.r\.) (?P<value>{NUMBER})"
_NAMES = {"Cost": "loss", "gNorm": "grad_norm", "L.r.": "lr"}
_HELD_OUT = rf"\[valid\] {_AT}"
_METRIC = rf" : (?P<name>[a-z][a-z0-9_-]*) : (?P<value>{NUMBER})(?: :|$)"
_LOSSES = ("valid cross-entropy", "valid ce-mean-words", "valid ce-mean", "valid ce-sum")
_TO_NATS = "valid perplexity"
_BLEU = {"valid translation": "valid bleu"}


def _tidy(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, with the metric of validation that is read as its loss, and BLEU by its name."""

    if not {*_BLEU.values()} & {*rows.columns}:
        rows = rows.rename(_BLEU, strict=False)
    held_out = [rows[name].rename("val_loss") for name in _LOSSES if name in rows.columns]
    if _TO_NATS in rows.columns:
        held_out += [one.rename("val_loss") for one in (rows[_TO_NATS].log(), rows[_TO_NATS])]
    held_out = [column for column in held_out if column.is_not_null().any()]
    if not held_out:
        return rows
    cost = _level(rows["loss"]) if "loss" in rows.columns else 0.0

    def apart(column: pl.Series) -> float:
        level = _level(column)
        return abs(math.log(level / cost)) if level > 0 and cost > 0 else 0.0

    return rows.with_columns(min(held_out, key=apart))


def _level(column: pl.Series) -> float:
    """The median of what is finite; 0.0 where nothing is."""
    known = column.filter(column.is_finite())
    return to_float(known.median()) if len(known) else 0.0


_LINES = Lines(
    (Line(_HELD_OUT, _METRIC, "valid {}".format, sign="[valid]"), Line(_TRAINED, _FIELD, _NAMES.get)),
    only=_AT,
    tidy=_tidy,
)


def sources(path: Path) -> list[Source]:
    """A file with a line of either kind."""
    if not has(path, either(_TRAINED, _HELD_OUT)):
        return []
    return [TextLog(path, "Marian's log", _LINES, {"loss": WINDOW, "grad_norm": WINDOW})]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
