"""CSV files: their header, their cells as text, and the run in one."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.rows import run_of_table
from tutor.readers.source import first_line
from tutor.run import Aggregation, BadRunError, Run

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Table:
    """A run in a CSV file; `aggregations` as `run_of_table` takes them."""

    path: Path
    format: str
    aggregations: Mapping[str, Aggregation] | None = None

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A CSV says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole.

        An empty cell was not logged, `nan` is a NaN.
        """
        return run_of_table(tidy(cells(self.path)), self.path, aggregations=self.aggregations)


def header(path: Path) -> list[str]:
    """The names of a CSV's columns as they stand; [] where the file is none."""
    if not path.is_file():
        return []
    line = first_line(path)
    if line.startswith((b"{", b"[")):
        return []  # JSON
    try:
        names = next(csv.reader([line.decode().rstrip("\r")]), [])
    except (UnicodeDecodeError, csv.Error):
        return []
    return names if all(name.isprintable() for name in names) else []


def names_in(path: Path) -> list[str]:
    """The names of a CSV's columns without the blanks around them; [] where the file is none."""
    return [name.strip() for name in header(path)]


def cells(path: Path) -> "pl.DataFrame":
    """The rows, every cell as text. Raises BadRunError where they can't be read."""
    import polars as pl  # only who reads a log pays for it

    try:
        return pl.read_csv(path, infer_schema=False, truncate_ragged_lines=True)
    except pl.exceptions.PolarsError as error:
        raise BadRunError(f"{path} is no CSV that can be read: {str(error).splitlines()[0]}") from None


def tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows without the blanks that some tools pad names and cells with.

    Of two names that differ by one alone, the first takes it.
    """
    import polars as pl  # only who reads a log pays for it

    named = {name.strip(): name for name in reversed(rows.columns)}
    if list(named.values()) == list(named):
        return rows
    # Not by an expression: polars takes a name as `*` or `^a$` in one for a pattern.
    return pl.DataFrame([rows[name].str.strip_chars().alias(new) for new, name in reversed(named.items())])


def filled(column: "pl.Series") -> "pl.Series":
    """Whether each cell holds more than blanks."""
    return column.fill_null("").str.strip_chars() != ""
