"""A fault in accumulation: the division by k was forgotten."""

from dataclasses import replace

from torch import Tensor

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def summed_accumulation(recipe: Recipe) -> Recipe:
    """Each micro-batch goes backward with its whole loss, so k of them make a gradient k times as large."""

    def whole(loss: Tensor, _k: int) -> Tensor:
        return loss

    return replace(recipe, accumulate=whole)
