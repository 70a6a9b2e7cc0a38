"""A fault in evaluation: the model is evaluated as it is trained."""

from contextlib import nullcontext
from dataclasses import replace

from torch import nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def no_eval_mode(recipe: Recipe) -> Recipe:
    """Nobody calls `model.eval()`, so dropout stays on in validation and for the probe."""

    def evaluating(_: nn.Module) -> nullcontext[None]:
        return nullcontext()

    return replace(recipe, evaluating=evaluating)
