"""A promise that wasn't kept, and how it is told."""

import asyncio
import io
import re
import traceback
from pathlib import Path


class BrokenError(AssertionError):
    """A promise that the app didn't keep. Its first line says which.

    Attributes:
        done: how many actions led to it.
    """

    done = 0


def sign(error: BrokenError) -> str:
    """What is broken, without the sizes and steps that differ from play to play."""
    return re.sub(r"\d+", "0", str(error).splitlines()[0])


def tasks() -> str:
    """What every task waits for."""
    told = io.StringIO()
    for task in asyncio.all_tasks():
        task.print_stack(file=told, limit=4)
    return told.getvalue()


def said(error: BaseException) -> str:
    """An exception's kind and the place in tutor that it passed last, then the whole of it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/tutor/" in frame.filename] or frames
    place = f"{'/'.join(Path(ours[-1].filename).parts[-2:])} in {ours[-1].name}" if ours else "?"
    whole = "".join(traceback.format_exception(error, chain=False))
    return f"{type(error).__name__} at {place}: {str(error)[:200]!r}\n{whole}"
