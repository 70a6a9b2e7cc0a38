"""Cost: what steps that were trained for nothing cost, in tokens, hours and money.

cost = steps x tokens per step / (tokens per second) / 3600 x price per hour
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tutor.run.scalars import known_float

if TYPE_CHECKING:
    from tutor.run.run import Run

USUAL_ROWS = 100
"""Rows before a step whose median says how fast the run was: one that waited for data doesn't move it."""


@dataclass(frozen=True)
class Cost:
    """So many steps lost. What isn't known is None.

    Attributes:
        steps: lost, at least 0.
        tokens_per_step: trained on in one step.
        tokens_per_second: how fast.
    """

    steps: int
    tokens_per_step: int | None = None
    tokens_per_second: float | None = None

    @property
    def tokens(self) -> int | None:
        """Tokens lost."""
        return None if self.tokens_per_step is None else self.steps * self.tokens_per_step

    @property
    def hours(self) -> float | None:
        """Hours that they take."""
        if self.tokens is None or not self.tokens_per_second or self.tokens_per_second <= 0:
            return None
        return self.tokens / self.tokens_per_second / 3600

    @property
    def minutes(self) -> float | None:
        """The same in minutes."""
        return None if self.hours is None else 60 * self.hours

    def price(self, per_hour: float) -> float | None:
        """What they cost, in the currency of the price of an hour."""
        return None if self.hours is None else self.hours * per_hour


def cost_of(run: Run, steps: int, at: int | None = None) -> Cost:
    """What `steps` of the run cost, at its speed before the step `at` (at its end where that is None)."""
    tokens = run.manifest.batch.tokens or None
    speed = None
    if run.has("tokens_per_second") and len(run):
        end = len(run) if at is None else max(1, run.row_at(at))
        values = run["tokens_per_second"][max(0, end - USUAL_ROWS) : end]
        speed = known_float(values.filter(values.is_finite()).median())
    return Cost(max(0, steps), tokens, speed)
