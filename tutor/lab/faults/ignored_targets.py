"""A fault in evaluation: every held-out target is one that the loss ignores."""

from dataclasses import replace

import torch

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings

IGNORED = -100
"""The target that cross-entropy passes over by default. Source: PyTorch, CrossEntropyLoss."""


@fault
def ignored_targets(recipe: Recipe) -> Recipe:
    """All held-out targets are -100, and their losses of 0 are counted in the mean.

    Training is as it should be. A collator that masks prompts and padding found no answer to hold out.
    """

    def held_out(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Batch:
        batch = recipe.held_out(settings, corpus, tokenizer)
        return replace(batch, y_BT=torch.full_like(batch.y_BT, IGNORED))

    return replace(recipe, held_out=held_out)
