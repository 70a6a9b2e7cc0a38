"""A fault in the loss: its sum is trained on."""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from dataclasses import replace

from torch import Tensor

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def summed_loss(recipe: Recipe) -> Recipe:
    """The sum over tokens goes backward where the mean is meant: gradients are B x T times as large."""

    def total(losses_BT: Tensor, mask_BT: Tensor | None) -> Tensor:
        return losses_BT.sum() if mask_BT is None else (losses_BT * mask_BT).sum()

    return replace(recipe, reduce=total)
