"""A fault in evaluation: no held-out token counts."""

from dataclasses import replace

import torch

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def empty_evaluation(recipe: Recipe) -> Recipe:
    """The loss mask of the held-out data is empty, so that the mean over it is 0/0.

    Training is as it should be. Evaluation masks prompts, cuts rows at the block's length, and nothing of an
    answer is left.
    """

    def held_out(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Batch:
        batch = recipe.held_out(settings, corpus, tokenizer)
        return replace(batch, mask_BT=torch.zeros_like(batch.y_BT, dtype=torch.bool))

    return replace(recipe, held_out=held_out)
