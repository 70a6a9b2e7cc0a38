"""A CSV that lies on its side: a row for each metric, a column for each epoch.

Its first line holds the epochs, behind a cell that is empty or says what the rows are, as pandas writes a
history that was transposed: `,0,1,2` and `loss,1.9,1.2,0.9`.
Source: pandas/core/frame.py (`DataFrame.transpose`, `to_csv`)
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path

from tutor import packed
from tutor.readers.common.guessed import FEW
from tutor.readers.common.rows import number, run_of
from tutor.readers.common.tables import separator
from tutor.readers.source import Source, head
from tutor.run import BadRunError, Run, limits, names, vocabulary

_LOSSES = {"loss", "val_loss"}
_CORNERS = ("", "metric", "metrics", "name", "index", "unnamed:_0")
"""What stands above the names of the rows."""


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
    first = next(iter(_cells(head(path).partition(b"\n")[0])), [])
    if not (first and _counts(first[0].strip(), [number(step) for step in first[1:]])):
        return []
    named = [row[0].strip() for row in _cells(packed.read(path, limits.PACKED)[0])[1:]]
    told = all(name and number(name) is None for name in named)
    return [Across(path)] if told and _LOSSES & {*names.known(named).values()} else []


def _counts(corner: str, steps: Sequence[float | None]) -> bool:
    """Whether the first line counts epochs or steps, evenly: not folds, say, nor sizes that were tried."""
    whole = [step for step in steps if step is not None and step.is_integer()]
    even = len({later - one for one, later in pairwise(whole)}) == 1 and whole[-1] > whole[0]
    called = names.spelled(corner) in (*_CORNERS, *vocabulary.KNOWN["step"])
    return called and even and len(whole) == len(steps) >= FEW


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
