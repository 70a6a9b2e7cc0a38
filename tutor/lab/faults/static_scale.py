"""A fault in mixed precision: the loss scale never moves."""

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


class StaticScaler(torch.amp.GradScaler):
    """A scaler that skips the steps that overflow and keeps its scale."""

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        """Make ready for the next step."""
        super().update(self.get_scale() if new_scale is None else new_scale)


@fault
def static_scale(recipe: Recipe, *, scale: Annotated[float, Field(gt=0)] = 2.0**24) -> Recipe:
    """The loss is multiplied by `scale` throughout, however often the gradients overflow.

    A fixed scale that another model's recipe named, or `scaler.update()` forgotten, does this.
    """

    def scaler(settings: Settings) -> torch.amp.GradScaler:
        return StaticScaler(settings.device, init_scale=scale, enabled=settings.dtype == "fp16")

    return replace(recipe, scaler=scaler)
