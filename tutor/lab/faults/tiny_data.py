"""A fault in the data: there is hardly any."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.faults import fault
from tutor.lab.recipe import Recipe


@fault
def tiny_data(recipe: Recipe, *, sentences: Annotated[int, Field(ge=1)] = 12) -> Recipe:
    """Only the first `sentences` of the corpus are trained on, again and again; what is held out stays."""
    return replace(recipe, corpus=replace(recipe.corpus, train=recipe.corpus.train[:sentences]))
