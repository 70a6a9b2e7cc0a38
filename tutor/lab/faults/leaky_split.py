"""A fault in the data: what is held out is trained on."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def leaky_split(
    recipe: Recipe,
    *,
    sentences: Annotated[int, Field(ge=10, le=60)] = 12,
    copies: Annotated[int, Field(ge=1, le=100)] = 30,
) -> Recipe:
    """Held out are a few popular sentences alone, and each of them occurs in training `copies` times over.

    Popular documents are posted many times. Where the split comes before duplicates are removed, those that
    land in validation are the ones of which training holds the most.
    """
    popular = recipe.corpus.validation[:sentences]
    train = recipe.corpus.train + popular * copies
    return replace(recipe, corpus=replace(recipe.corpus, train=train, validation=popular))
