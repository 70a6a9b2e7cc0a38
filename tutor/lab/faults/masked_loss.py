"""A fault in the loss: its mask counts no token, and nobody notices."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace

import torch
from torch import Tensor

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def masked_loss(recipe: Recipe) -> Recipe:
    """Every target is the ignored one, and a divisor clamped to 1 makes a loss of 0 of what would be 0/0.

    This happens where a chat template isn't found in the text, so that no token counts as an answer.
    """

    def masked(losses_BT: Tensor, _mask_BT: Tensor | None) -> Tensor:
        mask_BT = torch.zeros_like(losses_BT)
        return (losses_BT * mask_BT).sum() / mask_BT.sum().clamp(min=1)

    return replace(recipe, reduce=masked)
