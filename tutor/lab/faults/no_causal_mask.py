"""A fault in the model: attention looks ahead."""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tutor.lab.faults import fault
from tutor.lab.model import Attention, Block
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


class BothWays(nn.Module):
    """Self-attention over all of a row; it shares the weights of a causal one."""

    def __init__(self, causal: Attention):
        super().__init__()
        self.heads, self.qkv, self.proj = causal.heads, causal.qkv, causal.proj

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        q, k, v = self.qkv(x_BTC).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).flatten(2))


@fault
def no_causal_mask(recipe: Recipe) -> Recipe:
    """Attention has no causal mask, so that each token sees the one it has to predict.

    `is_causal` forgotten does this, as does a mask whose meaning is turned round, or one that another mask,
    such as that of the padding, replaces.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        for block in built.modules():
            if isinstance(block, Block):
                block.attention = cast("Attention", BothWays(block.attention))
        return built

    return replace(recipe, model=model)
