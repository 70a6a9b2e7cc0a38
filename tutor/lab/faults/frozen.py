"""A fault in the model: nothing trains."""

from dataclasses import replace

from torch import nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def frozen(recipe: Recipe) -> Recipe:
    """No parameter requires a gradient, as after a fine-tuning helper that froze one module too many."""

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        return recipe.model(settings, vocab_size).requires_grad_(False)

    return replace(recipe, model=model)
