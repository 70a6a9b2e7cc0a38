"""How long a fork takes to its first trained step, and a replay to its answer.

Whole commands, from the start of the interpreter, on a run of the default model with a checkpoint at step
100.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.table import Bounded

ROUNDS = 5
FORK, REPLAY = 3.0, 10.0
"""Seconds at most: until a fork has written its first rows, and until a replay has answered."""


def rows() -> list[Bounded]:
    """The benchmark's rows."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        given = ["--device", "cpu", "--set", "checkpoint_every=100", "--steps", "130"]
        subprocess.run([*_tutor("train"), *given, "--out", str(run)], check=True, stdout=subprocess.DEVNULL)
        forks = [_until_rows(run, Path(folder) / f"fork-{number}") for number in range(ROUNDS)]
        replays = [_whole([*_tutor("replay"), str(run), "--at", "120"]) for _ in range(ROUNDS)]
    return [
        Bounded("fork: command to first rows", tuple(forks), "s", FORK),
        Bounded("replay of a step 20 after a checkpoint", tuple(replays), "s", REPLAY),
    ]


def _tutor(command: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "tutor", command]


def _until_rows(run: Path, out: Path) -> float:
    """Seconds until the fork's log holds a row that it trained itself."""
    begun = time.perf_counter()
    command = [*_tutor("fork"), str(run), "--at", "100", "--set", "lr=5e-4", "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        log = out / "metrics.jsonl"
        while not (log.exists() and log.read_bytes().count(b"\n") > 100):
            if process.poll():
                raise RuntimeError(f"the fork ended with {process.returncode}")
            time.sleep(0.01)
        seconds = time.perf_counter() - begun
        process.wait()
    return seconds


def _whole(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun
