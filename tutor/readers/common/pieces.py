"""Long files a piece at a time: cut at the ends of lines, and worked on in two threads."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tutor.packed import Stream

PIECE = 16_000_000  # bytes
_LONGEST_RECORD = 4 * PIECE
_WORKERS = 2

T = TypeVar("T")


def in_turn(work: Callable[[bytes], T], pieces: Iterator[bytes]) -> Iterator[T]:
    """What the work makes of each piece, in their order; few pieces are in memory at once."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        waiting: deque[Future[T]] = deque()
        for piece in pieces:
            waiting.append(pool.submit(work, piece))
            if len(waiting) > _WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def lines_of(file: Stream, longest: int) -> Iterator[bytes]:
    """Whole lines, each with a `\\n` at its end, then the rest: a progress bar's `\\r` ends one too.

    Of a line without end, which may be as long as the file, the first `longest` bytes or more are kept.
    """
    rest = b""
    while data := file.read(PIECE):
        piece = rest + (data.replace(b"\r", b"\n") if b"\r" in data else data)
        end = piece.rfind(b"\n") + 1
        rest = piece[end:] if end else piece[:longest]
        if end:
            yield piece[:end]
    yield rest


def records_of(file: Stream) -> Iterator[bytes]:
    """Whole lines of which some hold ends of lines inside of quotation marks, and at last what follows.

    Where a quotation mark is never closed, what follows it is cut at the ends of lines all the same.
    """
    rest = b""
    while data := file.read(PIECE):
        piece = rest + data
        end = piece.rfind(b"\n") + 1
        marks = piece.count(b'"', 0, end) if len(piece) < _LONGEST_RECORD else 0
        while end and marks % 2:
            begin = piece.rfind(b"\n", 0, end - 1) + 1
            marks -= piece.count(b'"', begin, end)
            end = begin
        rest = piece[end:]
        if end:
            yield piece[:end]
    yield rest
