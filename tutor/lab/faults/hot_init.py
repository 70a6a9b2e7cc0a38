"""A fault in the init: every weight is drawn far too wide."""

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field
from torch import nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def hot_init(recipe: Recipe, *, times: Annotated[float, Field(gt=1)] = 50) -> Recipe:
    """Every matrix is drawn `times` as wide as designed; 50 makes the std 1 of `nn.init.normal_`."""

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        with torch.no_grad():
            for weight in built.parameters():
                if weight.ndim >= 2:
                    weight.mul_(times)
        return built

    return replace(recipe, model=model)
