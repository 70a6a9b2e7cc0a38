"""A trigger: the stream meets one site's footer, over and over."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import trigger
from tutor.lab.loader import Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@trigger
def boilerplate(
    recipe: Recipe, *, step: Annotated[int, Field(ge=0)], batches: Annotated[int, Field(ge=1, le=1000)] = 3
) -> Recipe:
    """The stream meets the corpus's boilerplate at `step`, enough of it to fill `batches` steps."""

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        stream = recipe.loader(settings, corpus, tokenizer)
        stream.insert(step, range(len(corpus.train), len(corpus.texts)), batches)
        return stream

    return replace(recipe, loader=loader)
