"""A fault in the init: one kind of weight inside the blocks is drawn far too wide."""

from dataclasses import replace
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def hot_blocks(
    recipe: Recipe,
    *,
    weight: Literal["qkv", "widen", "proj"] = "widen",
    times: Annotated[float, Field(gt=1)] = 100,
) -> Recipe:
    """In each block the matrices called `weight` are drawn `times` as wide as designed.

    This happens where an init meant for one layer is applied with the wrong gain, or a divisor is multiplied
    by. The final norm hides it from the first loss.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        with torch.no_grad():
            for name, parameter in built.named_parameters():
                if name.startswith("blocks.") and name.endswith(f"{weight}.weight"):
                    parameter.mul_(times)
        return built

    return replace(recipe, model=model)
