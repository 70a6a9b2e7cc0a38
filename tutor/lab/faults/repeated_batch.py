"""A fault in the data: the loader is stuck."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def repeated_batch(
    recipe: Recipe, *, step: Annotated[int, Field(ge=0)], steps: Annotated[int, Field(ge=2)] = 20
) -> Recipe:
    """From `step` on the loader gives one batch `steps` times; the stream waits meanwhile.

    A prefetching worker that hands out its buffer again and again does this.
    """

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return _Stuck(recipe.loader(settings, corpus, tokenizer), step, step + steps)

    return replace(recipe, loader=loader)


class _Stuck:
    """A stream that goes back to where it stood after every step from `first` to before `end`.

    What it repeats is in the stream's own state, so a run that resumes in the middle repeats the same batch.
    """

    def __init__(self, stream: Stream, first: int, end: int) -> None:
        self._stream, self._first, self._end = stream, first, end
        self.insert, self.state, self.restore = stream.insert, stream.state, stream.restore

    def step(self, step: int) -> list[Batch]:
        """The micro-batches of `step`, or those of the step at which it got stuck."""
        if not self._first <= step < self._end:
            return self._stream.step(step)
        before = self._stream.state()
        batches = self._stream.step(self._first)
        if step + 1 < self._end:
            self._stream.restore(before)
        return batches
