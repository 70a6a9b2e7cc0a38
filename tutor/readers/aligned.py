"""A table printed for people: names in a heading, values below them, parted by blanks, bars or colons.

fastai's and skorch's progress, Chainer's `PrintReport`, spaCy's, MATLAB's, what YOLO prints of each epoch, a
notebook's table pasted into an issue, a box of `+---+`, bars with several columns between them. The heading
names a counter and a loss, or the parts of one, which are added up as a remark says. What stands between the
rows, and the heading when it comes again, are passed over.
Sources: fastai/callback/progress.py, skorch/callbacks/logging.py, spacy/training/loggers.py,
chainer/training/extensions/print_report.py, ultralytics/engine/trainer.py (`progress_string`),
deepmd/loggers/training.py (`lcurve.out`)
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutor import packed
from tutor.readers.common.guessed import by_errors, in_words, unsaid
from tutor.readers.common.lines import COLOURS, LONGEST, LOOKED_AT, has
from tutor.readers.common.rows import Row, number, run_of
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source
from tutor.run import Remark, Run, called, limits, names, scoring
from tutor.words import quoted

_HEADING = re.compile(
    r"\b(?:epochs?|steps?|episodes?|iter(?:ation)?s?)\b|^\s*(?:E +#|Itn +|e +[:|])",
    re.IGNORECASE | re.MULTILINE,
)
_COLOUR, _BAR = re.compile(COLOURS), re.compile(r"\s[0-9]+%(?:\|| -).*$")
_COMMENT = re.compile(r"^\s*#+ (?=\s*[A-Za-z])")  # how numpy's savetxt begins a heading
_COUNTED = re.compile(
    r"^(\s*\|\s*)(?:epoch|step|iter(?:ation)?)\s+(?=[0-9]+\s*\|)", re.IGNORECASE
)  # `| epoch 1 |`
_UNIT = re.compile(r"([0-9.]) +(?:s|secs?|ms|min|m|h|%)(?=\s|$)")
_BEST = re.compile(r"^(\s*[0-9].*?[0-9.a-z%])\s+[*+★✓✔←]\s*$")  # how a loop marks its best row so far
_RULE = re.compile(r"[-+=|:\s]+")
_BOXES = {
    **dict.fromkeys(map(ord, "│┃║"), "|"),
    **dict.fromkeys(map(ord, "─━═"), "-"),
    **dict.fromkeys(map(ord, "┌┏╔┐┓╗└┗╚┘┛╝├┡┠╠┤┩┨╣┬┳╦┴┻╩┼╇╋╬╞╪╡"), "+"),
}
"""What rich and others draw tables with, as the signs that stand for it in plain text."""
_OF_SETS = re.compile(r"\b(train(?:ing)?|valid(?:ation)?|val|eval|test) (loss)\b", re.IGNORECASE)
_CALLED = {"e": "epoch", "itn": "epoch", "#": "step", "cost": "loss"}  # spaCy's, and of loops on Theano
_PARTS = re.compile(
    r"loss .+|(?:dep|ner|tag|textcat) loss|(?:box|cls|obj|dfl|seg|mask|pose|kobj|giou|lmk)(?:_loss)?",
    re.IGNORECASE,
)
"""The parts of a loss that spaCy and YOLO print."""
_PLACE = re.compile(r"([0-9]+)/[0-9]+$")
_NOTHING, _COLON = "-", " : "
_FEW = 2
"""Rows of a table, at least."""
_NEAR = 6
"""Lines below a heading among which its first row is: rulers, units and blank lines may stand between."""


@dataclass(frozen=True)
class AlignedTable:
    """A run in such a table."""

    path: Path
    format: str = "a printed table"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its columns say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        columns, by, rows = _table(packed.read(self.path, limits.PACKED)[0], self.path)
        parts, remarks = _parts(columns, self.path), list[Remark]()
        if parts:
            rows = [row | {"loss": _sum(row, parts)} for row in rows]
            remarks.append(Remark("summed", {"signal": "loss", "columns": quoted(parts)}))
        if errors := unsaid(_errors(columns, self.path), self.path, columns):
            signals = {column: signal for signal, column in errors.items()}
            rows = [{signals.get(name, name): value for name, value in row.items()} for row in rows]
            remarks.append(Remark("guessed", {"taken": in_words(errors)}))
        epochs = {"loss": WINDOW} if names.spelled(by) == "epoch" else {}
        return run_of(rows, self.path, name=self.path.name, aggregations=epochs, remarks=remarks)


def sources(path: Path) -> list[Source]:
    """A file with such a table."""
    if not has(path, _HEADING):
        return []
    *_, rows = _table(packed.head(path, LOOKED_AT), path)
    return [AlignedTable(path)] if len(rows) >= _FEW else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A text with another table in it is no log that lacks something."""
    return None


def _table(data: bytes, path: Path) -> tuple[Sequence[str], str, list[dict[str, object]]]:
    """The columns of the first heading that names a counter and a loss, that counter, and the rows below.

    Where there is none, a mark at the end of rows may be what has no name in it.
    """
    lines = [_tidied(line) for line in data.replace(b"\r", b"\n").decode("utf-8", "replace").splitlines()]
    if (found := _below_heading(lines, path))[0]:
        return found
    return _below_heading([_BEST.sub(r"\1", line) for line in lines], path)


def _below_heading(lines: Sequence[str], path: Path) -> tuple[Sequence[str], str, list[dict[str, object]]]:
    """As `_table`, of lines."""
    for at, line in enumerate(lines):
        if not _HEADING.search(line):
            continue
        near = lines[at + 1 : at + 1 + _NEAR]
        below = (other for other in near if other.strip() and not _RULE.fullmatch(other))
        second = next(below, "")
        first = second if _counts(_cells(second)) else next(below, "")
        inner = _inner(line, first)
        named = _named_apart(line, lines[at - 1] if at else "", inner) if inner else []
        columns = named or _columns(line, second if first != second else "", len(_cells(first)))
        columns = [_CALLED.get(name.lower(), name.removeprefix("# ")) for name in columns]
        if not (columns and _counts(_cells(first, inner))):
            continue
        found = {signal: name for name, signal in names.mapping(columns, path).items()}
        tells = {"loss", "val_loss"} & found.keys() or _parts(columns, path)
        tells = tells or any(map(scoring.is_reward, columns)) or _errors(columns, path)
        if "step" in found and tells:
            rows = (_cells(below, inner) for below in lines[at + 1 :])
            return columns, found["step"], list(_rows(columns, found["step"], rows))
    return [], "", []


def _tidied(line: str) -> str:
    """A line without colours or a progress bar at its end, its numbers without units or words beside them."""
    plain = _BAR.sub("", _COLOUR.sub("", line[:LONGEST]).translate(_BOXES)).replace("No log", _NOTHING)
    if plain.count(_COLON) > 1 and "|" not in plain:
        plain = plain.replace(_COLON, " | ")
    return _UNIT.sub(r"\1", _COUNTED.sub(r"\1", _COMMENT.sub(" ", plain)))


def _cells(line: str, inner: Sequence[int] = ()) -> list[str]:
    """What bars part, or blanks; of bars with several columns between them, `inner` says how many."""
    if "|" not in line:
        return line.split()
    cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
    if len(cells) != len(inner):
        return cells
    apart = (cell.split() if count > 1 else [cell] for cell, count in zip(cells, inner, strict=True))
    return [one for cell in apart for one in cell]


def _inner(heading: str, row: str) -> list[int]:
    """How many columns there are between the bars, each of a word; none where there is one everywhere."""
    named, given = _cells(heading), _cells(row)
    if "|" not in heading or len(named) != len(given):
        return []
    words = [(name.split(), cell.split()) for name, cell in zip(named, given, strict=True)]
    counts = [
        len(name) if len(name) == len(cell) and all(_value(one) is not None for one in cell) else 1
        for name, cell in words
    ]
    return counts if max(counts) > 1 else []


def _named_apart(heading: str, above: str, inner: Sequence[int]) -> list[str]:
    """The names of the columns between bars, with the set of data that the line above says of them."""
    cells = _cells(heading)
    titles = (one.strip(" -=_*").lower() for one in above.split("|")[int(heading.lstrip().startswith("|")) :])
    sets = [names.set_of(one) or "" for one in titles]
    sets += [""] * (len(cells) - len(sets))
    return [
        f"{of} {name}".strip()
        for cell, count, of in zip(cells, inner, sets, strict=False)
        for name in (cell.split() if count > 1 else [cell])
    ]


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells are a row of values: the first one counts, and half of them are numbers.

    A word for a set of data may stand before it.
    """
    cells = cells[1:] if cells and names.set_of(cells[0]) else cells
    numbers = [_value(cell) is not None for cell in cells]
    return len(cells) > 1 and numbers[0] and 2 * sum(numbers) >= len(numbers)


def _value(cell: str) -> float | None:
    """The number in a cell, of `3/100` the first."""
    place = _PLACE.match(cell)
    return number(place[1] if place else cell.removesuffix(":").removesuffix("%"))


def _columns(heading: str, second: str, count: int) -> list[str]:
    """The names above so many cells; none where they aren't as many."""
    if "|" in heading:
        named = _cells(heading)
        below = _cells(second) if second else []
        if len(below) == len(named):
            named = [f"{above} {name}".strip() for above, name in zip(named, below, strict=True)]
        return named if len(named) == count else []
    apart = [
        re.split(r"\s{2,}|\t", heading.strip()),
        heading.split(),
        _OF_SETS.sub(r"\1_\2", heading).split(),
    ]
    return next((named for named in apart if len(named) == count), [])


def _parts(columns: Sequence[str], path: Path) -> list[str]:
    """The columns that together make the loss; none where another is the loss."""
    parts = [name for name in columns if _PARTS.fullmatch(name)]
    whole = next((name for name, signal in names.mapping(columns, path).items() if signal == "loss"), None)
    return parts if whole is None or (whole in parts and whole not in called.names_for(path).values()) else []


def _errors(columns: Sequence[str], path: Path) -> dict[str, str]:
    """By signal the errors that are minimised, as DeePMD's `rmse_trn`; none where a column is a loss."""
    known = names.mapping(columns, path).values()
    return {} if {"loss", "val_loss"} & {*known} or _parts(columns, path) else by_errors(columns)


def _sum(row: Row, parts: Sequence[str]) -> float | None:
    values = [value for part in parts if (value := number(row.get(part))) is not None]
    return sum(values) if len(values) == len(parts) else None


def _rows(columns: Sequence[str], by: str, lines: Iterable[list[str]]) -> Iterator[dict[str, object]]:
    """The lines of cells, one for each column; of those at one step, as a progress bar's states, the last.

    Where a line says of which set of data it is, the last of each set.
    """
    last: dict[str, object] | None = None
    for cells in lines:
        if len(cells) != len(columns) or not _counts(cells):
            continue
        row: dict[str, object] = {
            name: cell if names.set_of(cell) else _value(cell)
            for name, cell in zip(columns, cells, strict=True)
        }
        if last is not None and (last[by], _said(last)) != (row[by], _said(row)):
            yield last
        last = row
    if last is not None:
        yield last


def _said(row: Row) -> list[object]:
    """Of which set of data a row says that it is."""
    return [value for value in row.values() if isinstance(value, str)]
