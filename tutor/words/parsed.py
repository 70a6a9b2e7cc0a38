"""Parsed YAML, kept between starts: reading JSON takes a tenth of the time that parsing YAML takes.

A first screen needs a tree, its prose and the app's words. Each file is kept under its path with a digest
of its text, so that a changed file is never taken for the old one; nothing is lost when this folder is.
What lies in a folder that another user may write in is neither read nor added to.
"""

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from tutor import paths, plainfile

MOST = 8 * plainfile.MEGABYTE  # what is kept of the largest tree that is read is smaller


def data(path: Path, text: str) -> dict[str, Any] | None:
    """What was kept for the file at `path`, where its text is still `text`."""
    try:
        place = _place(path)
        if not _mine(place.parent):
            return None
        digest, _, kept = plainfile.read(place, MOST).decode().partition("\n")
        found = json.loads(kept) if digest == _digest(text) else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def keep(path: Path, text: str, parsed: Any) -> None:
    """Keep what `text` at `path` was parsed to; what JSON can't say as it was isn't kept.

    A folder that can't be written is no reason to end.
    """
    with suppress(OSError, TypeError, ValueError, RecursionError):
        said = json.dumps(parsed)
        if len(said) > MOST or json.loads(said) != parsed:  # a key that is a number, say
            return
        place = _place(path)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _mine(place.parent):
            plainfile.replace(place, f"{_digest(text)}\n{said}".encode(), ending=f".{os.getpid()}")


def _mine(folder: Path) -> bool:
    """Whether nobody but this user can have written in `folder`."""
    if os.name != "posix":
        return True  # there a user's folders are closed to others by default
    found = folder.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _place(path: Path) -> Path:
    return paths.cache() / "parsed" / f"{_digest(str(path.absolute()))[:24]}.json"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
