"""Breaks, trained for real at one seed and walked with nobody watching, end at their leaf.

A card promises four seeds of five: this is one of those. `tutor atlas` tells of the others, of controls, and
of the three breaks of the full-sized model, which take as long as all others together.
"""

from pathlib import Path

import pytest

from tutor import card as cards
from tutor import paths, readers, tree
from tutor.card import promises, resolve
from tutor.lab.atlas import entries_of, survey, walked
from tutor.lab.campaign import run_once
from tutor.lab.fork import Change, fork

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
    rows = survey(broken)
    assert [row for row in rows if not row.kept(promises([card]))] == []


@pytest.mark.train
@pytest.mark.slow
def test_a_run_that_jumps_again_after_a_restart_is_to_lower_its_rate(tmp_path: Path):
    """The one leaf that no single run reaches: it asks about the restart in a fork's lineage."""
    _, broken = entries_of(cards.find("loose-defences", checked=False), SEED, None, tmp_path)
    run_once(broken.job)
    fork(broken.job.out, 400, Change(), tmp_path / "again", command="")
    [stage] = walked(readers.read(tmp_path / "again"), tree.BY_HAND)
    assert stage.walk.at == "lower-rate"
