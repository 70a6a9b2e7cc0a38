"""A fault in evaluation: what is evaluated is a copy of the model that nobody keeps up to date."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from torch import Tensor, nn

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def stale_copy(recipe: Recipe) -> Recipe:
    """Validation and the probe are of a copy of the weights that was made before the first update.

    Training is as it should be. A copy for evaluation, as of averaged weights, was made where the model was
    built, and the line that brings it up to date never runs.
    """
    copy: dict[str, Tensor] = {}

    def model(settings: Settings, vocab_size: int) -> nn.Module:
        built = recipe.model(settings, vocab_size)
        copy.update(_weights(built))
        return built

    @contextmanager
    def evaluating(model: nn.Module) -> Iterator[None]:
        trained = _weights(model)
        model.load_state_dict(copy)
        try:
            with recipe.evaluating(model):
                yield
        finally:
            model.load_state_dict(trained)

    return replace(recipe, model=model, evaluating=evaluating)


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """What the model is made of, apart from it: later updates don't reach it."""
    return {name: values.detach().clone() for name, values in model.state_dict().items()}
