"""CSV files: their header, and their cells as text."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.source import first_line
from tutor.run import BadRunError

if TYPE_CHECKING:
    import polars as pl


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


def cells(path: Path) -> "pl.DataFrame":
    """The rows, every cell as text. Raises BadRunError where they can't be read."""
    import polars as pl  # only who reads a log pays for it

    try:
        return pl.read_csv(path, infer_schema=False, truncate_ragged_lines=True)
    except pl.exceptions.PolarsError as error:
        raise BadRunError(f"{path} is no CSV that can be read: {str(error).splitlines()[0]}") from None
