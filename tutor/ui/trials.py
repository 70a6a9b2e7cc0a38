"""Trials: fixes of runs that are trained and verified by a process of its own, which outlives the app.

A trial is `tutor verify` at work. What is known of it is kept in the user's cache, by the run that it is for,
so that whoever comes back finds it: still training, or done.
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from pydantic import ValidationError

from tutor import paths, plainfile, readers
from tutor.run import BadRunError, Run
from tutor.run.verification import Verification
from tutor.runfolder import VERIFICATION

SMALLEST, OWN = "smallest", "own"
"""Rows of the list of changes: the smallest fix of the leaf, and one that the learner types."""

LARGEST = plainfile.MEGABYTE
LAST_LINES = 6
"""Of what a process said, where it ended without a verdict."""

_ours: dict[int, subprocess.Popen[bytes]] = {}
"""Processes that this app began: asked whether they live, they are also laid to rest."""


@dataclass(frozen=True)
class Trial:
    """A fix that is being tried.

    Attributes:
        run: the broken run.
        change: the fix, as it was asked for.
        out: the folder of the run with the fix.
        output: the file of what the process says.
        pid: of the process.
    """

    run: str
    change: str
    out: str
    output: str
    pid: int

    @property
    def alive(self) -> bool:
        """Whether the process is still at work."""
        if process := _ours.get(self.pid):
            return process.poll() is None
        try:
            os.kill(self.pid, 0)
        except OSError:
            return False
        return self.found is None

    @property
    def found(self) -> Verification | None:
        """What it came to; None before its end."""
        with contextlib.suppress(OSError, ValidationError):
            data = plainfile.read(Path(self.out) / VERIFICATION, LARGEST)
            return Verification.model_validate_json(data)
        return None

    @property
    def said(self) -> str:
        """The last lines of what the process said."""
        with contextlib.suppress(OSError):
            lines = plainfile.read(Path(self.output), LARGEST).decode(errors="replace").splitlines()
            return "\n".join(lines[-LAST_LINES:])
        return ""

    def fixed(self, since: Run | None = None) -> Run | None:
        """The run with the fix, as far as it has come; None before its first row."""
        with contextlib.suppress(BadRunError, OSError):
            return readers.read(Path(self.out), since)
        return None

    def stop(self) -> None:
        """End the process; what it trained stays."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGINT)


def can_train() -> bool:
    """Whether the lab's libraries are installed."""
    return all(find_spec(name) for name in ("torch", "tokenizers"))


def begin(run: Path, change: Sequence[str], *, learner: str, lang: str) -> Trial:
    """Try a fix of the run at `run`, in a process of its own.

    Args:
        run: the broken run.
        change: options of `tutor verify` that say what to change; none for the smallest fix of the leaf.
        learner: whose lesson is stamped.
        lang: of what is written into it.

    Raises:
        OSError: the process can't be begun, or what is known of it can't be kept.
    """
    place = _place(run)
    place.parent.mkdir(parents=True, exist_ok=True)
    out, output = _free(run), place.with_suffix(".txt")
    command = [sys.executable, "-m", "tutor", "verify", str(run), *change, "--out", str(out)]
    with output.open("wb") as said:
        process = subprocess.Popen(
            [*command, "--learner", learner, "--lang", lang],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # it outlives the app, and its Ctrl-C
        )
    _ours[process.pid] = process
    words = " ".join(one for one in change if not one.startswith("--"))
    trial = Trial(str(run), words, str(out), str(output), process.pid)
    plainfile.replace(place, json.dumps(asdict(trial)).encode())
    return trial


def as_options(settings: Sequence[str]) -> list[str]:
    """Settings, each as name=value, as options of `tutor verify`."""
    return [word for one in settings for word in ("--set", one)]


def latest(run: Path) -> Trial | None:
    """The last trial of a fix of the run; None where there is none, or its run is gone."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        trial = Trial(**json.loads(plainfile.read(_place(run), LARGEST)))
        if trial.alive or Path(trial.out).exists():
            return trial
    return None


def _place(run: Path) -> Path:
    """Where what is known of the trials of a run is kept."""
    digest = hashlib.sha256(os.fsencode(run.resolve())).hexdigest()[:16]
    try:
        home = paths.cache()
    except FileNotFoundError:
        home = Path(tempfile.gettempdir()) / "tutor"
    return home / "trials" / f"{digest}.json"


def _free(run: Path) -> Path:
    """A folder in the runs folder that nobody took yet."""
    number = 1
    while (folder := paths.new_runs() / f"{run.resolve().name}-fix-{number}").exists():
        number += 1
    return folder
