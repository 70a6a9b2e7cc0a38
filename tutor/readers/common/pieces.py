"""Long files a piece at a time: cut at the ends of lines, and worked on in two threads."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from tutor.packed import Stream

if TYPE_CHECKING:
    import polars as pl

PIECE = 4_000_000
"""Bytes that are worked on at once. More ask for new memory at each step, which takes as long as to read a
third of the log."""

_LONGEST_RECORD = 64_000_000  # bytes
_WORKERS = 2

T = TypeVar("T")


def in_turn(work: Callable[[bytes], T], pieces: Iterator[bytes]) -> Iterator[T]:
    """What the work makes of each piece, in their order; few pieces are in memory at once.

    A short log is worked on here: polars keeps the patterns that it has made for a thread, and a new one
    makes them all anew, which takes longer than the log.
    """
    first = next(pieces, b"")
    if len(first) < PIECE / 2:
        yield work(first)
        yield from map(work, pieces)
        return
    with ThreadPoolExecutor(_WORKERS) as pool:
        waiting: deque[Future[T]] = deque()
        for piece in chain((first,), pieces):
            waiting.append(pool.submit(work, piece))
            if len(waiting) > _WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def whole(tables: "list[pl.DataFrame]") -> "pl.DataFrame":
    """The tables of the pieces, which are given up, as one: the pieces of a column go as it is made whole."""
    import polars as pl  # only who reads a log pays for it

    frame = pl.concat(tables, how="diagonal_relaxed")
    tables.clear()
    return pl.DataFrame({name: frame.drop_in_place(name).rechunk() for name in frame.columns})


def lines_of(file: Stream, longest: int) -> Iterator[bytes]:
    """Whole lines, each with a `\\n` at its end, then the rest: a progress bar's `\\r` ends one too.

    Of a line without end, which may be as long as the file, the first `longest` bytes or more are kept.
    """
    rest = b""
    while data := file.read(PIECE):
        data = data.replace(b"\r", b"\n") if b"\r" in data else data
        if end := data.rfind(b"\n") + 1:
            yield _joined(rest, data, end)
            rest = data[end:]
        else:
            rest = (rest + data)[:longest]
    yield rest


def records_of(file: Stream) -> Iterator[bytes]:
    """Whole lines of which some hold ends of lines inside of quotation marks, and at last what follows.

    Where a quotation mark is never closed, what follows it is cut at the ends of lines all the same.
    """
    rest = b""
    while data := file.read(PIECE):
        end = data.rfind(b"\n") + 1
        marks = 0
        if len(rest) + len(data) < _LONGEST_RECORD:
            marks = marks_in(rest) + marks_in(data, end)
        while end and marks % 2:
            begin = data.rfind(b"\n", 0, end - 1) + 1
            marks -= data.count(b'"', begin, end)
            end = begin
        if end:
            yield _joined(rest, data, end)
            rest = data[end:]
        else:
            rest += data
    yield rest


def _joined(rest: bytes, data: bytes, end: int) -> bytes:
    """The rest and the data up to `end`, copied once: of a long log that takes as long as to read it."""
    return b"".join((rest, memoryview(data)[:end]))


def marks_in(piece: bytes, end: int | None = None) -> int:
    """How many quotation marks there are up to `end`: that there is none is seen far faster than counted."""
    return piece.count(b'"', 0, end) if b'"' in piece else 0
