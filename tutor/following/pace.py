"""Pace: how often a log is looked at, so that looking takes a tenth of the time at most."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 1.0
"""Seconds between two looks at a log that is quick to read."""

REST = 9
"""For each second of work so many of rest."""


class Pace:
    """When to look again. Any thread may work; one asks.

    Args:
        timer: seconds that only go up.
    """

    def __init__(self, timer: Callable[[], float] = time.perf_counter) -> None:
        self._timer = timer
        self._working = 0
        self._rested = timer()

    @property
    def due(self) -> bool:
        """Whether nobody is at work, and the rest from the last work is over."""
        return not self._working and self.left <= 0

    @property
    def left(self) -> float:
        """Seconds of rest that are left."""
        return max(0.0, self._rested - self._timer())

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work that is to be rested from."""
        begun = self._timer()
        self._working += 1
        try:
            yield
        finally:
            self._working -= 1
            now = self._timer()
            self._rested = max(self._rested, now) + REST * (now - begun)
