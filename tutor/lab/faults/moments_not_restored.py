"""A fault in the optimizer: its state is lost once, as in a resume that restores the weights alone."""

from dataclasses import replace
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import nn

from tutor.lab.faults import fault
from tutor.lab.optimizer import Optimizer
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def moments_not_restored(recipe: Recipe, *, step: Annotated[int, Field(ge=1)]) -> Recipe:
    """At `step` Adam's m, v and count of updates are gone, and the weights and the schedule go on.

    Adam's first updates are then as large as the learning rate allows, in every weight, and that at the full
    learning rate of a run long past its warm-up.
    """
    now = 0

    def schedule(at: int) -> float:
        nonlocal now
        now = at
        return recipe.schedule(at)

    def forget(adam: torch.optim.Optimizer, *_: Any) -> None:
        if now == step:
            adam.state.clear()

    def optimizer(model: nn.Module, settings: Settings) -> Optimizer:
        built = recipe.optimizer(model, settings)
        built.adam.register_step_pre_hook(forget)
        return built

    return replace(recipe, schedule=schedule, optimizer=optimizer)
