"""Breaks of small models, trained for real at one seed and walked with nobody watching, end at their leaf.

A card promises four seeds of five: this is one of those. `tutor atlas` tells of the others, and of the breaks
of the full-sized model, which take most of its time.
"""

from pathlib import Path

import pytest

from tutor import card as cards
from tutor import paths
from tutor.card import resolve
from tutor.lab.atlas import entries_of, promises_of, survey

SEED = 1
WIDEST = 64
"""The width of the model up to which a break is trained here."""

SHIPPED = [
    name
    for name, path in cards.available().items()
    if path.is_relative_to(paths.shipped())
    and resolve(cards.find(name, checked=False)).settings.n_embd <= WIDEST
]


@pytest.mark.train
@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_it_ends_at_its_leaf(tmp_path: Path, name: str):
    card = cards.find(name, checked=False)
    _, broken = entries_of(card, SEED, None, tmp_path)
    row = survey(broken)
    kept = row.kept(promises_of([card]))
    assert kept, row
