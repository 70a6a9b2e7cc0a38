"""A fault in the model: it squares its activations before it scales them down."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import Annotated, cast

from pydantic import Field
from torch import Tensor, nn

from tutor.lab.faults import fault
from tutor.lab.model import Block
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


class HotSquare(nn.Module):
    """A linear layer whose output y, (B, T, C), becomes (gain * relu(y))^2 / gain^2."""

    def __init__(self, linear: nn.Linear, gain: float):
        super().__init__()
        self.linear, self.gain = linear, gain

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, 4C)."""
        hot_BTC = self.gain * self.linear(x_BTC).relu()
        return hot_BTC * hot_BTC / self.gain**2


@fault
def hot_activations(recipe: Recipe, *, gain: Annotated[float, Field(ge=1)]) -> Recipe:
    """Each MLP squares `gain` times its ReLU and divides by the square of `gain` only then.

    On paper nothing changes. In fp16 the square has to stay under 65,504, and as the weights grow it doesn't.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        for block in built.modules():
            if isinstance(block, Block):
                block.widen = cast("nn.Linear", HotSquare(block.widen, gain))
        return built

    return replace(recipe, model=model)
