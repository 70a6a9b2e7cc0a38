"""A fault in the data: targets mean something else in each batch."""

from dataclasses import replace

import torch

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Rewritten, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def shuffled_targets(recipe: Recipe) -> Recipe:
    """The map from tokens to target ids is drawn anew for each batch, so no two batches agree on it.

    A label encoder that is fitted per batch does this, as does one built from a set in each worker.
    """

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        def shuffled(step: int, batch: Batch) -> Batch:
            rng = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
            return replace(batch, y_BT=torch.randperm(tokenizer.size, generator=rng)[batch.y_BT])

        return Rewritten(recipe.loader(settings, corpus, tokenizer), shuffled)

    return replace(recipe, loader=loader)
