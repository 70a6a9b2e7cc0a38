"""An episode: a seed's folder of runs, its notebook, the place to begin, and what is done."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.ui import world
from tutor.ui import bindings

Act = tuple[Any, ...]
"""What is done, with what, and the milliseconds until the next: ("press", "enter", 20)."""

WAITS = (0, 0, 0, 0, 0, 5, 10, 20, 50, 100, 200)
LENGTH = 80
"""Actions of an episode."""

SIZES = ((120, 36), (80, 24), (60, 18), (200, 50))

BOUND = sorted(
    {
        key
        for table in vars(bindings).values()
        if isinstance(table, list)
        for row in table
        for key in row.key.split(",")
    }
    - {"ctrl+q"}
)
USUAL = ("enter", "enter", "enter", "down", "up", "tab", "shift+tab", "escape", "n", "y", "p", "b", "u")
EDITING = ("home", "end", "pageup", "pagedown", "delete", "left", "right", "ctrl+c", "ctrl+a", "ctrl+x")
OTHERS = ("ctrl+v", "ctrl+k", "ctrl+w", "f5", "f12", "ctrl+at", "insert", "alt+x", "ctrl+home", "shift+end")
HAPPENS = ("grow", "grow", "cut", "rewrite", "vanish", "back")
"""What may befall a run: the one that is walked where no other is named."""
TEXTS = (
    world.MARKED,
    "\x1b[31mred\x1b[0m\x07",
    "[/oops] [",
    "e" + "\u0301" * 80,
    "\u202eשלום \u0627\u0644",
    "x" * 5000,
    "one\ntwo\r\nthree\t.",
    "損失",
    "\u200b\ufeff\U0001f469\u200d\U0001f4bb",
    "12",
    "0.5",
    "\ud800",
    "",
)


@dataclass(frozen=True)
class Episode:
    """What is played.

    Attributes:
        begun_before: whether the notebook has work in it.
        subject: the run that is walked from the start; None begins at home.
        first: keys that lead to where it begins.
    """

    lang: str
    size: tuple[int, int]
    begun_before: bool
    subject: str | None
    first: tuple[str, ...]
    acts: tuple[Act, ...]


def episode(seed: int, length: int = LENGTH) -> Episode:
    """The episode of that seed."""
    rng = Random(seed)
    begun_before = rng.random() < 0.6
    if begun_before and rng.random() < 0.7:
        subject, first = "19-break", rng.choice([(), ("p",), ("p", "enter"), ("enter",), ("c",), ("m",)])
    else:
        subject, first = rng.choice([None, *world.NAMES, *world.NAMES]), ()
    acts = tuple(act for _ in range(length) for act in _acts(rng))[:length]
    return Episode(rng.choice(["en", "es"]), rng.choice(SIZES), begun_before, subject, first, acts)


def _acts(rng: Random) -> list[Act]:
    """One thing that somebody might do, mostly a single action."""
    wait, x, y = rng.choice(WAITS), rng.random(), rng.choice([rng.random(), rng.random(), 0.999, 0.03])
    kinds: dict[Callable[[], list[Act]], int] = {
        lambda: [("press", rng.choice(BOUND), wait)]: 30,
        lambda: [("press", rng.choice(USUAL), wait)]: 22,
        lambda: [("press", rng.choice(EDITING), wait)]: 5,
        lambda: [("press", rng.choice((*string.printable[:94], *OTHERS)), wait)]: 6,
        lambda: [
            ("press", key := rng.choice(["enter", "escape", "q"]), rng.choice([0, 5])),
            ("press", key, wait),
        ]: 5,
        lambda: [("paste", rng.choice(TEXTS), wait)]: 4,
        lambda: [("press", key, 0) for key in rng.choice(["nan", "lesson", "0.25", "42", "tema"])]: 2,
        lambda: [("click", x, y, rng.choice([1, 1, 1, 2, 3]), wait)]: 10,
        lambda: [("wheel", x, y, rng.choice([-1, 1]), rng.random() < 0.3, wait)]: 3,
        lambda: [("drag", x, y, rng.random(), rng.random(), wait)]: 3,
        lambda: [("resize", rng.randint(20, 220), rng.randint(8, 60), wait)]: 4,
        lambda: [("resize", *rng.choice(SIZES), wait)]: 4,
        lambda: [("language", wait)]: 2,
        lambda: [("theme", wait)]: 1,
        lambda: [("press", "ctrl+p", wait)]: 3,
        lambda: [(rng.choice(HAPPENS), rng.choice([None, rng.choice(world.NAMES)]), wait)]: 3,
        lambda: [("reopen", wait)]: 1,
    }
    [chosen] = rng.choices(list(kinds), list(kinds.values()))
    return chosen()
