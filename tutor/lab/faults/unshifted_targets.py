"""A fault in the data: targets aren't shifted."""

from dataclasses import replace

from tutor.lab.corpus import Corpus
from tutor.lab.faults import fault
from tutor.lab.loader import Batch, Rewritten, Stream
from tutor.lab.recipe import Recipe
from tutor.lab.tokenizer import Tokenizer
from tutor.settings import Settings


@fault
def unshifted_targets(recipe: Recipe) -> Recipe:
    """The target of each token is that token itself, held-out ones too: nobody shifts them by one.

    A collator that leaves the shift to the model does this with a model that leaves it to the collator.
    """

    def unshifted(_: int, batch: Batch) -> Batch:
        return replace(batch, y_BT=batch.x_BT)

    def loader(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Stream:
        return Rewritten(recipe.loader(settings, corpus, tokenizer), unshifted)

    def held_out(settings: Settings, corpus: Corpus, tokenizer: Tokenizer) -> Batch:
        return unshifted(0, recipe.held_out(settings, corpus, tokenizer))

    return replace(recipe, loader=loader, held_out=held_out)
