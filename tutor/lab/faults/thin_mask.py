"""A fault in the loss: hardly any token counts, and the divisor counts them all."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

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
def thin_mask(recipe: Recipe, *, every: Annotated[int, Field(ge=1)] = 4) -> Recipe:
    """One token of every so many steps counts in the loss, and the sum is divided by all tokens.

    Answers of one word after long prompts do this, where the mean is taken over the batch and not over what
    the mask counts.
    """

    def thinned(step: int, batch: Batch) -> Batch:
        mask_BT = torch.zeros_like(batch.y_BT)
        if step % every == 0:
            mask_BT[0, -1] = 1
        return replace(batch, mask_BT=mask_BT)

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return Rewritten(recipe.loader(settings, corpus, tokenizer), thinned)

    def over_all(losses_BT: Tensor, mask_BT: Tensor | None) -> Tensor:
        return losses_BT.mean() if mask_BT is None else (losses_BT * mask_BT).mean()

    return replace(recipe, loader=loader, reduce=over_all)
