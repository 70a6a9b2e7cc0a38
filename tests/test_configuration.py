"""Tree phase-18 as a whole: over the shipped runs, and where its questions and its leaves stand."""

import pytest

from tests.conftest import ROOT, make_run, shipped
from tutor import card as cards
from tutor import readers, saying, tree
from tutor import walk as walks
from tutor.plots.board import Board
from tutor.report import Report
from tutor.ui import looks, proofs
from tutor.walk import AtLeaf

PHASE_18 = shipped("phase-18")


def report(name: str) -> Report:
    return Report(readers.read(ROOT / "runs" / name), PHASE_18)


@pytest.mark.parametrize("name", ["19-control", "19-break"])
def test_a_run_that_goes_wrong_later_is_configured_soundly(name: str):
    found = report(name)
    assert (found.verdict, found.walk.at, saying.assumed(found.walk)) == ("healthy", "sound", [])
    assert len(found.looks) == len(PHASE_18.questions)


def test_what_was_only_assumed_is_undecided_with_what_would_settle_it():
    loss = [6.2 - 0.02 * step for step in range(250)]
    found = Report(make_run({"loss": loss}), PHASE_18)
    assert (found.verdict, found.walk.at) == ("undecided", "sound")
    assert saying.assumed(found.walk) == [id for id in PHASE_18.questions if id != "4.1"]
    said = found.text("en").plain
    for word in ("vocab_size", "initial", "groups", "accumulation", "clip_grad_norm_"):
        assert word in said


def test_the_sound_leaf_goes_on_in_phase_19_and_so_does_instability():
    assert PHASE_18.leaves["sound"].next == tree.Handover(tree="phase-19")
    assert PHASE_18.leaves["instability"].next == tree.Handover(tree="phase-19")  # it may end in NaN


def test_every_leaf_has_a_break_or_says_why_none_reaches_it():
    for id, leaf in PHASE_18.leaves.items():
        assert bool(leaf.breaks) != bool(leaf.unreached), id
        for name in leaf.breaks:
            promised = cards.find(name, checked=False).expect
            assert promised
            assert (promised.tree, promised.leaf) == ("phase-18", (id,))


class TestTheFirstStep:
    """Questions about the network before training are asked over its first step alone."""

    @pytest.mark.parametrize("question", ["5.1", "5.2", "6.1"])
    def test_the_view(self, question: str):
        run = readers.read(ROOT / "runs" / "19-control")
        assert looks.opening(walks.begin(run, PHASE_18, (question, None))) == (0, 0)

    def test_the_weights_as_drawn(self):
        run = readers.read(ROOT / "runs" / "19-control")
        at_start = Board(run, "parameters", 80, 12, lang="en", view=(0, 0)).text(None).plain
        assert "weight decay by group: decay 0.1, no_decay 0" in at_start
        assert "blocks.*.widen.weight          ×4  std 0.02006" in at_start
        assert [len(line) for line in at_start.splitlines()] == [80] * 12
        assert "std" not in Board(run, "parameters", 80, 12, lang="en", view=(0, 599)).text(None).plain

    def test_without_them_it_draws_the_norms(self):
        run = make_run({"param_norm": [1.0, 2.0]})
        assert "std" not in Board(run, "parameters", 60, 8, lang="en", view=(0, 0)).text(None).plain

    def test_the_activations_of_that_step(self):
        run = readers.read(ROOT / "runs" / "19-control")
        assert "step 0" in Board(run, "activations", 60, 8, lang="en", view=(0, 0)).text(None).plain
        assert "step 599" in Board(run, "activations", 60, 8, lang="en").text(None).plain


class TestWhatIsTrainedOn:
    def board(self, times: float) -> str:
        run = make_run({"loss": [3.0, 2.0, 1.5], "reduced_loss": [3.0 * times, 2.0 * times, 1.5 * times]})
        return Board(run, "loss", 100, 8, lang="en").text(None).plain

    def test_it_is_drawn_where_it_is_not_the_mean_loss(self):
        assert "trained on" in self.board(512)
        assert "trained on" not in self.board(1)


def test_a_proof_is_offered_where_the_last_answer_shows(monkeypatch: pytest.MonkeyPatch):
    norms = [1.0] * 100
    manifest = {"break": "summed-loss", "role": "break", "vocab_size": 512}
    columns = {"loss": [6.2] * 100, "reduced_loss": [6.2 * 512] * 100, "grad_norm": [2000.0, *norms[1:]]}
    run = make_run(columns, manifest)
    walk, _ = walks.unattended(run, PHASE_18)
    assert isinstance(walk, AtLeaf)
    assert walk.at == "summed-loss"
    offered = proofs.offered(walk)
    assert offered
    assert (offered.at, offered.card.name, offered.broken) == (0, "summed-loss", True)
