"""A fault in the data: one shard of it comes damaged, now and then."""

import random
from array import array
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Rewritten, Stream, pack
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def rotten_subset(
    recipe: Recipe,
    *,
    step: Annotated[int, Field(ge=0)],
    every: Annotated[int, Field(ge=1)] = 100,
    batches: Annotated[int, Field(ge=1, le=100)] = 2,
    documents: Annotated[int, Field(ge=1, le=240)] = 40,
) -> Recipe:
    """From `step` on, `batches` steps of every so many are read from one shard, its words in any order.

    An augmentation meant for another task, which mixes the words of a sentence, is left on for a shard of so
    many `documents`. It mixes them anew each time, so that they can't be learned by heart. They are sentences
    of the corpus, so that no token of theirs is rare, under ids of their own.
    """
    shard = recipe.corpus.train[:documents]
    first = len(recipe.corpus.texts)
    corpus = replace(recipe.corpus, boilerplate=recipe.corpus.boilerplate + shard)

    def loader(settings: Settings, _: Corpus, tokenizer: Tokenizer) -> Stream:
        stream = recipe.loader(settings, recipe.corpus, tokenizer)
        needed = settings.batch_size * (settings.block_size + 1)

        def rewrite(now: int, batch: Batch) -> Batch:
            if now < step or (now - step) % every >= batches:
                return batch
            rng = random.Random(now)
            order = rng.sample(range(documents), documents)
            tokens, ids = array("q"), list[int]()
            while len(tokens) < needed:
                document = order[len(ids) % documents]
                words = shard[document].split()
                rng.shuffle(words)
                tokens.extend(tokenizer.document(" ".join(words)))
                ids.append(first + document)
            return pack(tokens[:needed], settings.batch_size, ids, tokenizer.rare)

        return Rewritten(stream, rewrite)

    return replace(recipe, corpus=corpus, loader=loader)
