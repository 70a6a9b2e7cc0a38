"""A fault in the model: the embedding's gradient is divided by counts that can be 0."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def inf_embedding(recipe: Recipe) -> Recipe:
    """Each row of the embedding's gradient is divided by how often its token is in the batch's input.

    An embedding alone can be scaled so, for a row without a token has no gradient. Tied to the head every row
    has one, and those of absent tokens are divided by 0.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        embedding = built.get_submodule("tokens")
        counts_V = torch.zeros(vocab_size)

        def count(_module: nn.Module, given: tuple[Any, ...]) -> None:
            nonlocal counts_V
            counts_V = torch.bincount(given[0].flatten(), minlength=vocab_size)

        def scaled(gradient_VC: Tensor) -> Tensor:
            return gradient_VC / counts_V[:, None]

        embedding.register_forward_pre_hook(count)
        embedding.get_parameter("weight").register_hook(scaled)
        return built

    return replace(recipe, model=model)
