"""A fault in the data: it drifts away from what the run began with."""

# ruff: noqa: N806 (capitals name the axes of a tensor)

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Rewritten, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def drifting_data(
    recipe: Recipe,
    *,
    step: Annotated[int, Field(ge=0)],
    over: Annotated[int, Field(ge=1)],
    share: Annotated[float, Field(gt=0, le=1)] = 1.0,
) -> Recipe:
    """From `step` on a growing part of every batch is noise, `share` of its tokens after `over` steps.

    A crawl that goes from books to scans read by a machine does this: the later the shard, the more of its
    characters are wrong.
    """

    def worn(now: int, batch: Batch) -> Batch:
        part = share * min(1.0, (now - step) / over)
        if part <= 0:
            return batch
        rng = torch.Generator().manual_seed(recipe.settings.seed * 1_000_003 + now)
        size = recipe.tokenizer.size
        wrong_BT = torch.rand(batch.y_BT.shape, generator=rng) < part
        noise_BT = torch.randint(size, batch.y_BT.shape, generator=rng)
        y_BT = torch.where(wrong_BT, noise_BT, batch.y_BT)
        x_BT = batch.x_BT.clone()
        x_BT[:, 1:] = y_BT[:, :-1]
        return replace(batch, x_BT=x_BT, y_BT=y_BT)

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return Rewritten(recipe.loader(settings, corpus, tokenizer), worn)

    return replace(recipe, loader=loader)
