"""A fault in the optimizer: its moments are lost at every step."""

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from tutor.lab.faults import fault
from tutor.lab.optimizer import Optimizer
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def amnesiac_optimizer(recipe: Recipe) -> Recipe:
    """The optimizer is built anew at every step, so its moments never outlive one gradient.

    Adam's bias correction then makes every step lr * sign(g): momentum and the memory of v are gone.
    """

    def forget(adam: torch.optim.Optimizer, *_: Any) -> None:
        adam.state.clear()

    def optimizer(model: nn.Module, settings: Settings) -> Optimizer:
        built = recipe.optimizer(model, settings)
        built.adam.register_step_pre_hook(forget)
        return built

    return replace(recipe, optimizer=optimizer)
