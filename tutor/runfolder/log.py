"""A log read from its file: a small one at once, a large one by the columns that a sample of it shows.

Of a large log polars reads what is plain, many times faster than Python could. It takes nothing for plain
that isn't: a row of other columns' types, or a line that is no row, makes it give up; a column that the
sample doesn't show makes tutor give up what it read. Such a log is read in pieces, each by its own columns,
and only the pieces that polars gave up line by line.
"""

import codecs
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from tutor import packed, signals
from tutor.run import BadRunError, Remark, blanks, limits
from tutor.run.remark import packed_torn
from tutor.runfolder.rows import (
    LOOKED_AT,
    columns_of,
    parse_odd,
    parse_rows,
    sample_of,
    schema_of,
    table,
    whole_rows,
)

_LARGE = 32_000_000  # up to this many bytes every row is looked at for the columns' types
_SAMPLE = 4_000_000  # beyond it, so many at the beginning and at the end
_PIECE = 1_000_000  # bytes of a log that is read in pieces

_SPACED = re.compile(rb'"[ \t\r]+:')  # a key that doesn't stand right before its colon
NULL = re.compile(rb'":[ \t\r]*null')


def read_rows(path: Path, remarks: list[Remark]) -> tuple[pl.DataFrame, int]:
    """The log's rows, and how many bytes of it they take.

    Half a line at the end (a killed run) is passed over, and so is a line in between that is no JSON.

    Raises:
        BadRunError: it holds no row.
        OSError: it unpacks to too much.
    """
    size = path.stat().st_size
    with packed.Stream(path, limits.PACKED) as file:
        plain = file.plain
    if plain and size > _LARGE and (frame := _plain(path)) is not None:
        return frame, size
    data, torn = packed.read(path, limits.PACKED)
    if torn:
        remarks.append(packed_torn())
    data = whole_rows(data, path, remarks)
    end = len(data) if plain else size
    if len(data) > _LARGE and (read := _in_pieces(data.removeprefix(codecs.BOM_UTF8), path)):
        frame, more = read
        remarks += more
        return frame, end
    return parse_rows(data, path, remarks), end


def with_nan(rows: pl.DataFrame, path: Path, remarks: list[Remark]) -> pl.DataFrame:
    """The log's rows with NaN for the nulls that end the training loss (see `tutor.run.blanks`).

    In the table a null is also a column that a row leaves out, so the log itself must have it.
    """
    return blanks.with_nan(rows, path, remarks, "null_is_nan", lambda column: _ends_in_null(path, column))


def _ends_in_null(path: Path, column: str) -> bool:
    """Whether each of the last rows has a null under this name."""
    with packed.Stream(path, limits.PACKED) as file:
        plain = file.plain
    if plain:
        begin = max(0, path.stat().st_size - _SAMPLE)
        with path.open("rb") as log:
            log.seek(begin)
            data = log.read()
        data = data.partition(b"\n")[2] if begin else data  # half a line may look like anything
    else:
        data, _ = packed.read(path, limits.PACKED)
    key = re.compile(re.escape(json.dumps(column).encode()) + rb"[ \t\r]*:[ \t\r]*null")
    last = whole_rows(data, path, []).splitlines()[-blanks.LEAST :] if data.strip() else []
    return bool(last) and all(key.search(line) for line in last)


def _plain(path: Path) -> pl.DataFrame | None:
    """A large log read straight from the disk, or None where anything about it isn't plain."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, path.stat().st_size - _SAMPLE))
        tail = file.read()
    if head.startswith(codecs.BOM_UTF8) or not tail.endswith(b"\n"):
        return None
    lines = (head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]).splitlines()
    if columns_of(sample_of(lines), len(lines)) > limits.COLUMNS:
        return None
    remarks: list[Remark] = []
    try:
        schema = schema_of(b"\n".join(lines), remarks)
        if remarks:
            return None
        with ThreadPoolExecutor(1) as beside:  # polars waits for the disk and for its own threads
            colons = beside.submit(_colons, path)
            frame = pl.read_ndjson(path, schema=schema)
    except pl.exceptions.PolarsError:
        return None
    return frame if _holds_all(frame, path, colons.result()) else None


def _holds_all(frame: pl.DataFrame, path: Path, colons: int) -> bool:
    """Whether every value in the file is in the table: polars passes over the columns that it isn't told of.

    There are as many values as keys, and a key ends in a quotation mark and a colon. What looks like that
    inside of a text counts too, so that there can be too many for the table, never too few.
    """
    held, keys = sum(_values(column) for column in frame), 0
    if colons == held:  # far faster to count, and no key is without one
        return True
    for piece in _pieces_of(path):
        here = piece.count(b'":')
        if piece.count(b":") != here and _SPACED.search(piece):
            return False
        keys += here - (len(NULL.findall(piece)) if b"null" in piece else 0)
    return keys == held


def _colons(path: Path) -> int:
    """How many colons the file holds."""
    count, piece = 0, bytearray(_PIECE)
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(piece):
            count += piece.count(b":", 0, size)
    return count


def _values(column: pl.Series) -> int:
    """How many values that aren't null the column has, and the keys inside of them."""
    inner = column.struct.unnest() if isinstance(column.dtype, pl.Struct) else ()
    return len(column) - column.null_count() + sum(_values(field) for field in inner)


def _pieces_of(path: Path) -> Iterator[bytes]:
    """The file, cut at the ends of lines."""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece + file.readline()


def _in_pieces(data: bytes, path: Path) -> tuple[pl.DataFrame, list[Remark]] | None:
    """The rows of a large log that isn't plain, with what is to be said of those that are none.

    None where it has too many columns, or values nested too deep, where the pieces don't go together, or
    where those that polars gave up hold no row.
    """
    if columns_of(sample_of(_spread(data)), data.count(b"\n")) > limits.COLUMNS:
        return None
    remarks: list[Remark] = []
    tables: list[pl.DataFrame | range] = []  # of a piece that polars gave up, the numbers of its lines
    odd: list[tuple[int, bytes]] = []
    number, deep = 1, []
    for piece in _pieces(data):
        frame = table(piece, deep)
        if deep:
            return None
        if frame is not None and frame.width:
            tables.append(frame.with_columns(_as_numbers(column) for column in frame))
            number += piece.count(b"\n")
        else:
            lines = piece.splitlines()
            tables.append(range(number, number + len(lines)))
            odd += enumerate(lines, number)
            number += len(lines)
    try:
        frame, numbers = parse_odd(odd, path, remarks) if odd else (pl.DataFrame(), [])
        rows = [_rows(piece, frame, numbers) for piece in tables]
        return pl.concat(rows, how="diagonal_relaxed"), remarks
    except (pl.exceptions.PolarsError, BadRunError):
        return None


def _as_numbers(column: pl.Series) -> pl.Series:
    """The column as numbers where it is one of numbers and NaN: a text in one piece makes all of it text."""
    if column.dtype != pl.String or signals.kind_of(column.name) != "number":
        return column
    if not column.str.contains("^-?(?:NaN|Infinity)$").any():
        return column
    numbers = column.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() else column


def _rows(piece: pl.DataFrame | range, odd: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    """The piece's table; of one that was read line by line, its part of that table."""
    if isinstance(piece, pl.DataFrame):
        return piece
    first, after = bisect_left(numbers, piece.start), bisect_left(numbers, piece.stop)
    return odd[first:after]


def _pieces(data: bytes) -> Iterator[bytes]:
    """The data, cut at the ends of lines."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + _PIECE) + 1 or len(data)
        yield data[begin:end]
        begin = end


def _spread(data: bytes) -> list[bytes]:
    """Lines from the whole length of the log."""
    begins = (data.find(b"\n", at) + 1 for at in range(0, len(data), max(1, len(data) // LOOKED_AT)))
    return [data[begin : data.find(b"\n", begin)] for begin in begins if begin]
