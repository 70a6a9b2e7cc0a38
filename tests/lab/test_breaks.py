"""Every break, trained for real at one seed and walked with nobody watching, ends at the leaf it promises.

A card promises four seeds of five: this is one of those. `tutor atlas` tells of the others. The headline
break is trained by test_train, with its control and fixes; its silent twin, as long, by `make calibrate`.
"""

from pathlib import Path

import pytest

from tutor import card as cards
from tutor import paths
from tutor.lab.atlas import entries_of, promises_of, survey

SEED = 1
ELSEWHERE = ("no-clip", "no-clip-silent")
SHIPPED = [
    name
    for name, path in cards.available().items()
    if path.is_relative_to(paths.shipped()) and name not in ELSEWHERE
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
