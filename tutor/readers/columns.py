"""Comma-separated values with a header: a column of steps and one of losses, whatever else there is."""

import csv
from dataclasses import dataclass
from pathlib import Path

from tutor.readers.source import NAMED, Source, first_line
from tutor.run import BadRunError, Manifest, Run
from tutor.words import plain

STEPS = ("step", "global_step", "iteration", "epoch")
LOSSES = ("loss", "train_loss")
"""What columns of steps and of losses are called, the first that is there before the others."""


@dataclass(frozen=True)
class Table:
    """A run in a CSV file.

    Attributes:
        mapping: its names of step and loss, to tutor's.
    """

    path: Path
    mapping: dict[str, str]
    format: str = "a CSV with a column of steps"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A CSV says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole.

        An empty cell was not logged, `nan` is a NaN.
        """
        import polars as pl  # only who reads a log pays for it

        from tutor.run.normalise import normalise

        try:
            rows = pl.read_csv(self.path, infer_schema=False, truncate_ragged_lines=True)
        except pl.exceptions.PolarsError as error:
            raise BadRunError(
                f"{self.path} is no CSV that can be read: {str(error).splitlines()[0]}"
            ) from None
        # Two columns may differ by a blank alone: the first takes the name.
        tidy = {name.strip(): name for name in reversed(rows.columns)}
        rows = rows.select(pl.col(name).alias(new) for new, name in reversed(tidy.items()))
        frame, remarks = normalise(rows, self.mapping, self.path)
        state = self.path.stat()
        return Run(
            path=self.path,
            name=self.path.stem,
            manifest=Manifest(),
            frame=frame,
            remarks=tuple(remarks),
            position=(state.st_ino, state.st_size),
        )


def sources(path: Path) -> list[Source]:
    """A file whose first line names a column of steps and one of losses."""
    mapping = _mapping(_header(path))
    return [Table(path, mapping)] if set(mapping.values()) == {"step", "loss"} else []


def lacks(path: Path) -> str | None:
    """A CSV whose header names neither, or one of the two."""
    header = _header(path)
    if len(header) < 2 and path.suffix != ".csv":
        return None
    return (
        f"as a CSV it needs a column of steps ({', '.join(STEPS)}) and one of losses ({', '.join(LOSSES)}); "
        f"it has {', '.join(f'`{plain(name)}`' for name in header[:NAMED]) or 'none'}"
    )


def _mapping(header: list[str]) -> dict[str, str]:
    """The file's column of steps and that of losses, to tutor's names."""
    pairs = ((STEPS, "step"), (LOSSES, "loss"))
    return {given: ours for known, ours in pairs if (given := next((n for n in known if n in header), None))}


def _header(path: Path) -> list[str]:
    """The names of a CSV's columns; [] where the file is none."""
    if not path.is_file():
        return []
    line = first_line(path)
    if line.startswith((b"{", b"[")):
        return []  # JSON
    try:
        names = next(csv.reader([line.decode().rstrip("\r")]), [])
    except (UnicodeDecodeError, csv.Error):
        return []
    return [name.strip() for name in names] if all(name.isprintable() for name in names) else []
