"""Plain files: read up to a size, written whole or not at all.

What lies at a path may be anything: a pipe that nobody writes to, a device without end, a link that someone
else put there. Neither reading nor writing here waits for one, follows one out of a folder by surprise, or
takes more memory than was meant. What is refused is an OSError whose `strerror` says why.
"""

import errno
import os
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

MEGABYTE = 1_000_000


class OddFileError(OSError):
    """A folder, a pipe, a device or a socket where a plain file has to be, or a file that is too large."""


def read(path: Path, most: int) -> bytes:
    """The bytes of the file at `path`.

    Raises:
        OddFileError: it is no plain file, or holds more than `most` bytes.
        OSError: it can't be opened.
    """
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OddFileError(errno.EFBIG, f"it is larger than {most / MEGABYTE:g} MB", str(path))
    return data


def opened(path: Path) -> BufferedReader:
    """The plain file at `path`, to be read.

    Raises:
        OddFileError: it is no plain file.
        OSError: it can't be opened.
    """
    _refuse_odd(path.stat(), path)  # opening a device can do things
    return cast(BufferedReader, _opened(path, os.O_RDONLY))


def append_line(path: Path, line: bytes) -> None:
    """Add `line` (without its end) to the file at `path`, made where it is missing.

    A torn last line, of a writer that was killed, is ended first.

    Raises:
        OSError: it can't be written, or is no plain file; what was in it stays.
    """
    if path.exists():
        _refuse_odd(path.stat(), path)
    with _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as file:
        if size := file.seek(0, os.SEEK_END):
            file.seek(size - 1)
        torn = size and file.read(1) != b"\n"
        file.write((b"\n" if torn else b"") + line + b"\n")


def replace(path: Path, content: bytes | memoryview, *, durable: bool = False, ending: str = ".part") -> None:
    """Put `content` at `path` whole or not at all, whenever the process is killed.

    It goes through a temporary file beside it, `.<name><ending>`: what a killed writer left is removed by the
    next. Writers that may write at once hold a lock, or have endings of their own.

    Args:
        path: what is there must be a plain file, or nothing; its permissions stay.
        content: all of it.
        durable: wait until the disk has it, so that a power cut loses nothing either.
        ending: of the temporary file.

    Raises:
        OSError: it can't be written; what was at `path` stays.
    """
    mode = None
    if os.path.lexists(path):
        _refuse_odd(found := path.stat(), path)
        mode = stat.S_IMODE(found.st_mode)
    temporary = path.with_name(f".{path.name}{ending}")
    temporary.unlink(missing_ok=True)  # a link goes, and what it leads to stays
    try:
        with temporary.open("xb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, path)  # noqa: PTH105 - the atomic one, by its own name
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    if durable and os.name == "posix":  # the new name survives a power cut only once the folder is on disk
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _opened(path: Path, flags: int) -> BinaryIO:
    """The plain file at `path`, opened; nothing waits where it has become another thing meanwhile."""
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0), 0o666)
    try:
        _refuse_odd(os.fstat(handle), path)
        mode = "rb" if flags == os.O_RDONLY else "rb+"
        return os.fdopen(handle, mode)
    except BaseException:
        os.close(handle)
        raise


def _refuse_odd(found: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise OddFileError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OddFileError(errno.EINVAL, "it is a pipe, a device or a socket, not a plain file", str(path))
