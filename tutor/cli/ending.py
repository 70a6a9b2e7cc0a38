"""How a command ends: whatever happens, an exit code that means what it says, and at most one plain line.

0, 1 and 3 are verdicts; bad input, and what nobody foresaw, end with 2.
"""

import os
import sys
import traceback
from collections.abc import Callable, Collection
from pathlib import Path

from typer.exceptions import Abort, TyperException

from tutor import terminal
from tutor.terminal.streams import OutputError

BAD, INTERRUPTED = 2, 130
"""Exit codes: bad input or a failure of ours; 128 + SIGINT, as shells have it."""

VERDICTS = (("flaw", 1), (None, BAD), ("undecided", 3), ("healthy", 0))
"""Verdicts and their exit codes, what matters most first; None is a run that can't be checked."""

DEBUG = "TUTOR_DEBUG"
"""The environment's variable that asks for tracebacks."""


def of_verdicts(verdicts: Collection[str | None]) -> int:
    """The exit code of a check of one run or several: what is wrong with one is never hidden by another."""
    return next((code for verdict, code in VERDICTS if verdict in verdicts), BAD)


def run(command: Callable[[], object]) -> int:
    """Run a command to its end, and what it printed out to the terminal; the exit code."""
    try:
        return _attempt(command)
    except OutputError as error:
        terminal.refuse(f"standard output can't be written: {error}")
        return BAD


def _attempt(command: Callable[[], object]) -> int:
    try:
        code = command()
    except SystemExit as error:
        code = error.code
    except TyperException as error:
        context = getattr(error, "ctx", None)
        asked = context.command_path if context else "tutor"
        terminal.refuse(f"{error.format_message()} ({asked} --help says what there is)")
        code = error.exit_code
    except (KeyboardInterrupt, Abort):
        code = INTERRUPTED
    except OutputError:
        raise
    except BaseException as error:  # polars' panics are no Exceptions
        terminal.refuse(_unforeseen(error))
        code = BAD
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _unforeseen(error: BaseException) -> str:
    """One line on an error that nobody foresaw, and how to report it; with $TUTOR_DEBUG its traceback."""
    if not _has_folder():
        return "the working folder is gone: change to one that exists (cd), and run the command again"
    if os.environ.get(DEBUG):
        return "".join(traceback.format_exception(error))
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(Path(__file__).parents[1])]
    place = f" in {Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else ""
    what = " ".join(str(error).split())[:200]
    return (
        f"a mistake in tutor, not in your run: {type(error).__name__}{place}{': ' if what else ''}{what}; "
        f"to report it, run the command again with {DEBUG}=1 and send what it prints"
    )


def _has_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return False
    return True
