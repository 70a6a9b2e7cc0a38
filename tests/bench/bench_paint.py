"""First question on screen, against an empty Textual app's first paint.

Whole processes in a terminal of 120 x 36, in turn: from the start of the interpreter to the moment when
the awaited words arrive on the terminal. Bytecode is kept from the warm-up on, as it is for whoever starts
tutor twice: an environment that forbids it would compile tutor, and not Textual, at every start.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time

from tests.bench.table import Row, paired

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("painted now")
Empty().run()
"""
BOUND = 2.0
PATIENCE = 30.0


def seconds_until(words: bytes, command: list[str], environment: dict[str, str]) -> float:
    """Seconds from the start of `command` in a terminal until it writes `words`."""
    begun = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    seen = b""
    try:
        while words not in seen:
            if time.perf_counter() - begun > PATIENCE:
                raise TimeoutError(f"{command} never wrote {words!r}: {seen[-400:]!r}")
            if select.select([terminal], [], [], 0.5)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:  # Linux's way to say that the program has ended
                    raise RuntimeError(f"{command} ended: {seen[-400:].decode(errors='replace')}") from None
        return time.perf_counter() - begun
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def rows() -> list[Row]:
    """The benchmark's row."""
    with tempfile.TemporaryDirectory() as learners:
        environment = os.environ | {
            "TERM": "xterm-256color",
            "TUTOR_LEARNERS": learners,
            "LANG": "en_US.UTF-8",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        walk = [sys.executable, "-m", "tutor", "walk", "runs/19-break"]

        def ours() -> float:
            return seconds_until(b"training loss NaN", walk, environment)

        def empty() -> float:
            return seconds_until(b"painted now", [sys.executable, "-c", EMPTY], environment)

        return [paired("first question on screen, against an empty app", ours, empty, runs=11, at_most=BOUND)]
