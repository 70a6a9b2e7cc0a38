"""The end of a training, noted beside its log by the loop that closed it: who follows it waits no longer."""

import json
from contextlib import suppress
from pathlib import Path

from tutor import plainfile
from tutor.runfolder import ENDED

_MOST = 1000  # bytes


def note_end(folder: Path, step: int) -> None:
    """Note that the row of `step` is the last.

    Raises:
        OSError: it can't be written.
    """
    plainfile.replace(folder / ENDED, (json.dumps({"step": step}) + "\n").encode())


def forget_end(folder: Path) -> None:
    """The training goes on.

    Raises:
        OSError: the note can't be taken away.
    """
    (folder / ENDED).unlink(missing_ok=True)


def noted_end(folder: Path) -> int | None:
    """The step of the last row there will be; None where nobody has noted any."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        step = json.loads(plainfile.read(folder / ENDED, _MOST))["step"]
        return step if isinstance(step, int) else None
    return None
