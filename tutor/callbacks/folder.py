"""Which folder a run is recorded in: none is overwritten, and a run that is resumed goes on in its own."""

from itertools import count, takewhile
from os import PathLike
from pathlib import Path

from tutor import terminal
from tutor.runfolder import PACKED


def folder_for(asked: str | PathLike[str], step: int, *, main: bool = True) -> Path:
    """The folder to record in.

    Training that begins gets `asked`, or the first free one of `asked-2`, `asked-3` ... where there is
    something, and a line says so. Training that goes on gets the last of these that exists, unless its log
    was packed, as that of a run that is over.

    Args:
        asked: as the user gave it.
        step: that training begins or goes on with.
        main: whether this process is the one that writes, and speaks.
    """
    first = Path(asked)
    names = (first if number == 1 else first.with_name(f"{first.name}-{number}") for number in count(1))
    taken = list(takewhile(Path.exists, names))
    if step and taken and not (taken[-1] / PACKED).exists():
        return taken[-1]
    free = first.with_name(f"{first.name}-{len(taken) + 1}") if taken else first
    if taken and main:
        terminal.warn(f"tutor: {first} exists, and a run is never overwritten: this one goes to {free}")
    return free
