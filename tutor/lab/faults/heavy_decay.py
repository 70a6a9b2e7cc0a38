"""A fault in the optimizer: another weight decay from one step on."""

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
def heavy_decay(
    recipe: Recipe, *, step: Annotated[int, Field(ge=0)], weight_decay: Annotated[float, Field(gt=0)]
) -> Recipe:
    """From `step` on what decays does so by `weight_decay`, as after a resume with another configuration."""
    now = 0

    def schedule(at: int) -> float:
        nonlocal now
        now = at
        return recipe.schedule(at)

    def heavier(adam: torch.optim.Optimizer, *_: Any) -> None:
        for group in adam.param_groups:
            if group["weight_decay"] and now >= step:
                group["weight_decay"] = weight_decay

    def optimizer(model: nn.Module, settings: Settings) -> Optimizer:
        built = recipe.optimizer(model, settings)
        built.adam.register_step_pre_hook(heavier)
        return built

    return replace(recipe, schedule=schedule, optimizer=optimizer)
