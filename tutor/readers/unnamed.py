"""Numbers without names: a table without a heading, lines `N: value`, or all values on one line.

Each may be wrapped as `tensor(2.5, device='cuda:0')`.

Columns are called by their places, from 1 on. A first column of whole numbers that ascend counts the steps,
and so does a last one that goes up in equal steps; one more is taken for the loss, as a remark tells, or for
the reward in a file that is called after rewards; so is the one of two that falls beside an accuracy, and in
a file that is called after its losses two are those of training and validation. Of others nobody can know
which is which: the user has to say, `--map loss=2,val_loss=3`. It is asked last of all: any list of numbers
looks like that.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import packed
from tutor.readers.common.guessed import (
    BOTH,
    FEW,
    beside_a_score,
    both_losses,
    in_words,
    may_be_loss,
    renamed,
    unsaid,
)
from tutor.readers.common.lines import Line, Lines
from tutor.readers.common.rows import number, run_of_frame, run_of_table
from tutor.readers.common.tables import names_in
from tutor.readers.source import HEAD, Source, head
from tutor.run import Remark, Run, called, limits, scoring
from tutor.run.remark import packed_torn

if TYPE_CHECKING:
    import polars as pl

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|\.[0-9]+(?:e[-+]?[0-9]+)?|nan|inf(?:inity)?)"
_WRAPPED = (
    rf"\b(?:tensor|array|(?:np\.)?float[0-9]{{2}})\(\s*({_NUMBER})"
    r"(?:,[^()\r\n]{0,80}(?:\([^()\r\n]{0,80}\))?)?\s*\)"
)
"""A number as PyTorch and NumPy print it, `tensor(3.2, device='cuda:0')`."""
_QUOTE = '"?'
_BETWEEN = {",": r"\s*,\s*", ";": r"\s*;\s*", "\t": r" *\t *", " ": r"\s+"}
"""What parts the cells of a row, by the sign that is in it. Where that is no blank, a cell may be empty."""
_COUNTED = rf"^\s*(?P<c1>[0-9]+)\s*:\s*(?P<c2>{_NUMBER})\s*$"
_HEADING = re.compile(r"\s*epoch\s*[:#=]?\s*[0-9]+\s*:?\s*$", re.IGNORECASE)
_ODD = r"^\s*(?P<odd>[^ \t\r#])"
_BRACKETS = "[]()"
_UNWRAPPED = re.compile(_WRAPPED, re.IGNORECASE)

_CLOCK = 1e9
"""Seconds or milliseconds since 1970, of this century: what begins there is no counter."""


@dataclass(frozen=True)
class Layout:
    """How the numbers stand in a file.

    Attributes:
        rows: those of its beginning; NaN where a cell is empty.
        line: the pattern of a row; "" where all values are one column, on one line or in brackets.
        alone: whether the file holds nothing but rows.
    """

    rows: Sequence[Sequence[float]]
    line: str = ""
    alone: bool = True

    @property
    def columns(self) -> list[str]:
        """The places of the columns, as they are called."""
        return [str(at + 1) for at in range(len(self.rows[0]))]

    @cached_property
    def counter(self) -> str | None:
        """The column that counts the steps: the first, or else the last, where that counts in equal steps.

        A run that was appended, or an epoch, begins where the first did.
        """
        first, last = self._column("1"), self._column(self.columns[-1])
        if len(self.columns) == 1:
            return None
        if (
            0 <= first[0] < _CLOCK
            and _whole(first)
            and all(one < after or after == first[0] for one, after in pairwise(first))
        ):
            return "1"
        gap = last[1] - last[0]
        evenly = gap > 0 and all(after in (one + gap, last[0]) for one, after in pairwise(last))
        return self.columns[-1] if evenly and _whole(last) and last[0] in (0, 1, gap) else None

    @property
    def values(self) -> list[str]:
        """The columns that are no counter."""
        return [column for column in self.columns if column != self.counter]

    def signals(self, path: Path) -> dict[str, str]:
        """By signal the columns that can be told, in the file of that name."""
        found = {"step": self.counter} if self.counter else {}
        columns = [self._column(place) for place in self.values]
        named = path.name.partition(".")[0]
        if len(columns) == 1 and (self.counter or not _whole(columns[0])) and may_be_loss(named, columns[0]):
            found["loss"] = self.values[0]
        elif len(columns) == 1 and self.counter and scoring.is_reward(named):
            found["reward"] = self.values[0]
        if len(columns) == len(BOTH) and self.counter:
            if (at := beside_a_score(*columns)) is not None:
                found["loss"] = self.values[at]
            elif both_losses(named, *columns):
                found |= zip(BOTH, self.values, strict=True)
        return found

    def _column(self, place: str) -> list[float]:
        return [row[int(place) - 1] for row in self.rows]


def _whole(column: Sequence[float]) -> bool:
    return all(one == one // 1 for one in column)


@dataclass(frozen=True)
class Unnamed:
    """A run in such a file."""

    path: Path
    layout: Layout
    format: str = "numbers without names"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Numbers say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        remarks: list[Remark] = []
        taken = unsaid(self.layout.signals(self.path), self.path, self.layout.columns)
        if taken:
            remarks.append(Remark("unnamed", {"taken": in_words(taken)}))
        if self.layout.line:
            rows = _rows(self.path, self.layout, remarks)
            return run_of_frame(renamed(rows, taken), self.path, name=self.path.name, remarks=remarks)
        values = _values(self.path, remarks)
        return run_of_table(renamed(values, taken), self.path, name=self.path.name, remarks=remarks)


def _rows(path: Path, layout: Layout, remarks: list[Remark]) -> "pl.DataFrame":
    """The columns by their places; of what is no row a remark tells."""
    import polars as pl  # only who reads a log pays for it

    from tutor.readers.common.extract import frame_of

    kinds = (Line(layout.line), Line(_ODD)) if layout.alone else (Line(layout.line),)
    rows = frame_of(path, Lines(kinds, phrases=((_WRAPPED, "{1}"),)), remarks)
    places = [(f"c{place}", place) for place in layout.columns]
    rows = pl.DataFrame([rows[group].alias(place) for group, place in places if group in rows.columns])
    odd = rows.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if odd.any():
        remarks.append(Remark("unnamed_odd", {"count": int(odd.sum())}, unseen=True))
    return rows.filter(~odd)


def _values(path: Path, remarks: list[Remark]) -> "pl.DataFrame":
    """All values as one column, as they are written."""
    import polars as pl  # only who reads a log pays for it

    data, torn = packed.read(path, limits.PACKED)
    if torn:
        remarks.append(packed_torn())
    text = pl.Series("1", [_UNWRAPPED.sub(r"\1", data.decode("utf-8-sig", "replace"))])
    parted = text.str.replace_all(r"[\s,;\[\]()]+", " ").str.strip_chars()
    return parted.str.split(" ").explode().to_frame()


def sources(path: Path) -> list[Source]:
    """A file of numbers of which one column is the loss, as it seems or as the user says."""
    layout = _layout(path)
    if layout is None:
        return []
    said = {signal for signal, column in called.names_for(path).items() if column in layout.columns}
    return [Unnamed(path, layout)] if {*BOTH, "reward"} & {*layout.signals(path), *said} else []


def lacks(path: Path) -> str | None:
    """Numbers of which the user has to say what they are."""
    layout = _layout(path)
    if layout is None:
        first = names_in(path)
        if not first[1:] or any(number(cell) is None for cell in first):
            return None
        return "its first line holds values: put the columns' names above it, as `step,loss`"
    values = layout.values
    if not values[1:]:
        return f"nothing names its numbers: if they are losses, say so with --map loss={values[0]}"
    said = f"--map loss={values[0]},val_loss={values[1]}"
    return f"nothing names its {len(layout.columns)} columns: say by number which are what, as in {said}"


def _layout(path: Path) -> Layout | None:
    """How the numbers stand in a file; None where it holds something else, or hardly any."""
    text = _beginning(path)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) == 1 or text.startswith("["):
        values = [number(one) for one in re.split(r"[\s,;]+", text.strip(f" \n,;{_BRACKETS}"))]
        given = [[one] for one in values if one is not None]
        return Layout(given) if len(given) == len(values) >= FEW else None
    return (_table(lines) or _counted(lines)) if lines else None


def _table(lines: Sequence[str]) -> Layout | None:
    """Rows of as many numbers as the first line has, but for a few lines; one of words there names them.

    `Epoch: 0` is a heading, and names nothing.
    """
    first = lines[1] if _HEADING.match(lines[0]) and lines[1:] else lines[0]
    sign = next((sign for sign in _BETWEEN if sign in first.strip()), " ")
    width = len(re.split(_BETWEEN[sign], first.strip().rstrip(sign)))
    if width > limits.FEW_COLUMNS:
        return None
    optional = "" if sign == " " else "?"
    cells = _BETWEEN[sign].join(f"{_QUOTE}(?P<c{at + 1}>{_NUMBER}){optional}{_QUOTE}" for at in range(width))
    line = rf"^\s*{cells}\s*{sign.strip() and f'{sign}?'}\s*$"
    rows = _matching(line, lines) if _matching(line, [first]) else []
    others = sum(not _HEADING.match(one) for one in lines)
    return Layout(rows, line) if len(rows) >= max(FEW, 0.9 * others) else None


def _counted(lines: Sequence[str]) -> Layout | None:
    """Lines `N: value`, whatever stands between them."""
    rows = _matching(_COUNTED, lines)
    layout = Layout(rows, _COUNTED, alone=False) if len(rows) >= FEW else None
    return layout if layout and layout.counter else None


def _matching(line: str, lines: Sequence[str]) -> list[list[float]]:
    """The rows of the lines that have the pattern."""
    pattern = re.compile(line, re.IGNORECASE)
    found = (pattern.match(one) for one in lines)
    return [[float(cell or "nan") for cell in one.groups()] for one in found if one]


def _beginning(path: Path) -> str:
    """The first whole lines of a file, whole cells of one without an end; "" where it is no text."""
    data = head(path) if path.is_file() else b""
    if b"\0" in data:
        return ""
    text = _UNWRAPPED.sub(r"\1", data.decode("utf-8-sig", "replace").replace("\r", "\n").lstrip())
    if len(data) < HEAD:
        return text
    ends = (text.rfind(sign) for sign in ("\n", *_BETWEEN))
    return text[: next((end for end in ends if end > 0), 0)]
