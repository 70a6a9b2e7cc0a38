"""A trigger: the model is trained with dropout."""

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tutor.lab.faults import trigger
from tutor.lab.model import Block
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@trigger
def dropout(recipe: Recipe, *, rate: Annotated[float, Field(gt=0, lt=1)]) -> Recipe:
    """What each block adds to the stream passes a dropout of `rate` while the model is training."""

    def drop(projection: nn.Module, _: tuple[Tensor, ...], added: Tensor) -> Tensor:
        return F.dropout(added, rate, projection.training)

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        torch.manual_seed(settings.seed)  # dropout draws from torch's own generator, whose state is kept
        for block in built.modules():
            if isinstance(block, Block):
                block.attention.proj.register_forward_hook(drop)
                block.proj.register_forward_hook(drop)
        return built

    return replace(recipe, model=model)
