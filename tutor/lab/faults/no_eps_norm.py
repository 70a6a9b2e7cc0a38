"""A fault in the model: a norm of one's own, without an epsilon or with it in the wrong place."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import Annotated, cast

from pydantic import Field
from torch import Tensor, nn

from tutor.lab.faults import fault
from tutor.lab.model import Attention, Block
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


class BranchNorm(nn.Module):
    """A linear layer, its output (B, T, C) divided by its root mean square over C."""

    def __init__(self, linear: nn.Linear, outside: float):
        super().__init__()
        self.linear, self.outside = linear, outside

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        y_BTC = self.linear(x_BTC)
        return y_BTC / (y_BTC.square().mean(-1, keepdim=True).sqrt() + self.outside)


@fault
def no_eps_norm(recipe: Recipe, *, outside: Annotated[float, Field(ge=0)] = 0.0) -> Recipe:
    """Each branch ends in a norm without an epsilon under its root, and its last matrix begins at zero.

    Zeros make a block begin as the identity, and their mean square is 0. Divided by its root it is 0/0; with
    an epsilon `outside` the root the value is 0, but the root's derivative at 0 is infinite.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        for holder in built.modules():
            if isinstance(holder, Block | Attention):
                nn.init.zeros_(holder.proj.weight)
                holder.proj = cast("nn.Linear", BranchNorm(holder.proj, outside))
        return built

    return replace(recipe, model=model)
