"""From a key to the repaint being done, on the walk screen over long logs.

A walk in a terminal: a key is written to it, and what the app then writes is read until nothing has come for
a while; the time is that of the last byte. A log of a million rows is also timed, and weighed, while it is
read: from the first question on screen to its panel. What a key takes depends on the machine, so an app of
Textual's own with nothing but words is timed beside it: each of its keys changes every cell.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bench_check import write_log
from tests.bench.table import Bounded
from tests.bench.terminal import Terminal, surroundings, terminal

SIZES = ((120, 36), (200, 50))
BOUNDS = {100_000: 50.0, 1_000_000: 100.0}
"""The most that a key may take, median, in milliseconds, by the log's rows."""

LOADED, LIGHT = 3.0, 800.0
"""The most that reading the longest log may take: in seconds, and in MB that the whole app then holds."""

QUIET = 0.15
"""Seconds without a byte that end a repaint: several frames of Textual's."""

STILL = 0.4
"""Seconds without a byte after which a screen has come or gone for good."""

ROUNDS = 12
KEYS = (
    ("zoom in", b"+"),
    ("zoom out", b"-"),
    ("pan", b">"),
    ("pan back", b"<"),
    ("cursor, one step", b"."),
    ("cursor, ten", b"]"),
    ("cursor to the worst", b"v"),
    ("another panel", b"3"),
    ("its first panel", b"1"),
    ("whole run", b"0"),
    ("choose an answer", b"u"),
    ("choose another", b"n"),
    ("full size", b"f"),
    ("map", b"m"),
    ("compare with", b"c"),
)
"""What each round presses, in this order, at a question."""

OVER = ("full size", "map", "compare with")
"""What opens a screen over the walk, which ESCAPE closes."""

ESCAPE = b"\x1b"

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    at = 0
    def compose(self):
        yield Static(id="all")
    def on_key(self):
        self.at += 1
        line = "".join(chr(97 + (self.at + place) % 26) for place in range(self.size.width))
        self.query_one("#all").update("\\n".join([line] * self.size.height))
Bare().run()
"""

BESIDE, SHORT = ("earlier", "other"), 100
"""The runs in the same folder, to compare with, and their rows."""

QUESTIONS = 6
"""At so many questions in a row a hint is asked for, an answer committed, and the walk goes on."""


def pressed(screen: Terminal) -> Iterator[tuple[str, float]]:
    """Each key with the seconds that its repaint took."""
    for round_ in range(ROUNDS):
        screen.press(b"+", QUIET)  # else the whole run couldn't be moved
        for name, key in KEYS:
            took = screen.press(key, QUIET)
            if name in OVER:
                screen.settle(STILL)
                screen.press(ESCAPE, QUIET)
                screen.settle(STILL)
            if round_:  # the first loads what the others find loaded
                yield name, took
    for _ in range(QUESTIONS):
        yield "hint", screen.press(b"h", QUIET)
        screen.press(b"u", QUIET)
        yield "commit an answer", screen.press(b"\r", QUIET)
        screen.press(b"b", QUIET)
        screen.press(b"u", QUIET)
        yield "commit it again", screen.press(b"\r", QUIET)
        yield "go on", screen.press(b"\r", QUIET)


def bare(width: int, height: int) -> Bounded:
    """What an app of Textual's own takes to paint every cell anew."""
    with (
        tempfile.TemporaryDirectory() as learners,
        terminal([sys.executable, "-c", BARE], surroundings(learners), width, height) as screen,
    ):
        screen.press(b"x", STILL)
        took = tuple(screen.press(b"x", QUIET) * 1e3 for _ in range(ROUNDS))
    return Bounded(f"words alone, every cell: {width} x {height}", took, "ms")


def walked(folder: Path, rows: int, width: int, height: int) -> list[Bounded]:
    """The rows of a log of `rows` rows, at one size."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as learners:
        environment = surroundings(learners)
        walk = [sys.executable, "-m", "tutor", "walk", str(folder), "--tree", "phase-19"]
        with terminal(walk, environment, width, height) as screen:
            screen.until(b"training loss NaN")
            begun = time.perf_counter()
            reading = screen.press(b"l", QUIET) * 1e3  # the language, while the log is read
            screen.press(b"l", QUIET)
            screen.until(f"{rows - 1}".encode())
            loaded, held = time.perf_counter() - begun, screen.peak()
            screen.settle(STILL)
            screen.press(b"\r", QUIET)  # what a learner without a notebook is told first
            for name, took in pressed(screen):
                found.setdefault(name, []).append(took * 1e3)
    at, bound = f"{rows:,} rows, {width} x {height}", BOUNDS[rows]
    table = [Bounded(f"language, while it is read: {at}", (reading,), "ms", bound)]
    table += [Bounded(f"{name}: {at}", tuple(took), "ms", bound) for name, took in found.items()]
    if rows == max(BOUNDS):
        table += [
            Bounded(f"read: {at}", (loaded,), "s", LOADED),
            Bounded(f"held: {at}", (held,), "MB", LIGHT),
        ]
    return table


def rows() -> list[Bounded]:
    """A row for each key, size and length."""
    table = [bare(width, height) for width, height in SIZES]
    for length in BOUNDS:
        with tempfile.TemporaryDirectory() as kept:
            folder = write_log(Path(kept) / "long", length)
            for name in BESIDE:
                write_log(Path(kept) / name, SHORT)
            for width, height in SIZES:
                table += walked(folder, length, width, height)
    return table
