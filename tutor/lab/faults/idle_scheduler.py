"""A fault in the schedule: the scheduler never steps."""

from dataclasses import replace

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def idle_scheduler(recipe: Recipe) -> Recipe:
    """The learning rate stays at the optimizer's own, as where the scheduler steers one that was replaced."""
    return replace(recipe, schedule=lambda _step: recipe.settings.lr)
