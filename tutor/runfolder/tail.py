"""The tail of a log that is still growing: the whole lines since the last look.

new = tail(path)                    all of it, so far
new = tail(path, new.position)      what has come since; a torn last line waits for the next time
"""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Position:
    """How far a log has been read.

    Attributes:
        file: which file it was: a run that is resumed gets a new one under the same name.
        offset: in bytes, at the end of a line.
    """

    file: int
    offset: int


@dataclass(frozen=True)
class Tail:
    """What has come.

    Attributes:
        data: whole lines, each with its line end.
        position: to go on from.
        anew: whether `data` begins at the log's beginning: on the first look, or because the log is another
            file than before, or shorter.
    """

    data: bytes
    position: Position
    anew: bool


def tail(path: Path, since: Position | None = None) -> Tail:
    """The whole lines of the log after `since`. Raises OSError where it can't be read."""
    with path.open("rb") as log:
        state = os.fstat(log.fileno())
        anew = since is None or since.file != state.st_ino or since.offset > state.st_size
        start = 0 if since is None or anew else since.offset
        log.seek(start)
        data = log.read()
    data = data[: data.rfind(b"\n") + 1]
    return Tail(data, Position(state.st_ino, start + len(data)), anew)
