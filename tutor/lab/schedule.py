"""The schedule: linear warm-up, then a cosine down to `min_lr` at `schedule_steps`.

Stopping early with `--steps` leaves this horizon as it is, so a short run is the start of the long one.
"""

import math
from collections.abc import Callable

from tutor.settings import Settings


def cosine(settings: Settings) -> Callable[[int], float]:
    """Step (from 0) to learning rate; the first step already moves, and the peak is at `warmup_steps - 1`."""
    warmup, horizon = settings.warmup_steps, settings.schedule_steps

    def rate(step: int) -> float:
        if step < warmup:
            return settings.lr * (step + 1) / warmup
        done = min(1.0, (step - warmup) / max(1, horizon - warmup))
        return settings.min_lr + 0.5 * (1 + math.cos(math.pi * done)) * (settings.lr - settings.min_lr)

    return rate
