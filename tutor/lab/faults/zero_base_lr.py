"""A fault in the schedule: what it multiplies is 0."""

from dataclasses import replace

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def zero_base_lr(recipe: Recipe) -> Recipe:
    """The optimizer's group was built with a learning rate of 0, which the schedule's factor then multiplies.

    This happens where the rate of the first warm-up step is handed to the optimizer as its own.
    """
    base = 0.0

    def rate(step: int) -> float:
        return base * recipe.schedule(step) / (recipe.settings.lr or 1.0)

    return replace(recipe, schedule=rate)
