"""A fault in the data: no token of the batch counts in the loss."""

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
def empty_mask(
    recipe: Recipe,
    *,
    step: Annotated[int, Field(ge=0)],
    steps: Annotated[int, Field(ge=1)] | None = 1,
) -> Recipe:
    """From `step` on, for so many `steps` (none: to the end), the loss mask is empty: the mean is 0/0.

    This happens where every label of a batch is the ignored one: a prompt fills the whole row, or the answer
    of a chat template is cut off.
    """
    end = None if steps is None else step + steps

    def emptied(now: int, batch: Batch) -> Batch:
        if now < step or (end is not None and now >= end):
            return batch
        return replace(batch, mask_BT=torch.zeros_like(batch.y_BT, dtype=torch.bool))

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return Rewritten(recipe.loader(settings, corpus, tokenizer), emptied)

    return replace(recipe, loader=loader)
