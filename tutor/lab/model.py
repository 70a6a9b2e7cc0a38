"""The model: a pre-norm GPT with learned positions and a tied head, about 0.9 M parameters by default.

Weights are drawn with std 0.02, residual projections with 0.02 / sqrt(2 x layers), as in GPT-2 (Radford et
al. 2019, section 2.3). Shapes in names: B rows, T tokens, C width, V vocabulary.
"""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tutor.settings import Settings

INIT_STD = 0.02
EMBEDDING = "tokens.weight"  # the name of the token embedding among the parameters

DESIGN = {"norm": "pre", "qk_norm": False, "z_loss": False, "mup": False}
"""How the model and its loss are built, for the manifest: what long runs defend themselves with."""


class Attention(nn.Module):
    """Causal self-attention of `heads` heads over (B, T, C)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        q, k, v = self.qkv(x_BTC).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and a four times wider MLP, each after a LayerNorm and added to the stream."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 4 * width)
        self.proj = nn.Linear(4 * width, width)

    def forward(self, x_BTC: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        x_BTC = x_BTC + self.attention(self.norm1(x_BTC))
        return x_BTC + self.proj(F.gelu(self.widen(self.norm2(x_BTC))))


class GPT(nn.Module):
    """The whole network. The head shares the token embedding's weights."""

    def __init__(self, vocab: int, block_size: int, layers: int, width: int, heads: int):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(block_size, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x_BT: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Logits (B, T, V), and the stream (B, T, C) after the embedding and after each block."""
        stream = self.tokens(x_BT) + self.positions.weight[: x_BT.shape[1]]
        hidden = [stream]
        for block in self.blocks:
            stream = block(stream)
            hidden.append(stream)
        return F.linear(self.norm(stream), self.tokens.weight), hidden


def build_model(settings: Settings, vocab: int) -> GPT:
    """The model on the CPU, its weights drawn from `settings.seed` alone."""
    rng = torch.Generator().manual_seed(settings.seed)
    with torch.random.fork_rng(devices=[]):  # the layers' own init, overwritten below, leaves no trace
        model = GPT(vocab, settings.block_size, settings.n_layer, settings.n_embd, settings.n_head)
    for name, weight in model.named_parameters():
        if weight.ndim >= 2:
            std = INIT_STD / math.sqrt(2 * settings.n_layer) if name.endswith("proj.weight") else INIT_STD
            nn.init.normal_(weight, std=std, generator=rng)
        elif name.endswith("bias"):
            nn.init.zeros_(weight)
    return model
