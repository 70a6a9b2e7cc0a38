"""Telling: the command that somebody wants run when a verdict changes, a run falls silent, or it ends.

It comes from the user's own command line, and is given to the shell as it stands. What was found never
becomes a part of it: that lies in its environment, and on its standard input as JSON.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tutor.following.watching import Event
from tutor.words import plain

WHEN = ("flaw", "change", "silent", "end")
"""What a command can be run on."""

LONGEST = 60.0
"""Seconds that it may take."""


def wanted(asked: str) -> frozenset[str]:
    """What a command is to be run on, as `--on` takes it: one of `WHEN`, or several with commas.

    Raises:
        ValueError: one of them is none.
    """
    found = frozenset(one.strip() for one in asked.split(","))
    if odd := sorted(found - {*WHEN}):
        raise ValueError(f"--on takes {', '.join(WHEN)}, or several with commas between; not {odd[0]!r}")
    return found


def occasion(event: Event, asked: frozenset[str]) -> str | None:
    """On which of those asked for the event is; None where it is none of them."""
    happens = {
        "flaw": event.new_flaw,
        "change": event.kind == "verdict" and not event.first,
        "silent": event.kind == "silent",
        "end": event.kind == "end",
    }
    return next((one for one in WHEN if one in asked and happens[one]), None)


def tell(
    command: str, on: str, found: Mapping[str, Any], sentence: str, longest: float = LONGEST
) -> str | None:
    """Run the command, and wait for it.

    Args:
        command: for the shell.
        on: one of `WHEN`.
        found: as `tutor check --json` has it.
        sentence: what was found, in words.
        longest: seconds that it may take; then it is killed, with all that it began.

    Returns:
        Why it failed, in a few words; None where it didn't.
    """
    try:
        process = subprocess.Popen(
            command,
            shell=True,
            env={**os.environ, **environment(on, found, sentence)},
            stdin=subprocess.PIPE,
            stdout=2,  # standard output is for verdicts
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return plain(str(error))
    try:
        process.communicate(json.dumps(found).encode(), timeout=longest)
    except subprocess.TimeoutExpired:
        return f"it took longer than {longest:g} s"
    finally:
        _end(process)
    return f"exit code {process.returncode}" if process.returncode else None


def environment(on: str, found: Mapping[str, Any], sentence: str) -> dict[str, str]:
    """What was found, for the command: empty where there is nothing to say."""
    leaf = found.get("leaf") or {}
    values = {
        "EVENT": on,
        "RUN": found["run"],
        "VERDICT": found.get("verdict"),
        "LEAF": leaf.get("id"),
        "STEP": found.get("step"),
        "LAST_STEP": found.get("last_step"),
        "SENTENCE": sentence,
    }
    return {
        f"TUTOR_{name}": "" if value is None else plain(str(value)).replace("\0", "")
        for name, value in values.items()
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the command, and wait for it."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
