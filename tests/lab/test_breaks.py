"""Breaks, trained for real at one seed and walked with nobody watching, end at their leaf.

A card promises four seeds of five: this is one of those. `tutor atlas` tells of the others, and of controls.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.lab.conftest import Shared
from tutor import card as cards
from tutor import paths, readers, tree
from tutor.card import promises
from tutor.lab.atlas import Entry, entries_of, survey, walked
from tutor.lab.campaign import run_once
from tutor.lab.fork import Change, fork
from tutor.proof import truth
from tutor.ui import proofs
from tutor.walk import AtLeaf

SEED = 1
STEPS = {
    "amnesiac-optimizer": 130,
    "bare-probabilities": 60,
    "biased-init": 60,
    "copied-head": 60,
    "drifting-data": 480,
    "empty-evaluation": 60,
    "endless-warmup": 430,
    "footer-flood": 390,
    "heavy-batches": 585,
    "hot-attention": 60,
    "hot-blocks": 60,
    "hot-init": 60,
    "hot-lr": 120,
    "idle-scheduler": 60,
    "ignored-targets": 110,
    "log-of-softmax": 365,
    "loose-defences": 400,
    "lr-restart": 340,
    "lr-too-high": 150,
    "masked-loss": 60,
    "moments-not-restored": 345,
    "no-causal-mask": 400,
    "no-clip": 410,
    "no-clip-silent": 360,
    "no-final-norm": 80,
    "no-momentum": 130,
    "no-norm": 60,
    "one-group": 60,
    "other-tokenizer": 130,
    "outlier-batches": 185,
    "peak-lr": 490,
    "repeated-batch": 375,
    "slow-warmup": 130,
    "softmax-twice": 130,
    "stale-checkpoint": 60,
    "stale-copy": 110,
    "step-decay": 185,
    "stray-shard": 260,
    "summed-accumulation": 60,
    "tiny-data": 260,
    "unshifted-targets": 140,
    "unstable-lr": 360,
    "zero-base-lr": 60,
}
"""As few as the leaf allows; the others train as many as their card says."""

LONG = {
    "drifting-data", "endless-warmup", "footer-flood", "heavy-batches", "log-of-softmax",
    "moments-not-restored", "no-causal-mask", "no-clip", "no-clip-silent", "slow-v",
}  # fmt: skip
"""Those that train for half a minute or more, as long as all the others: with the slow tests."""

SHIPPED = [name for name, path in cards.available().items() if path.is_relative_to(paths.shipped())]


def each(names: Iterable[str]) -> list[ParameterSet]:
    """The names, those of long trainings marked as slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in names]


@pytest.fixture
def broken(shared: Shared) -> Callable[[str], Entry]:
    """A break's run at that seed, trained once however many tests look at it."""

    def trained(name: str) -> Entry:
        def train(folder: Path) -> None:
            run_once(entry(folder).job)

        def entry(folder: Path) -> Entry:
            return entries_of(cards.find(name, checked=False), SEED, STEPS.get(name), folder)[1]

        return entry(shared(f"break-{name}", train))

    return trained


@pytest.mark.train
@pytest.mark.parametrize("name", each(SHIPPED))
def test_it_ends_at_its_leaf(broken: Callable[[str], Entry], name: str):
    rows = survey(broken(name))
    assert [row for row in rows if not row.kept(promises([cards.find(name, checked=False)]))] == []


@pytest.mark.train
@pytest.mark.parametrize("name", each(name for name in SHIPPED if name not in STEPS))
def test_the_log_answers_every_rung_of_its_ladder(broken: Callable[[str], Entry], name: str):
    """A run that was cut short may lack the steps that a rung asks about; a whole one may not."""
    card = cards.find(name, checked=False)
    [stage] = walked(readers.read(broken(name).job.out), card.tree)
    assert isinstance(stage.walk, AtLeaf)
    proof = proofs.offered(stage.walk)
    assert proof
    said = {rung: truth(card.ladder[rung].answer, proof.run, proof.tree, proof.at) for rung in card.ladder}
    assert [rung for rung, told in said.items() if told.outcome is None] == []


@pytest.mark.train
@pytest.mark.slow
def test_a_run_that_jumps_again_after_a_restart_is_to_lower_its_rate(
    broken: Callable[[str], Entry], tmp_path: Path
):
    """The one leaf that no single run reaches: it asks about the restart in a fork's lineage."""
    run = broken("loose-defences").job.out
    fork(run, STEPS["loose-defences"], Change(settings={"steps": 640}), tmp_path / "again", command="")
    [stage] = walked(readers.read(tmp_path / "again"), tree.BY_HAND)
    assert stage.walk.at == "lower-rate"
