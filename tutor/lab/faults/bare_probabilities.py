"""A fault in the loss: the probability of the target, without its logarithm."""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from dataclasses import replace

from torch import Tensor

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def bare_probabilities(recipe: Recipe) -> Recipe:
    """The loss is minus the probability of the target, as nll_loss has it of a softmax's output."""

    def losses(logits_BTV: Tensor, y_BT: Tensor) -> Tensor:
        return -logits_BTV.softmax(-1).gather(-1, y_BT[..., None]).squeeze(-1)

    return replace(recipe, token_losses=losses)
