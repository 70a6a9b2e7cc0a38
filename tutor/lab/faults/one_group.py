"""A fault in the optimizer's groups: everything decays."""

from dataclasses import replace

from torch import nn

from tutor.lab.faults import fault
from tutor.lab.optimizer import Named, Optimizer
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def one_group(recipe: Recipe) -> Recipe:
    """All parameters lie in one group and decay, gains and biases too, as in `AdamW(model.parameters())`."""

    def split(named: Named, settings: Settings) -> list[tuple[str, float, Named]]:
        return [("all", settings.weight_decay, named)]

    def optimizer(model: nn.Module, settings: Settings) -> Optimizer:
        return Optimizer(model, settings, split)

    return replace(recipe, optimizer=optimizer)
