"""A CSV that lies on its side: a row for each metric, a column for each epoch.

Its first line holds the epochs, behind a cell that is empty or says what the rows are, as pandas writes a
history that was transposed: `,0,1,2` and `loss,1.9,1.2,0.9`.
Source: pandas/core/frame.py (`DataFrame.transpose`, `to_csv`)
"""

import csv
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path

from tutor import packed
from tutor.readers.common.guessed import FEW
from tutor.readers.common.rows import number, run_of
from tutor.readers.common.tables import separator
from tutor.readers.source import Source, head
from tutor.run import BadRunError, Run, limits, names

_LOSSES = {"loss", "val_loss"}


@dataclass(frozen=True)
class Across:
    """A run in such a file."""

    path: Path
    format: str = "a CSV with a column for each epoch"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A CSV says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. Raises BadRunError where the file isn't what it was any more."""
        data, _ = packed.read(self.path, limits.PACKED)
        steps, *metrics = _cells(data) or [[]]
        if len(steps) < 1 + FEW:
            raise BadRunError(f"{self.path} has no line any more that counts its columns")
        rows: list[dict[str, float | None]] = [{"epoch": number(step)} for step in steps[1:]]
        for name, *values in metrics:
            for row, value in zip(rows, values, strict=False):
                row[name.strip()] = number(value)
        return run_of(rows, self.path, name=self.path.name)


def sources(path: Path) -> list[Source]:
    """A CSV whose first line counts, and one of whose rows is called as a loss is."""
    if not path.is_file():
        return []
    data = head(path)
    first = next(iter(_cells(data.partition(b"\n")[0])), [])
    counts = [number(step) for step in first[1:]]
    whole = [step for step in counts if step is not None and step.is_integer()]
    if len(whole) < max(FEW, len(counts)) or any(later <= one for one, later in pairwise(whole)):
        return []
    named = [row[0].strip() for row in _cells(data)[1:]]
    told = number(first[0]) is None and all(name and number(name) is None for name in named)
    return [Across(path)] if told and _LOSSES & {*names.known(named).values()} else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """What lies otherwise is another reader's."""
    return None


def _cells(data: bytes) -> list[list[str]]:
    """The cells of each line; [] where the data is no text, or no table."""
    try:
        text = data.decode("utf-8-sig")
        first = text.partition("\n")[0]
        return [row for row in csv.reader(StringIO(text), delimiter=separator(first)) if row]
    except (UnicodeDecodeError, csv.Error):
        return []
