"""Standard output and error as a command needs them, whatever is at their other end.

A reader that has gone, a disk that is full and a stream that was closed are met here, once.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_SENSIBLE = re.compile(r"0*[1-9][0-9]{1,2}", re.ASCII)
"""From 10 to 999 columns."""


class OutputError(Exception):
    """Standard output can't be written: no room, say."""


class _Output(io.RawIOBase):
    """A file descriptor to write on; once its reader has gone, or it failed, all is thrown away.

    `tutor check RUN | true` then ends with the verdict's exit code, as it does without the pipe.
    """

    def __init__(self, descriptor: int, *, vital: bool) -> None:
        self._descriptor, self._vital, self._open = descriptor, vital, True

    def write(self, data: ReadableBuffer, /) -> int:
        """Write; how many bytes were taken.

        Raises:
            OutputError: the first time that it fails, where what is written is vital.
        """
        size = memoryview(data).nbytes
        if not self._open:
            return size
        try:
            return os.write(self._descriptor, data)
        except OSError as error:
            self._open = False
            if self._vital and error.errno != errno.EPIPE:
                raise OutputError(error.strerror) from None
            return size

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """The descriptor: who asks whether this is a terminal, and how wide, gets the true answer."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self._descriptor)


def prepare() -> None:
    """Make standard output and error fit to be printed on, and forget a width that none can have."""
    sys.stdout = _stream(sys.stdout, vital=True)
    sys.stderr = _stream(sys.stderr, vital=False)
    if not _SENSIBLE.fullmatch(os.environ.get("COLUMNS", "80")):
        del os.environ["COLUMNS"]  # a width of 0 would print nothing, one of a million fill the memory


def _stream(given: TextIO | None, *, vital: bool) -> TextIO:
    if given is None:  # closed by who started the process
        return Path(os.devnull).open("w", encoding="utf-8")
    if not isinstance(given, io.TextIOWrapper):
        return given
    given.flush()
    raw = _Output(given.fileno(), vital=vital)
    # A terminal that can't draw ≤ draws ?.
    return io.TextIOWrapper(
        io.BufferedWriter(raw), given.encoding, errors="replace", line_buffering=raw.isatty() or not vital
    )
