"""Writing files whole or not at all, one writer at a time; a refusal of the system is one clear line."""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tutor import plainfile
from tutor.words import SaidError

LARGEST = 64 * plainfile.MEGABYTE
"""Bytes of a file that is read; a thousand post-mortems have five million."""

PATIENCE = 10.0
"""Seconds to wait for another tutor that is saving."""


class NotebookError(SaidError):
    """What the notebook can't do.

    Attributes:
        rescued: where the text that couldn't be saved is safe instead, if anywhere.
    """

    part = "notebook"
    rescued: Path | None = None


def rescue(text: str) -> Path:
    """Write `text` to a new file in the temporary folder, where the notebook can't be written.

    Raises:
        NotebookError: that fails too.
    """
    try:
        handle, name = tempfile.mkstemp(prefix="tutor-lesson-", suffix=".md")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise refused(Path(tempfile.gettempdir()), error) from None
    return Path(name)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder`, made where it is missing; what the system refuses inside becomes a NotebookError.

    The system lets go of the lock when its holder dies, so a killed save blocks nobody.
    """
    from filelock import FileLock, Timeout  # only where something is saved: the first screen needs none

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = folder / ".lock"
        if os.path.lexists(lock) and not stat.S_ISREG(lock.lstat().st_mode):
            raise NotebookError("odd_lock", path=str(lock))
        with FileLock(lock, timeout=PATIENCE, poll_interval=0.02):
            yield
    except Timeout:
        raise NotebookError("busy", path=str(folder)) from None
    except plainfile.OddFileError as error:
        raise unreadable(Path(error.filename), error) from None
    except OSError as error:
        raise refused(folder, error) from None


def refused(path: Path, error: OSError) -> NotebookError:
    """What the system refused at `path`, as a line with a way out."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NotebookError("full", path=str(path))
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return NotebookError("read_only", path=str(path))
    if in_the_way := _file_in_the_way(path):
        return NotebookError("no_folder", path=str(in_the_way))
    return NotebookError("unwritable", path=str(path), reason=error.strerror or str(error))


def unreadable(path: Path, error: OSError) -> NotebookError:
    """Why `path` can't be read, as a line with a way out."""
    if in_the_way := _file_in_the_way(path.parent):
        return NotebookError("no_folder", path=str(in_the_way))
    return NotebookError("unreadable", path=str(path), reason=error.strerror or str(error))


def _file_in_the_way(folder: Path) -> Path | None:
    """The file that stands where `folder` or one of the folders around it should be."""
    return next((place for place in (folder, *folder.parents) if place.is_file()), None)


def read(path: Path) -> bytes:
    """The file's bytes, none where it is missing.

    Raises:
        OSError: it is no plain file, or is too large.
    """
    try:
        return plainfile.read(path, LARGEST)
    except FileNotFoundError:
        return b""


def replace(path: Path, content: bytes) -> None:
    """Put `content` at `path` whole or not at all, even in a power cut. The caller holds the lock.

    Raises:
        OSError: it can't be written; what was there stays.
    """
    try:
        path = path.resolve()  # a lessons.md linked from elsewhere stays linked
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
    plainfile.replace(path, content, durable=True)
