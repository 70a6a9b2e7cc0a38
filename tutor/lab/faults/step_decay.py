"""A fault in the schedule: it falls in steps."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def step_decay(
    recipe: Recipe,
    *,
    every: Annotated[int, Field(ge=1)] = 50,
    factor: Annotated[float, Field(gt=0, lt=1)] = 0.3,
) -> Recipe:
    """After the warm-up the rate is multiplied by `factor` once in `every` steps, as `StepLR` does.

    This happens where a default scheduler stays in place because the configured one's name isn't read.
    """
    settings = recipe.settings

    def rate(step: int) -> float:
        if step < settings.warmup_steps:
            return recipe.schedule(step)
        return settings.lr * factor ** ((step - settings.warmup_steps) // every)

    return replace(recipe, schedule=rate)
