"""An action: batches that hold certain documents give way to the next ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import action
from tutor.lab.loader import Batch, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings

MOST = 1000
"""Steps passed over in a row, after which the documents are taken to be everywhere."""

SEPARATOR = "+"  # a manifest and a command line hold the ids as one word


Documents = Annotated[str, Field(pattern=r"^\d+(\+\d+)*$"), BeforeValidator(str)]


@action
def swap_documents(recipe: Recipe, *, step: Annotated[int, Field(ge=0)], documents: Documents) -> Recipe:
    """From `step` on, no batch holds any of the `documents` (their ids, as 240+241): the next one is taken.

    Where a subset of the data is rotten, this is the swap that can be made without training on it again.
    """
    unwanted = frozenset(map(int, documents.split(SEPARATOR)))

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return _Swapping(recipe.loader(settings, corpus, tokenizer), step, unwanted)

    return replace(recipe, loader=loader)


class _Swapping:
    """A stream without the steps that hold one of `unwanted`, from `first` on; later ones move up."""

    def __init__(self, stream: Stream, first: int, unwanted: frozenset[int]) -> None:
        self._stream, self._first, self._unwanted = stream, first, unwanted
        self._passed = 0  # steps passed over so far
        self.insert = stream.insert

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of `step`, none with a document that isn't wanted."""
        for _ in range(MOST):
            batches = self._stream.step(step + self._passed)
            held = {document for batch in batches for document in batch.sentence_ids}
            if step < self._first or self._unwanted.isdisjoint(held):
                return batches
            self._passed += 1
        raise ValueError(
            f"{MOST} steps in a row hold a document to be swapped: there is nothing else to take"
        )

    def state(self) -> dict[str, Any]:
        """Where the stream stands, and how many steps it has passed over."""
        return {"stream": self._stream.state(), "passed": self._passed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from `state`, or from one of the stream as it was before anything was swapped."""
        passed = state.get("passed", 0)
        if not isinstance(passed, int) or passed < 0:
            raise ValueError("its loader's passed is none")
        self._stream.restore(state.get("stream", state))
        self._passed = passed
