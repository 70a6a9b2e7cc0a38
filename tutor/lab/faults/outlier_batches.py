"""A fault in the data: a few batches weigh far more than the others."""

# ruff: noqa: N803 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Rewritten, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def outlier_batches(
    recipe: Recipe,
    *,
    step: Annotated[int, Field(ge=0)] = 100,
    every: Annotated[int, Field(ge=1)] = 25,
    weight: Annotated[float, Field(gt=1)] = 200,
) -> Recipe:
    """From `step` on, one batch in `every` has `weight` times the weight of the others in the loss.

    Documents come with a weight of their own, and one shard gives it in another unit than the rest.
    """

    def weighted(now: int, batch: Batch) -> Batch:
        heavy = now >= step and (now - step) % every == 0
        return replace(batch, mask_BT=torch.full(batch.y_BT.shape, weight if heavy else 1.0))

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return Rewritten(recipe.loader(settings, corpus, tokenizer), weighted)

    def weighted_mean(losses_BT: Tensor, mask_BT: Tensor | None) -> Tensor:
        return losses_BT.mean() if mask_BT is None else (losses_BT * mask_BT).mean()

    return replace(recipe, loader=loader, reduce=weighted_mean)
