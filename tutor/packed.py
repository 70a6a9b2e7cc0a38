"""Packed: the bytes of a file in their order, unpacked where gzip packed it, and UTF-8 where it is UTF-16.

Logs are kept as `train.log.gz`, and PowerShell's `>` writes UTF-16. Either is known by its first bytes, not
by its name, and read a piece at a time, so that neither its size nor what it unpacks to fills the memory.
"""

import codecs
import errno
import zlib
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from types import TracebackType
from typing import Self

from tutor import plainfile

_GZIP = b"\x1f\x8b"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PIECE = 1_000_000  # bytes that are unpacked at once


class Stream:
    """A file, opened to be read once from its beginning to its end.

    Attributes:
        packed: whether it is packed.
        torn: whether what is packed ended early or was damaged: what came before was read.
    """

    def __init__(self, path: Path, most: int) -> None:
        """Open the file at `path`, of which no more than `most` bytes are unpacked.

        Raises:
            OddFileError: it is no plain file.
            OSError: it can't be opened.
        """
        self._path, self._most, self._count = path, most, 0
        self._plain = plainfile.opened(path)
        self.packed, self.torn = self._plain.peek(2).startswith(_GZIP), False
        self._unpacked = GzipFile(fileobj=self._plain)
        self._ahead = self._some(2)
        self._decoder = None
        if self._ahead in _WIDE:
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._plain.close()

    @property
    def plain(self) -> bool:
        """Whether the file's own bytes are what is read."""
        return not self.packed and self._decoder is None

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end; of UTF-16 up to half as many more.

        Raises:
            OddFileError: it unpacks to more than was allowed.
        """
        data = self._some(size - len(self._ahead))
        if self._ahead:
            data, self._ahead = self._ahead + data, b""
        if self._decoder is None:
            return data
        return self._decoder.decode(data, final=len(data) < size).encode("utf-8", "replace")

    def _some(self, size: int) -> bytes:
        if not self.packed:
            return self._plain.read(size)
        parts = []
        while size > 0 and (part := self._part(min(size, _PIECE))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _part(self, size: int) -> bytes:
        """What is unpacked next, at least a byte of it; b"" where no more is or can be unpacked."""
        try:
            part = self._unpacked.read1(size)
        except (BadGzipFile, EOFError, zlib.error):
            self.torn = True
            return b""
        self._count += len(part)
        if self._count > self._most:
            why = f"it unpacks to more than {self._most / plainfile.MEGABYTE:g} MB"
            raise plainfile.OddFileError(errno.EFBIG, why, str(self._path))
        return part


def head(path: Path, most: int) -> bytes:
    """The first bytes of the file at `path`, no more than `most`. Raises OSError where it can't be opened."""
    with Stream(path, 2 * most) as file:
        return file.read(most)[:most]


def read(path: Path, most: int) -> tuple[bytes, bool]:
    """The bytes of the file at `path`, and whether it was packed and is torn.

    Raises:
        OddFileError: it is no plain file, or unpacks to more than `most` bytes.
        OSError: it can't be opened.
    """
    with Stream(path, most) as file:
        parts = list(iter(lambda: file.read(_PIECE), b""))
        return b"".join(parts), file.torn
