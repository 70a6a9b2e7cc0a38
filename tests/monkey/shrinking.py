"""The shortest list of actions that shows what is broken."""

import time
from collections.abc import Callable
from dataclasses import replace

from tests.monkey.broken import BrokenError, sign
from tests.monkey.episode import Episode, episode
from tests.monkey.playing import play


def shortest(found: Episode, shows: Callable[[Episode], bool], seconds: float) -> Episode:
    """The episode with every stretch of actions left out that isn't needed to show it (Zeller's ddmin)."""
    until, length = time.monotonic() + seconds, max(1, len(found.acts) // 2)
    while length and time.monotonic() < until:
        at, shorter = 0, False
        while at < len(found.acts) and time.monotonic() < until:
            without = replace(found, acts=found.acts[:at] + found.acts[at + length :])
            if shows(without):
                found, shorter = without, True
            else:
                at += length
        length = min(length, len(found.acts)) if shorter and length == 1 else length // 2
    return found


def report(seed: int, error: BrokenError, seconds: float) -> str:
    """What to say of a seed that broke something."""

    def shows(one: Episode) -> bool:
        other = play(one)
        return other is not None and sign(other) == sign(error)

    found = episode(seed)
    found = shortest(replace(found, acts=found.acts[: error.done]), shows, seconds)
    acts = "".join(f"    {act!r},\n" for act in found.acts)
    how = (
        f"{found.lang}, {found.size}, run {found.subject!r}, first {found.first}, before {found.begun_before}"
    )
    return f"seed {seed}: {error}\n  {how}; the shortest way there:\n{acts}"
