"""A fault in the model: what goes into the blocks' branches isn't normalised."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tutor.lab.faults import fault
from tutor.lab.model import GPT, Block
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


class PostNormed(nn.Module):
    """A block whose norms stand behind each sum; it shares the weights of a pre-norm one."""

    def __init__(self, block: Block):
        super().__init__()
        self.norm1, self.attention = block.norm1, block.attention
        self.norm2, self.widen, self.proj = block.norm2, block.widen, block.proj

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        x_BTC = self.norm1(x_BTC + self.attention(x_BTC))
        return self.norm2(x_BTC + self.proj(F.gelu(self.widen(x_BTC))))


@fault
def no_norm(recipe: Recipe) -> Recipe:
    """Attention and the MLP take the stream as it is, and the stream itself is normalised behind each sum.

    One line moved by a few characters does this, `norm(x + f(x))` for `x + f(norm(x))`. The stream, which
    begins at 0.03, then has size 1 from the first block on, and no path past the norms.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = cast("GPT", recipe.model(settings, vocab_size))
        built.blocks = nn.ModuleList(PostNormed(cast("Block", block)) for block in built.blocks)
        return built

    return replace(recipe, model=model)
