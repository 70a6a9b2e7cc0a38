"""A fault in the schedule: the warm-up never ends."""

from dataclasses import replace

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def endless_warmup(recipe: Recipe) -> Recipe:
    """The learning rate goes on rising past its peak: the `min(1, ...)` of the warm-up was forgotten."""
    s = recipe.settings

    def rate(step: int) -> float:
        return s.lr * (step + 1) / max(1, s.warmup_steps)

    return replace(recipe, schedule=rate)
