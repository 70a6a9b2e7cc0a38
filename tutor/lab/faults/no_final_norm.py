"""A fault in the model: nothing normalises what the head is given."""

from dataclasses import replace
from typing import cast

from torch import nn

from tutor.lab.faults import fault
from tutor.lab.model import GPT
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def no_final_norm(recipe: Recipe) -> Recipe:
    """The norm before the head is missing, as where blocks were ported from a post-norm model.

    In a pre-norm model the stream grows from block to block and from step to step. The gradient of the head,
    and so of the embedding tied to it, grows with the stream that it is multiplied by.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = cast("GPT", recipe.model(settings, vocab_size))
        built.norm = cast("nn.LayerNorm", nn.Identity())
        return built

    return replace(recipe, model=model)
