"""A fault in the schedule: it counts in another unit."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def slow_warmup(recipe: Recipe, *, every: Annotated[int, Field(ge=2)] = 4) -> Recipe:
    """The scheduler steps once in `every` updates, so its warm-up lasts `every` times as long.

    This happens where the loop was changed to accumulate and the scheduler's step stayed behind a condition
    on micro-batches, or steps once for each group of them.
    """
    return replace(recipe, schedule=lambda step: recipe.schedule(step // every))
