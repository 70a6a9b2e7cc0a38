"""A fault in the data: the loader is stuck."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Rewritten, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def repeated_batch(
    recipe: Recipe, *, step: Annotated[int, Field(ge=0)], steps: Annotated[int, Field(ge=2)] = 20
) -> Recipe:
    """From `step` on the loader gives one batch `steps` times, and the ones that were due are lost.

    A prefetching worker that hands out its buffer again and again does this.
    """

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        kept: list[Batch] = []

        def stuck(now: int, batch: Batch) -> Batch:
            if now < step or now >= step + steps:
                return batch
            if now == step:
                kept.append(batch)
            return kept[(now - step) % len(kept)]

        return Rewritten(recipe.loader(settings, corpus, tokenizer), stuck)

    return replace(recipe, loader=loader)
