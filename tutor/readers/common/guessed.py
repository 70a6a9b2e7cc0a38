"""What a log's own words don't say and a reader takes on trust: which of its columns are which signals."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.run import called

if TYPE_CHECKING:
    import polars as pl


def unsaid(guessed: Mapping[str, str], log: Path) -> dict[str, str]:
    """By signal the columns that the reader of `log` guesses, but for those that the user speaks of."""
    said = called.names_for(log)
    return {
        signal: column
        for signal, column in guessed.items()
        if signal not in said and column not in said.values()
    }


def renamed(rows: "pl.DataFrame", signals: Mapping[str, str]) -> "pl.DataFrame":
    """The rows with each of these columns called as its signal."""
    return rows.rename({column: signal for signal, column in signals.items()}, strict=False)


def in_words(signals: Mapping[str, str]) -> str:
    """Which column is taken for what, as remarks tell it: the step and the losses first."""
    order = dict.fromkeys(["step", "loss", "val_loss", *signals])
    return ", ".join(f"{signal} = `{column}`" for signal in order if (column := signals.get(signal)))
