"""A fault in the schedule: it starts over."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def lr_restart(recipe: Recipe, *, step: Annotated[int, Field(ge=1)]) -> Recipe:
    """At `step` the schedule stands at its peak again and runs down once more.

    This happens where a scheduler is built anew after a resume and its step isn't restored; most are told to
    skip the warm-up then.
    """
    peak = recipe.settings.warmup_steps

    def rate(now: int) -> float:
        return recipe.schedule(now if now < step else peak + now - step)

    return replace(recipe, schedule=rate)
