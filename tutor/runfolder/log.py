"""A log read from its file: a small one at once, a large one by the columns that a sample of it shows.

Of a large log polars reads what is plain, many times faster than Python could. It takes nothing for plain
that isn't: a row of other columns' types, or a line that is no row, makes it give up. Such a log is read in
pieces, and only the pieces that polars gave up line by line.
"""

import codecs
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from tutor import plainfile
from tutor.run import BadRunError, Remark, limits
from tutor.runfolder.rows import columns_of, is_plain, parse_odd, parse_rows, sample_of, schema_of, whole_rows

_LARGE = 32_000_000  # up to this many bytes every row is looked at for the columns' types
_SAMPLE = 4_000_000  # beyond it, so many at the beginning and at the end
_PIECE = 1_000_000  # bytes of a log that is read in pieces


def read_rows(path: Path, remarks: list[Remark]) -> tuple[pl.DataFrame, int]:
    """The log's rows, and how many bytes of it they take.

    Half a line at the end (a killed run) is passed over, and so is a line in between that is no JSON.

    Raises:
        BadRunError: it holds no row.
        OSError: it is packed and can't be unpacked.
    """
    size = path.stat().st_size
    if path.suffix == ".gz":
        data = whole_rows(plainfile.unpacked(path, limits.PACKED), path, remarks)
        return parse_rows(data, path, remarks), size
    if size > _LARGE and (frame := _plain(path)) is not None:
        return frame, size
    data = whole_rows(path.read_bytes(), path, remarks)
    if len(data) > _LARGE and (read := _in_pieces(data.removeprefix(codecs.BOM_UTF8), path)):
        frame, more = read
        remarks += more
        return frame, len(data)
    return parse_rows(data, path, remarks), len(data)


def _plain(path: Path) -> pl.DataFrame | None:
    """A large log read straight from the disk, or None where anything about it isn't plain."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, path.stat().st_size - _SAMPLE))
        tail = file.read()
    if head.startswith(codecs.BOM_UTF8) or not tail.endswith(b"\n"):
        return None
    try:
        schema = _schema(head, tail)
        return None if schema is None else pl.read_ndjson(path, schema=schema)
    except pl.exceptions.PolarsError:
        return None


def _in_pieces(data: bytes, path: Path) -> tuple[pl.DataFrame, list[Remark]] | None:
    """The rows of a large log of which a few aren't plain, with what is to be said of those.

    None where its columns can't be told by a sample or don't go together, or where those few hold no row.
    """
    remarks: list[Remark] = []
    try:
        schema = _schema(data[:_SAMPLE], data[-_SAMPLE:])
        if schema is None:
            return None
        tables: list[pl.DataFrame | range] = []  # of a piece that polars gave up, the numbers of its lines
        odd: list[tuple[int, bytes]] = []
        number = 1
        for piece in _pieces(data):
            try:
                tables.append(pl.read_ndjson(piece, schema=schema))
                number += piece.count(b"\n")
            except pl.exceptions.PolarsError:
                lines = piece.splitlines()
                tables.append(range(number, number + len(lines)))
                odd += enumerate(lines, number)
                number += len(lines)
        frame, numbers = parse_odd(odd, path, remarks) if odd else (pl.DataFrame(), [])
        rows = [_rows(table, frame, numbers) for table in tables]
        return pl.concat(rows, how="diagonal_relaxed"), remarks
    except (pl.exceptions.PolarsError, BadRunError):
        return None


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


def _schema(head: bytes, tail: bytes) -> Mapping[str, pl.DataType] | None:
    """The columns of the log, by its beginning and its end; None where these don't tell."""
    lines = (head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]).splitlines()
    if columns_of(sample_of(lines), len(lines)) > limits.COLUMNS:
        return None
    remarks: list[Remark] = []
    try:
        schema = schema_of(b"\n".join(lines), remarks)
    except pl.exceptions.PolarsError:  # the sample too holds rows that aren't plain
        schema = schema_of(b"\n".join(line for line in lines if is_plain(line)), remarks)
    return None if remarks else schema
