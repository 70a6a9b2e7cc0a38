"""A fault in the loss: a softmax before a cross-entropy, which has one of its own."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace

from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def softmax_twice(recipe: Recipe) -> Recipe:
    """The cross-entropy gets probabilities in place of logits, as from a model that ends in a softmax.

    Probabilities lie within 1 of each other, so that its own softmax makes of the surest answer no more than
    e times what it makes of any other.
    """

    def losses(logits_BTV: Tensor, y_BT: Tensor) -> Tensor:
        probabilities_BTV = logits_BTV.softmax(-1)
        each = F.cross_entropy(probabilities_BTV.flatten(0, -2), y_BT.flatten(), reduction="none")
        return each.view_as(y_BT)

    return replace(recipe, token_losses=losses)
