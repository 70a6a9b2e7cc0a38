"""Trials: experiments on a run, each in a process of its own, which outlives the app.

A trial is `tutor verify`, `recover`, `replay` or `fork` at work. What is known of it is kept in the user's
cache, by the run that it is for, so that whoever comes back finds it: still at work, or done.
"""

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tutor import paths, plainfile, readers, settings
from tutor.run import BadRunError, Run
from tutor.run.verification import Verification
from tutor.runfolder import VERIFICATION

Kind = Literal["verify", "recover", "replay", "fork"]

SMALLEST, OWN, RECOVER, REPLAY, FORK = "smallest", "own", "recover", "replay", "fork"
"""Rows of the list beside the fixes of the leaf: its smallest one, a change that the learner types, and the
other experiments."""

LARGEST = plainfile.MEGABYTE
LAST_LINES = 6
"""Of what a process said, where it ended without a verdict."""

_ours: dict[int, subprocess.Popen[bytes]] = {}
"""Processes that this app began: asked whether they live, they are also laid to rest."""


@dataclass(frozen=True)
class Trial:
    """An experiment that was begun.

    Attributes:
        run: the broken run.
        change: what was asked for: of a fix, the settings.
        out: the folder of what is trained; the run itself where nothing is.
        output: the file of what the process says.
        pid: of the process.
        kind: the command.
    """

    run: str
    change: str
    out: str
    output: str
    pid: int
    kind: Kind = "verify"

    @property
    def alive(self) -> bool:
        """Whether the process is still at work."""
        if process := _ours.get(self.pid):
            return process.poll() is None
        # Of an earlier app's. Numbers of processes are given again: it is this one's if it names the folder.
        return self.out in _command_of(self.pid) and self.found is None

    @property
    def found(self) -> Verification | None:
        """What it came to; None before its end."""
        with contextlib.suppress(OSError, ValidationError):
            data = plainfile.read(Path(self.out) / VERIFICATION, LARGEST)
            return Verification.model_validate_json(data)
        return None

    def said(self, lines: int | None = None) -> str:
        """What the process said, or its last lines; of lines about one step after another, the last."""
        with contextlib.suppress(OSError):
            text = plainfile.read(Path(self.output), LARGEST).decode(errors="replace")
            told = text.splitlines()
            ahead = [*told[1:], ""]
            kept = [
                one for one, after in zip(told, ahead, strict=True) if not (_counts(one) and _counts(after))
            ]
            return "\n".join(kept if lines is None else kept[-lines:])
        return ""

    def fixed(self, since: Run | None = None) -> Run | None:
        """The run with the fix, as far as it has come; None before its first row."""
        with contextlib.suppress(BadRunError, OSError):
            return readers.read(Path(self.out), since)
        return None

    def stop(self) -> None:
        """End the process; what it trained stays."""
        if self.alive:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGINT)


def can_train() -> bool:
    """Whether the lab's libraries are installed."""
    return all(find_spec(name) for name in ("torch", "tokenizers"))


def begin(
    run: Path, change: Sequence[str], *, learner: str, lang: str, kind: Kind = "verify", columns: int = 80
) -> Trial:
    """Begin an experiment on the run at `run`, in a process of its own.

    Args:
        run: the broken run.
        change: options of the command; of `tutor verify`, none stands for the smallest fix of the leaf.
        learner: whose lesson is stamped.
        lang: of what is written and said.
        kind: the command.
        columns: room for what it says.

    Raises:
        OSError: the process can't be begun, or what is known of it can't be kept.
    """
    place = _place(run, kind)
    place.parent.mkdir(parents=True, exist_ok=True)
    out, output = run if kind == "replay" else _free(run, kind), place.with_suffix(".txt")
    command = [sys.executable, "-m", "tutor", kind, str(run), *change]
    command += [] if kind == "fork" else ["--lang", lang]
    command += [] if kind == "replay" else ["--out", str(out)]
    command += ["--learner", learner] if kind == "verify" else []
    with output.open("wb") as said:
        process = subprocess.Popen(
            command,
            env={**os.environ, "COLUMNS": str(columns)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # it outlives the app, and its Ctrl-C
        )
    _ours[process.pid] = process
    words = " ".join(one.lstrip("-") for one in change if "=" in one or not one.startswith("--"))
    trial = Trial(str(run), words, str(out), str(output), process.pid, kind)
    plainfile.replace(place, json.dumps(asdict(trial)).encode())
    return trial


def as_fix(words: Sequence[str]) -> list[str]:
    """Settings that are typed, as options of `tutor verify`. Raises ValueError where one is none."""
    settings.build(settings.parse(list(words)))
    return as_options(words)


def as_options(words: Sequence[str]) -> list[str]:
    """Settings, each as name=value, as options of a command."""
    return [word for one in words for word in ("--set", one)]


def as_fork(words: Sequence[str], last: int) -> list[str]:
    """What is typed of a fork, `at=200 skip=5 lr=1e-3`, as options of `tutor fork`.

    Args:
        words: the step, how many batches are skipped there, and settings.
        last: the farthest step at which the run can be forked.

    Raises:
        ValueError: the step is missing or lies outside the run, nothing is changed, or a setting is none.
    """
    given = {name: value for name, _, value in (word.partition("=") for word in words)}
    at, skip = given.pop("at", ""), given.pop("skip", None)
    if not (at.isdecimal() and int(at) <= last):
        raise ValueError(f"at={at}: at= needs a step of the run, 0 to {last}")
    if skip is not None and not (skip.isdecimal() and int(skip)):
        raise ValueError(f"skip={skip}: skip= needs a count of batches, 1 or more")
    changes = [word for word in words if word.partition("=")[0] in given]
    settings.build(settings.parse(changes))
    if not changes and skip is None:
        raise ValueError("nothing is changed: add a setting, such as lr=1e-3, or skip=5")
    return [f"--at={at}", "--retrace", *([f"--skip-batches={skip}"] if skip else []), *as_options(changes)]


def latest(run: Path, kind: Kind = "verify") -> Trial | None:
    """The last trial of that kind on the run; None where there is none, or what it trained is gone."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        trial = Trial(**json.loads(plainfile.read(_place(run, kind), LARGEST)))
        if trial.alive or Path(trial.out).exists():
            return trial
    return None


def _counts(line: str) -> bool:
    """Whether a line tells how far a training has come."""
    return re.search(r"\bstep \d+/\d+ ", line) is not None


def _command_of(pid: int) -> str:
    """The command line of a process; "" where there is none, or nobody can tell."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        asked = ["ps", "-p", str(pid), "-o", "args="]
        return subprocess.run(asked, capture_output=True, text=True, timeout=2, check=False).stdout
    return ""


def _place(run: Path, kind: Kind = "verify") -> Path:
    """Where what is known of the trials of a run is kept."""
    digest = hashlib.sha256(os.fsencode(run.resolve())).hexdigest()[:16]
    try:
        home = paths.cache()
    except FileNotFoundError:
        home = Path(tempfile.gettempdir()) / "tutor"
    return home / "trials" / f"{digest}-{kind}.json"


def _free(run: Path, kind: Kind) -> Path:
    """A folder in the runs folder that nobody took yet."""
    number, label = 1, {"verify": "fix"}.get(kind, kind)
    while (folder := paths.new_runs() / f"{run.resolve().name}-{label}-{number}").exists():
        number += 1
    return folder
