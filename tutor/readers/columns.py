"""Comma-separated values with a header: a column of steps and one of losses, whatever else there is."""

from dataclasses import dataclass
from pathlib import Path

from tutor.readers.common.rows import run_of_table
from tutor.readers.common.tables import cells, header
from tutor.readers.source import Source
from tutor.run import Run, names
from tutor.words import quoted


@dataclass(frozen=True)
class Table:
    """A run in a CSV file."""

    path: Path
    format: str = "a CSV with a column of steps"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A CSV says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole.

        An empty cell was not logged, `nan` is a NaN.
        """
        import polars as pl  # only who reads a log pays for it

        rows = cells(self.path)
        # Two columns may differ by a blank alone: the first takes the name.
        tidy = {name.strip(): name for name in reversed(rows.columns)}
        rows = rows.select(pl.col(name).alias(new) for new, name in reversed(tidy.items()))
        return run_of_table(rows, self.path)


def sources(path: Path) -> list[Source]:
    """A file whose first line names a column of steps and one of losses."""
    named = [name.strip() for name in header(path)]
    if any(name.endswith("__MIN") for name in named):  # exported from Weights & Biases
        return []
    known = set(names.mapping(named, path).values())
    return [Table(path)] if "step" in known and known & {"loss", "val_loss"} else []


def lacks(path: Path) -> str | None:
    """A CSV whose header names neither, or one of the two."""
    named = [name.strip() for name in header(path)]
    if len(named) < 2 and path.suffix != ".csv":
        return None
    return (
        f"as a CSV it needs a column of steps ({_some('step')}) and one of losses ({_some('loss')}); "
        f"it has {quoted(named)}; "
        "name them with --map loss=COLUMN,step=COLUMN"
    )


def _some(signal: str) -> str:
    return ", ".join(names.KNOWN[signal][:3])
