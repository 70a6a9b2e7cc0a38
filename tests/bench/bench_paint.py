"""First question on screen, against an empty Textual app's first paint.

Whole processes in a terminal of 120 x 36, in turn: from the start of the interpreter to the moment when
the awaited words arrive on the terminal. Bytecode is kept from the warm-up on, as it is for whoever starts
tutor twice: an environment that forbids it would compile tutor, and not Textual, at every start.
"""

import sys
import tempfile
import time

from tests.bench.table import Row, paired
from tests.bench.terminal import surroundings, terminal

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("painted now")
Empty().run()
"""
BOUND = 2.0


def seconds_until(words: bytes, command: list[str], environment: dict[str, str]) -> float:
    """Seconds from the start of `command` in a terminal until it writes `words`."""
    begun = time.perf_counter()
    with terminal(command, environment, 120, 36) as started:
        started.until(words)
        return time.perf_counter() - begun


def rows() -> list[Row]:
    """The benchmark's row."""
    with tempfile.TemporaryDirectory() as learners:
        environment = surroundings(learners)
        walk = [sys.executable, "-m", "tutor", "walk", "runs/19-break"]

        def ours() -> float:
            return seconds_until(b"training loss NaN", walk, environment)

        def empty() -> float:
            return seconds_until(b"painted now", [sys.executable, "-c", EMPTY], environment)

        return [paired("first question on screen, against an empty app", ours, empty, runs=11, at_most=BOUND)]
