"""A fault in the start: the weights were trained before."""

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field
from torch import nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.lab.trainer import Trainer
from tutor.settings import Settings


@fault
def stale_checkpoint(recipe: Recipe, *, steps: Annotated[int, Field(ge=1, le=10_000)] = 100) -> Recipe:
    """The run begins with the weights of an earlier one, which trained `steps` steps from another seed.

    A path left in the configuration does this: the newest checkpoint of the folder is loaded, whosever it is.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        earlier = settings.model_copy(update={"seed": settings.seed + 1})
        trainer = Trainer(replace(recipe, settings=earlier), logging=False)
        for step in range(steps):
            trainer.step(step)
        built = recipe.model(settings, vocab_size)
        with torch.no_grad():
            for mine, theirs in zip(built.parameters(), trainer.model.parameters(), strict=True):
                mine.copy_(theirs)
        return built

    return replace(recipe, model=model)
