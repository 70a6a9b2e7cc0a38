"""A fault in mixed precision: fp16 without a loss scaler."""

from dataclasses import replace

import torch

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe
from tutor.settings import Settings


@fault
def no_scaler(recipe: Recipe) -> Recipe:
    """fp16 is trained without a scaler, so a step that overflows isn't skipped: its NaN reach the weights."""

    def scaler(settings: Settings) -> torch.amp.GradScaler:
        return torch.amp.GradScaler(settings.device, enabled=False)

    return replace(recipe, scaler=scaler)
