"""Which of the columns that a loop printed are taken for the losses and the other signals.

A loop may say a number twice, under two names: one of them is left out. Where it names no loss, the logarithm
of a perplexity is one, or else an error that regression minimises.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.guessed import by_errors, of_perplexity, renamed
from tutor.readers.common.roles import role
from tutor.readers.common.rows import zeros_last
from tutor.run import called, names

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Columns:
    """The columns of a run, and what they are taken for.

    Attributes:
        rows: with the columns that are kept, and those of losses that the log gives as perplexities.
        signals: by signal what the log calls its column.
        perplexities: by signal the perplexity whose logarithm is that loss.
        loss: the column of the rows that is read as the loss.
    """

    rows: "pl.DataFrame"
    signals: Mapping[str, str]
    perplexities: Mapping[str, str]
    loss: str


def chosen_columns(rows: "pl.DataFrame", path: Path) -> Columns:
    """Which columns of the file's rows are kept, and what they are taken for; what the user named is kept.

    Each of the rows has its `step`.
    """
    said = [*called.names_for(path).values()]
    for left_out in (_equal_to_step, _spelled_otherwise, _sparse_loss):
        rows = rows.drop(left_out(rows, said))
    rows, perplexities = _with_losses(zeros_last(rows, path), path)
    signals = {signal: column for column, signal in names.mapping(rows.columns, path).items()}
    errors = by_errors(rows.columns) if "loss" not in signals else {}
    errors = {signal: column for signal, column in errors.items() if signal not in signals}
    loss = "loss" if "loss" in errors else signals.get("loss", "loss")
    return Columns(renamed(rows, errors), signals | errors, perplexities, loss)


def _equal_to_step(rows: "pl.DataFrame", said: Collection[str]) -> list[str]:
    """The counters that say the same as the steps, but for those that the user `said`."""
    if "step" not in rows.columns:  # the steps are called by the user's own word
        return []
    counters = [name for name in rows.columns if role(name) == "per_step" and name not in ("step", *said)]
    return [name for name in counters if rows[name].equals(rows["step"].cast(rows[name].dtype))]


def _spelled_otherwise(rows: "pl.DataFrame", said: Collection[str]) -> list[str]:
    """The columns whose names differ from another's in spelling alone, and which fewer rows have.

    `new best model saved (val_loss: 5.05)` says a few of the values of `Validation loss` once more.
    """
    values = [name for name in rows.columns if role(name) in (None, "loss")]
    fullest: dict[str, str] = {}
    for name in sorted(values, key=lambda one: rows[one].null_count()):
        fullest.setdefault(names.plainly(name), name)
    return [name for name in values if name not in (*fullest.values(), *said)]


def _sparse_loss(rows: "pl.DataFrame", said: Collection[str]) -> list[str]:
    """The column taken for the loss, where another that is one as well has more than twice as many values.

    The line of progress in which a log was cut off may say `loss` once, where six epochs say `Training Loss`.
    """
    taken = next((name for name, signal in names.known(rows.columns).items() if signal == "loss"), None)
    others = (name for name in rows.columns if name != taken and names.known([name]).get(name) == "loss")
    fullest = max((rows[name].count() for name in others), default=0)
    return [taken] if taken and taken not in said and fullest > 2 * rows[taken].count() else []


def _with_losses(rows: "pl.DataFrame", path: Path) -> tuple["pl.DataFrame", dict[str, str]]:
    """The rows, with the logarithm of a perplexity as the loss of each set of data without a printed loss;
    and by signal those perplexities.
    """
    known = set(names.mapping(rows.columns, path).values())
    found = {signal: name for signal, name in of_perplexity(rows.columns).items() if signal not in known}
    for signal, name in found.items():
        rows = rows.with_columns(rows[name].log().alias(signal))
    return rows, found
