"""A fault in the loss: a softmax in half precision, and then its logarithm."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

from dataclasses import replace

import torch
from torch import Tensor

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def log_of_softmax(recipe: Recipe) -> Recipe:
    """The loss is -log(softmax) with the probabilities held in fp16, to save the memory of the logits.

    The smallest fp16 number above 0 is 6e-8: a target 17 nats under the best logit has probability 0, and
    its loss is -log(0).
    """

    def losses(logits_BTV: Tensor, y_BT: Tensor) -> Tensor:
        probabilities_BTV = logits_BTV.softmax(-1).to(torch.float16)
        return -probabilities_BTV.gather(-1, y_BT[..., None]).squeeze(-1).float().log()

    return replace(recipe, token_losses=losses)
