"""A trigger: a trainer that passes over steps whose gradient isn't finite."""

from dataclasses import replace

import torch
from torch import Tensor

from tutor.lab.faults import trigger
from tutor.lab.recipe import Recipe


@trigger
def skips_non_finite(recipe: Recipe) -> Recipe:
    """A gradient that isn't finite is taken as 0, in any dtype, as trainers do that guard each step."""

    def clip(grads: list[Tensor]) -> tuple[Tensor, Tensor]:
        norm, clipped = recipe.clip(grads)
        for grad in grads:
            grad.copy_(torch.where(norm.isfinite(), grad, 0.0))
        return norm, clipped & norm.isfinite()

    return replace(recipe, clip=clip)
