"""The table of fixes: what is tried again takes its own rows' place and no other's."""

from pathlib import Path

import pytest

from tutor import card as cards
from tutor.lab.mending import Mended, trials_of, write


@pytest.mark.train
def test_rows_of_other_cards_stay(tmp_path: Path):
    table = tmp_path / "fixes.csv"
    write(table, [Mended("b", "clip", 42, "flaw", "x", ""), Mended("a", "", 42, "healthy", "healthy", 0.5)])
    write(table, [Mended("b", "clip", 42, "healthy", "healthy", 0.6)])
    assert table.read_text().splitlines()[1:] == [
        "a,,42,healthy,healthy,0.5",
        "b,clip,42,healthy,healthy,0.6",
    ]


@pytest.mark.train
def test_a_fix_is_walked_in_every_tree_that_its_card_promises_a_leaf_of(tmp_path: Path):
    both = trials_of(cards.find("no-clip"), 42, tmp_path)
    assert {trial.walks for trial in both} == {("", "scale")}
    plain = trials_of(cards.find("lr-too-high"), 42, tmp_path)
    assert {trial.walks for trial in plain} == {("",)}
