"""A fault in the init: weights are drawn from 0 on, and not around it."""

from dataclasses import replace

import torch
from torch import nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def biased_init(recipe: Recipe) -> Recipe:
    """The blocks' matrices keep their size and lose their sign, as `torch.rand` draws them."""

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        with torch.no_grad():
            for name, weight in built.named_parameters():
                if name.startswith("blocks.") and weight.ndim >= 2:
                    weight.abs_()
        return built

    return replace(recipe, model=model)
