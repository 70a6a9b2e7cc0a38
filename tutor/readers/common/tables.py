"""CSV files: their header, their cells, a piece of the file at a time, and the run in one."""

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import signals
from tutor.packed import Stream
from tutor.readers import source
from tutor.readers.common.guessed import in_words, renamed, unsaid
from tutor.readers.common.pieces import in_turn, marks_in, records_of, whole
from tutor.readers.common.rows import HELD, PERCENT, number, run_of_table
from tutor.run import Aggregation, BadRunError, Remark, Run, called, limits, names
from tutor.run.blanks import filled, with_nan
from tutor.run.remark import packed_torn
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl

_SAMPLE = 1000  # rows by which the columns of numbers are known
_SAMPLED = 1_000_000  # bytes that hold so many
_DECIMAL_COMMA = re.compile(
    rb"(?:^|[;\t])[ \"]*-?[0-9]+,[0-9]+(?:e[-+]?[0-9]+)?[ \"]*(?=[;\t\r\n]|$)", re.I | re.M
)
_SEPARATORS = (";", "\t")  # in place of a comma, where a header has none


@dataclass(frozen=True)
class Table:
    """A run in a CSV file.

    Attributes:
        path: the file.
        format: what `check` calls it.
        aggregations: as `run_of_table` takes them.
        guessed: by signal the columns that are taken for it, though their own names don't say so.
    """

    path: Path
    format: str
    aggregations: Mapping[str, Aggregation] | None = None
    guessed: Mapping[str, str] = field(default_factory=dict)

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A CSV says nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole.

        An empty cell was not logged, `nan` is a NaN.
        """
        remarks: list[Remark] = []
        rows = tidy(cells(self.path, remarks))
        rows = rows.rename({"": names.free("index", rows.columns)}, strict=False)  # as pandas writes its own
        if taken := unsaid(self.guessed, self.path, rows.columns):
            remarks.append(Remark("guessed", {"taken": in_words(taken)}))
            rows = renamed(rows, taken)
        rows = with_nan(rows, self.path, remarks, "blank_is_nan")
        return run_of_table(rows, self.path, aggregations=self.aggregations, remarks=remarks)


def separator(head: str) -> str:
    """What stands between the names of a header, and the cells below it: a comma, semicolon or tab."""
    if "," in head:
        return ","
    parted = (one for one in _SEPARATORS if one in head and not set(":=") & set(head))  # or a printed line
    return next(parted, ",")


def header(path: Path) -> list[str]:
    """The names of a CSV's columns as they stand; [] where the file is none."""
    if not path.is_file():
        return []
    line = beginning(path).partition(b"\n")[0]
    if line.startswith((b"{", b"[")):
        return []  # JSON
    try:
        head = line.decode().rstrip("\r")
        names = next(csv.reader([head], delimiter=separator(head)), [])
    except (UnicodeDecodeError, csv.Error):
        return []
    return names if all(name.strip().isprintable() for name in names) else []  # some stand behind tabs


def beginning(path: Path) -> bytes:
    """The beginning of a CSV from the line on that names its columns: the first, or the one below comments.

    Raises:
        OSError: it can't be opened.
    """
    data = source.head(path).removeprefix(codecs.BOM_UTF8).lstrip()
    return data[_commented(data) :]


def _commented(data: bytes) -> int:
    """How many bytes of comments stand above the heading; right above values it is the last of them."""
    last = begin = 0
    for line in BytesIO(data):
        if not line.startswith(b"#"):
            first = line.decode("utf-8", "replace").strip()
            values = [number(cell) is not None for cell in first.split(separator(first))]
            return last if all(values) else begin
        last, begin = begin, begin + len(line)
    return 0


def plainly(name: str) -> str:
    """The name of a column without the blanks around it, and without the sign of a comment before it."""
    return name.strip().removeprefix("# ").strip()


def names_in(path: Path) -> list[str]:
    """The names of a CSV's columns without the blanks around them; [] where the file is none."""
    return [plainly(name) for name in header(path)]


def cells(path: Path, remarks: list[Remark]) -> "pl.DataFrame":
    """The rows: columns of numbers where they hold nothing else, and text. Raises BadRunError."""
    import polars as pl  # only who reads a log pays for it

    try:
        with Stream(path, limits.STREAMED) as file:
            pieces = records_of(file)
            first = next(pieces).removeprefix(codecs.BOM_UTF8).lstrip()
            first = first[_commented(first[: source.HEAD]) :]
            head, below = first[: first.find(b"\n") + 1], first[first.find(b"\n") + 1 :]
            rows = chain([below], (piece for piece in pieces if piece and not piece.isspace()))
            if _separator_of(head) != "," and _DECIMAL_COMMA.search(below[:_SAMPLED]):
                rows, first = (piece.replace(b",", b".") for piece in rows), head + below.replace(b",", b".")
            named, numbers = _kinds(first, path)
            if head.count(b'"') % 2:  # a name that is torn between lines
                rows = iter([b"".join(rows)])
            tables = list(in_turn(partial(_table, head, named, numbers), rows))
            if file.torn:
                remarks.append(packed_torn())
        frame = whole(tables)
    except pl.exceptions.PolarsError as error:
        raise BadRunError(f"{path} is no CSV that can be read: {str(error).splitlines()[0]}") from None
    said = called.names_for(path).values()
    if places := [name for name in frame.columns if name not in (*named, *said)]:
        remarks.append(Remark("wider", {"columns": quoted(places), "first": places[0]}, unseen=True))
    return _below_headings(_bare(_bare(frame, HELD), PERCENT))


def _bare(rows: "pl.DataFrame", held: str) -> "pl.DataFrame":
    """The rows with the number in place of what it is held in, as a tensor that a loop wrote as it prints."""
    import polars as pl  # only who reads a log pays for it

    texts = [column for column in rows if column.dtype == pl.String and column.str.contains(held).any()]
    return rows.with_columns(column.str.replace(held, "$1") for column in texts)


def _below_headings(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows without those that are the heading again; how many of these stand above each is a column."""
    import polars as pl  # only who reads a log pays for it

    named = [column for column in rows if plainly(column.name)]
    if not named or any(column.dtype != pl.String for column in named):
        return rows  # where names stand below it, a column is no numbers
    again = pl.repeat(True, rows.height, dtype=pl.Boolean, eager=True)
    for column in named:
        again &= (column.str.strip_chars() == column.name.strip()).fill_null(False)
    if not again.any():
        return rows
    return rows.with_columns(again.cum_sum().cast(pl.Int64).alias(names.HEADINGS)).filter(~again)


def tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows without the blanks that some tools pad names and cells with.

    Of two names that differ by one alone, the first takes it.
    """
    import polars as pl  # only who reads a log pays for it

    named = {plainly(name): name for name in reversed(rows.columns)}
    if list(named.values()) == list(named):
        return rows
    # Not by an expression: polars takes a name as `*` or `^a$` in one for a pattern.
    return pl.DataFrame({new: _stripped(rows[name]) for new, name in reversed(named.items())})


def _stripped(column: "pl.Series") -> "pl.Series":
    return column if column.dtype.is_numeric() else column.str.strip_chars()


def _kinds(first: bytes, path: Path) -> tuple[list[str], Mapping[str, "pl.DataType"]]:
    """The columns and, by the first rows, those that hold a number each, whole where they are steps."""
    import polars as pl  # only who reads a log pays for it

    sample = _read(_mended(first[:_SAMPLED]), {}, rows=_SAMPLE, ragged=True)
    known = names.mapping((plainly(name) for name in sample.columns), path)
    found: dict[str, pl.DataType] = {}
    for name in sample.columns:
        signal = known.get(plainly(name), plainly(name))
        if signal == "step":
            found[name] = pl.Int64()
        elif signals.kind_of(signal) == "number" and _number(sample[name]).dtype == pl.Float64:
            found[name] = pl.Float64()
    return sample.columns, found


def _table(
    head: bytes, named: Sequence[str], numbers: Mapping[str, "pl.DataType"], rows: bytes
) -> "pl.DataFrame":
    """The rows of a piece, whose columns are `named`; a column in which not all are numbers is text."""
    import polars as pl  # only who reads a log pays for it

    # A number that opens a quotation makes polars panic.
    if rows and not rows.isspace() and marks_in(rows) % 2 == 0:
        kinds = {name: numbers.get(name, pl.String()) for name in named}
        # Without its header, a piece whose first row is short is taken for a narrower table.
        with suppress(pl.exceptions.ComputeError, pl.exceptions.SchemaError):
            return pl.read_csv(rows, separator=_separator_of(head), has_header=False, schema=kinds)
    piece = head + rows
    if marks_in(piece) % 2 == 0:
        with suppress(pl.exceptions.ComputeError):
            return _read(piece, numbers)
    frame = _wide(_mended(piece))
    return frame.with_columns(_number(frame[name]) for name, kind in numbers.items() if kind == pl.Float64)


def _wide(piece: bytes) -> "pl.DataFrame":
    """The rows as text; cells beyond the last name of the header are columns by their places, from 1 on."""
    frame, text = _read(piece, {}, ragged=True), piece.decode()
    head = text[: text.find("\n") + 1]
    with suppress(csv.Error):  # what Python's reader takes for no table keeps its named columns
        widest = max(map(len, csv.reader(StringIO(text), delimiter=separator(head))), default=0)
        if frame.width < widest <= limits.COLUMNS and head.count('"') % 2 == 0:
            places = [str(place) for place in range(frame.width + 1, widest + 1)]
            wider = separator(head).join([head.rstrip("\r\n"), *places])
            wide = _read(f"{wider}\n{text[len(head) :]}".encode(), {}, ragged=True)
            return wide.select(frame.columns + [place for place in places if filled(wide[place]).any()])
    return frame


def _separator_of(head: bytes) -> str:
    return separator(head.decode("utf-8", "replace"))


def _mended(data: bytes) -> bytes:
    """Valid UTF-8, which polars insists on."""
    return data.decode("utf-8", "replace").encode()


def _number(cells: "pl.Series") -> "pl.Series":
    """The cells as numbers, or as they are where some say something else."""
    import polars as pl  # only who reads a log pays for it

    from tutor.run.normalise import ABSENT

    text = cells.alias("").str.strip_chars()  # polars takes some names for patterns
    number = text.cast(pl.Float64, strict=False)
    odd = number.is_null() & text.is_not_null() & ~text.str.to_lowercase().is_in(ABSENT)
    return (text if odd.any() else number).alias(cells.name)


def _read(
    data: bytes, kinds: Mapping[str, "pl.DataType"], *, rows: int | None = None, ragged: bool = False
) -> "pl.DataFrame":
    """The data as a table. Raises polars' ComputeError where a cell isn't of its kind, or has no name."""
    import polars as pl  # only who reads a log pays for it

    return pl.read_csv(
        data,
        separator=_separator_of(data[: data.find(b"\n") + 1]),
        schema_overrides=kinds,
        infer_schema=False,
        truncate_ragged_lines=ragged,
        n_rows=rows,
    )
