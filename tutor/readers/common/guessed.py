"""Guesses of which columns of a log are which signals, where its own words don't say so."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tutor.readers.common.groups import HELD_OUT, SETS
from tutor.readers.common.rows import number
from tutor.run import called, names

if TYPE_CHECKING:
    import polars as pl


BOTH = ("loss", "val_loss")
"""The signals of two columns beside a counter, in a file that is called after its losses."""

FEW = 5
"""Values from which on a list without a name may be a log."""

_A_LOSS = re.compile(r"loss|cost|nll|perplexity|ppl|entropy", re.IGNORECASE)
_NO_LOSS = re.compile(
    r"acc|reward|return|score|time|label|target|pred|metric|norm|(?<![a-z])(?:lr|rates?|f1|auc)(?![a-z])",
    re.IGNORECASE,
)
"""Words in a name that say that numbers are losses, and that they are something else."""


_ERROR = re.compile(
    r"(?:(?P<set>[a-z]+)[_/])?(?:r?mse|mae|nll|b?ce|bp[dcb]|cost|err(?:or)?|mean_squared_error|mean_absolute_error"
    r"|smooth_l1|huber)(?:[_/](?P<of>[a-z]+))?$",
    re.IGNORECASE,
)
"""The name of an error that a run may minimise, with or without a set of data before it or after."""
_PERCENT = 100
"""The most that an accuracy in percent comes to."""
PERPLEXITY = {"ppl", "perplexity"}
"""Words for the exponential of a loss in nats."""


def says_loss(named: str) -> bool | None:
    """Whether a name says that numbers are losses; None where it says nothing of them."""
    if _A_LOSS.search(named) or _NO_LOSS.search(named):
        return bool(_A_LOSS.search(named))
    return None


def says_losses(named: str) -> bool:
    """Whether a name says that all that a file holds is losses."""
    return bool(_A_LOSS.search(named)) and not _NO_LOSS.search(named)


def both_losses(named: str, first: Sequence[float | None], second: Sequence[float | None]) -> bool:
    """Whether two columns in a file of that name are the losses of training and validation.

    Not where the first falls and the second rises between 0 and 1, as an accuracy does.
    """
    trained, other = (
        [one for one in column if one is not None and not isnan(one)] for column in (first, second)
    )
    if not (says_losses(named) and trained and other):
        return False
    (began, ended), (low, high) = ends(trained), ends(other)
    return not (all(0 <= one <= 1 for one in other) and low < high and ended < began)


def beside_a_score(first: Sequence[float], second: Sequence[float]) -> int | None:
    """Which of two columns falls as a loss does, while the other rises between 0 and 1 as an accuracy does.

    None where that fits neither way, or both.
    """
    columns = [[one for one in column if not isnan(one)] for column in (first, second)]
    if not all(columns):
        return None
    rises = [all(0 <= one <= 1 for one in column) and _risen(column) for column in columns]
    falls = [_risen([-one for one in column]) for column in columns]
    fits = [at for at in (0, 1) if falls[at] and rises[1 - at]]
    return fits[0] if len(fits) == 1 else None


def _risen(column: Sequence[float]) -> bool:
    begun, ended = ends(column)
    return begun < ended


def may_be_loss(named: str, column: Sequence[float]) -> bool:
    """Whether the only column of values may be a loss.

    The file's name tells or, where it says nothing, that the column doesn't rise as an accuracy does, between
    0 and 1 or in percent.
    """
    said = says_loss(named)
    if said is not None:
        return said
    begun, ended = ends(column)
    return not (all(0 <= one <= _PERCENT for one in column) and ended > begun)


def by_names(columns: Mapping[str, Sequence[object]], words: str) -> dict[str, str]:
    """By signal the columns that may be losses by their names, in a log in which no name says loss.

    Args:
        columns: the values by name, as they were written.
        words: what the file is called, and the keys that lead to the columns.
    """
    ways = (_by_sets(columns, words), _by_pairs(columns, words), _by_total(columns, words))
    return next(filter(None, ways), None) or by_errors(columns)


def of_perplexity(columns: Iterable[str]) -> dict[str, str]:
    """By signal the perplexities whose logarithm is the loss, of a log that names no loss."""
    found: dict[str, str] = {}
    for name in columns:
        words = set(names.plainly(name).replace("/", "_").split("_"))
        if PERPLEXITY & words and words <= {*PERPLEXITY, *SETS}:
            found.setdefault("val_loss" if HELD_OUT & words else "loss", name)
    return found


def is_error(name: str) -> bool:
    """Whether the name is that of an error which a run may minimise."""
    return bool(_ERROR.match(names.plainly(name)))


def _error_on(name: str) -> str | None:
    """The set of data that an error's name says, "" where it says none; None for what is no error's name."""
    error = _ERROR.match(names.plainly(name))
    if error is None or (error["set"] and error["of"]):
        return None
    return error["set"] or error["of"] or ""


def by_errors(columns: Iterable[str]) -> dict[str, str]:
    """By signal the errors that regression minimises; none in a table that counts no steps, as of models."""
    columns = [*columns]
    if "step" not in names.known(columns).values():
        return {}
    found: dict[str, str] = {}
    for name in columns:
        on = _error_on(name)
        if on in ("", "fit", *SETS):
            found.setdefault("val_loss" if on in HELD_OUT else "loss", name)
    return found


def held_out_error(columns: Mapping[str, Sequence[object]], loss: str) -> dict[str, str]:
    """The error on held-out data of a run that logs no other evaluation, if it begins as high as the loss.

    Else the two may differ in unit: a loss may be the squared error, and the other its root.
    """
    trained = _first(columns.get(loss, ()))
    for name in columns:
        value = _first(columns[name])
        if _error_on(name) in HELD_OUT and trained and value and 1 / 2 <= value / trained <= 2:
            return {"val_loss": name}
    return {}


def _first(column: Sequence[object]) -> float | None:
    """The first number of a column."""
    return next((value for one in column if (value := number(one)) is not None and not isnan(value)), None)


def _by_sets(columns: Mapping[str, Sequence[object]], words: str) -> dict[str, str]:
    """By signal the columns named after a set of data alone, `train` and `val`, if they may be losses."""
    sets = {plain: name for name in columns if (plain := names.plainly(name)) in SETS}
    if "train" not in sets or not a_loss(columns[sets["train"]], words):
        return {}
    held_out = next((name for plain, name in sets.items() if plain in HELD_OUT), None)
    return {"loss": sets["train"]} | ({"val_loss": held_out} if held_out else {})


def _by_pairs(columns: Mapping[str, Sequence[object]], words: str) -> dict[str, str]:
    """In a file of losses, the first two columns that differ in the set alone: `train mate`, `val mate`."""
    if not says_losses(words) or any(map(_NO_LOSS.search, columns)):
        return {}
    parted = {frozenset(re.split(r"[^a-z0-9]+", names.plainly(name))): name for name in columns}
    for called_so, name in parted.items():
        if "train" not in called_so:
            continue
        beside = (parted.get((called_so - {"train"}) | {held_out}) for held_out in sorted(HELD_OUT))
        if held_out := next(filter(None, beside), None):
            return {"loss": name, "val_loss": held_out}
    return {}


def _by_total(columns: Mapping[str, Sequence[object]], words: str) -> dict[str, str]:
    """In a file of losses, the one total that isn't 0 all along, as a phase without labels leaves it."""
    if not says_losses(words):
        return {}
    totals = [name for name in columns if "total" in names.plainly(name).split("_")]
    totals = [name for name in totals if any(number(one) for one in columns[name])]
    return {"loss": totals[0]} if len(totals) == 1 else {}


def a_loss(column: Sequence[object], words: str) -> bool:
    """Whether values are losses, as words around them say or, where they say nothing, their course does.

    An accuracy doesn't fall, and lies between 0 and 1, or rises in percent.
    """
    said = says_loss(words)
    values = [value for one in column if (value := number(one)) is not None and not isnan(value)]
    if said is not None or not values:
        return bool(said)
    begun, ended = ends(values)
    share = all(0 <= one <= 1 for one in values)
    percent = all(0 <= one <= _PERCENT for one in values)
    return ended < begun or (not share and not (percent and ended > begun))


def ends(column: Sequence[float]) -> tuple[float, float]:
    """The medians of the first and of the last third of the values."""
    third = max(1, len(column) // 3)
    return median(column[:third]), median(column[-third:])


def unsaid(guessed: Mapping[str, str], log: Path, columns: Collection[str]) -> dict[str, str]:
    """By signal the columns that the reader of `log` guesses, but for what the user has named.

    Names that the user gave for a whole folder count only if they are among the log's own `columns`.
    """
    said = {signal: column for signal, column in called.names_for(log).items() if column in columns}
    return {
        signal: column
        for signal, column in guessed.items()
        if signal not in said and column not in said.values()
    }


def renamed(rows: "pl.DataFrame", signals: Mapping[str, str]) -> "pl.DataFrame":
    """The rows with each of these columns named after its signal."""
    return rows.rename({column: signal for signal, column in signals.items()}, strict=False)


def in_words(signals: Mapping[str, str]) -> str:
    """Which column is taken for what, as remarks tell it: the step and the losses first."""
    order = dict.fromkeys(["step", "loss", "val_loss", *signals])
    return ", ".join(f"{signal} = `{column}`" for signal in order if (column := signals.get(signal)))
