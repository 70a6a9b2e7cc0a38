"""A fault in evaluation: one of the shards that it goes through is text of another tokenizer."""

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.loader import Batch
from tutor.lab.recipe import Recipe


@fault
def stray_shard(recipe: Recipe, *, shards: Annotated[int, Field(ge=1, le=10)] = 5) -> Recipe:
    """Each evaluation takes the next of so many shards of the held-out data; the last one is garbled.

    Its ids are those of another tokenizer, so each stands for another piece of text. Training isn't touched,
    and the probe, which is one batch for all steps, falls as ever.
    """
    settings, size = recipe.settings, recipe.tokenizer.size
    other = torch.randperm(size, generator=torch.Generator().manual_seed(settings.seed))

    def shard(batch: Batch, step: int) -> Batch:
        turn = step // settings.val_every % shards
        rows = slice(turn, None, shards)
        mask = None if batch.mask_BT is None else batch.mask_BT[rows]
        held_out = replace(batch, x_BT=batch.x_BT[rows], y_BT=batch.y_BT[rows], mask_BT=mask)
        if turn < shards - 1:
            return held_out
        return replace(held_out, x_BT=other[held_out.x_BT], y_BT=other[held_out.y_BT])

    return replace(recipe, shard=shard)
