"""A fault in the model: the head is tied to a copy of the embedding."""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tutor.lab.faults import fault
from tutor.lab.model import GPT
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


class CopiedHead(nn.Module):
    """A network that shares the parts of a tied one; its head is the embedding as drawn, untrained."""

    head: Tensor

    def __init__(self, tied: GPT):
        super().__init__()
        self.tokens, self.positions = tied.tokens, tied.positions
        self.blocks, self.norm = tied.blocks, tied.norm
        self.register_buffer("head", tied.tokens.weight.detach().clone())

    def forward(self, x_BT: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Logits (B, T, V), and the stream (B, T, C) after the embedding and after each block."""
        stream = self.tokens(x_BT) + self.positions.weight[: x_BT.shape[1]]
        hidden = [stream]
        for block in self.blocks:
            stream = block(stream)
            hidden.append(stream)
        return F.linear(self.norm(stream), self.head), hidden


@fault
def copied_head(recipe: Recipe) -> Recipe:
    """The head holds a copy of the embedding, made when the weights were tied, and no optimizer knows of it.

    Wrapping or moving the model after its weights were tied does this, as on some accelerators and with
    sharded parameters: the two then are two tensors.
    """

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        return CopiedHead(cast("GPT", recipe.model(settings, vocab_size)))

    return replace(recipe, model=model)
