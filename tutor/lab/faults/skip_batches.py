"""An action: batches of the stream are skipped, as PaLM's engineers did."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import action
from tutor.lab.loader import Batch, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@action
def skip_batches(
    recipe: Recipe, *, step: Annotated[int, Field(ge=0)], batches: Annotated[int, Field(ge=1, le=100_000)] = 5
) -> Recipe:
    """At `step` the stream is `batches` steps ahead of where it would be: what lies between is never met."""

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return _Skipping(recipe.loader(settings, corpus, tokenizer), step, batches)

    return replace(recipe, loader=loader)


class _Skipping:
    """A stream that passes over the steps from `first` on, `count` of them; steps after it are renumbered.

    Its state is the stream's own: by the step that is asked for it is known whether the skip lies behind.
    """

    def __init__(self, stream: Stream, first: int, count: int) -> None:
        self._stream, self._first, self._count = stream, first, count
        self.insert, self.state, self.restore = stream.insert, stream.state, stream.restore

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of `step`, or those of so many steps later."""
        if step == self._first:
            for passed in range(step, step + self._count):
                self._stream.step(passed)
        return self._stream.step(step if step < self._first else step + self._count)
