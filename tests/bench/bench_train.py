"""Training with everything logged, against the same loop with logging off, and against the plain loop.

Each loop has a process of its own, so that none inherits the threads or the memory of another, and both of
a pair are timed in turn; figures are steps per second. The loops are in `tests.bench.loops`.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.bench.table import Row, paired
from tutor.lab.recipe import devices

STEPS = 50  # one validation falls on so many
RUNS = 15
LOGGING_KEEPS = 0.8
"""What everything logged may leave of the speed with logging off. Eleven passes over the parameters and one
probe in five steps cost 1.5 to 3.2 ms of a step's 22, by the machine's memory: 0.94 was measured on one
machine and 0.86 on another."""


@contextmanager
def process(loop: str, folder: str, steps: int = STEPS, device: str = "cpu") -> Iterator[Callable[[], float]]:
    """The loop in its own process; a call takes the next `steps` steps and says how many a second."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.bench.loops", loop, folder, device]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin
        assert running.stdout
        asked, answers = running.stdin, running.stdout

        def rate() -> float:
            print(steps, file=asked, flush=True)
            return steps / float(answers.readline())

        yield rate
        asked.close()


def rows() -> list[Row]:
    """The comparisons of `make bench`, on each device that is here."""
    return [row for device in devices() for row in _rows(device)]


def _rows(device: str) -> list[Row]:
    with (
        tempfile.TemporaryDirectory() as folder,
        process("logged", folder, device=device) as logged,
        process("silent", folder, device=device) as silent,
        process("plain", folder, device=device) as plain,
    ):
        off = f"train on {device}: all logged / logging off, steps per second"
        copied = f"train on {device}: all logged / plain loop, steps per second"
        return [
            paired(off, logged, silent, runs=RUNS, at_least=LOGGING_KEEPS),
            paired(copied, logged, plain, runs=RUNS, at_least=0.95),
        ]
