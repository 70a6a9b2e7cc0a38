"""What a schema can't see in a card: settings that don't exist, promises of no tree, figures of no table.

Whether its faults and triggers are registered, only the lab can say: `tutor trees check` asks it.
"""

from collections.abc import Iterator

from tutor import catalog, tree
from tutor.card.schema import Card, Expect
from tutor.settings import build
from tutor.words.document import Where
from tutor.words.prose import sentences, shape_of, unknown_placeholders

NOTE = ("calibration", "note")
"""The one sentence whose placeholders are filled: by the figures of the table."""

Found = Iterator[tuple[Where, str]]
"""Keys and indexes that lead to the place in the card's files, and the sentence."""


def find_problems(card: Card) -> Found:
    """Every problem of the card: where it is, and what is wrong."""
    changes = {("settings",): card.settings, ("change",): card.change}
    changes |= {("fixes", id, "change"): fix.change for id, fix in card.fixes.items()}
    for where, values in changes.items():
        for name, value in values.items():
            try:
                build({name: value})
            except ValueError as error:
                yield (*where, name), f"{where[0]}: {error}"
    if not card.change and not card.faults:
        yield ("change",), "change: a break changes a setting or names a fault"
    if card.expect:
        yield from _expect(card.expect)
    for where, words in sentences(shape_of(Card), card):
        if where != NOTE:
            yield from unknown_placeholders(where, words, (), "placeholder that is filled here")
        elif card.figures:
            yield from unknown_placeholders(where, words, card.figures, "figure of the table beside the card")


def _expect(expect: Expect) -> Found:
    """A promise of a tree that isn't there, or of a leaf that it hasn't."""
    try:
        promised = tree.find(expect.tree, checked=False)
    except ValueError as error:
        yield ("expect", "tree"), f"expect: {error}"
        return
    for leaf in expect.leaf:
        if leaf not in promised.leaves:
            yield (
                ("expect", "leaf"),
                f"expect: {catalog.unknown(f'leaf of {expect.tree}', leaf, promised.leaves)}",
            )
