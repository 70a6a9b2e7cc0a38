"""The post-mortem of a walk: what its tree and its leaf offer to consider."""

from tests.conftest import ROOT, make_run, shipped
from tutor import readers, walk
from tutor.begun import begun
from tutor.postmortem.change import offered

PHASE_19 = shipped("phase-19")


def test_the_flaw_that_was_reached_is_offered_where_no_hypothesis_is_it():
    loss = [2.0 + 0.01 * (row % 3) + 3 * (200 <= row < 260) for row in range(400)]
    end, _ = walk.unattended(make_run({"loss": loss}), PHASE_19)
    assert end.at == "instability"
    *others, last = begun(end, "en").hypotheses
    assert [one.key for one in others] == ["rare_token", "overflow", "schedule", "state", "loader"]
    assert (last.key, last.words("es")) == ("instability", end.leaf.name("es"))
    assert last.known_by("en") == end.leaf.sees("en")


def test_where_a_hypothesis_is_that_flaw_it_is_offered_once():
    end, _ = walk.unattended(readers.read(ROOT / "runs" / "19-break"), PHASE_19)
    assert end.at == "unclipped-batch"
    assert "unclipped-batch" not in [one.key for one in begun(end, "en").hypotheses]


def test_a_run_that_climbed_into_a_nan_goes_back_to_before_it_climbed():
    loss = [9.0 - 6.0 * row / 400 for row in range(400)] + [3.0 * 1.01**row for row in range(140)]
    end, _ = walk.unattended(make_run({"loss": [*loss, *[float("nan")] * 20]}), PHASE_19)
    assert end.at == "diverged"
    about = begun(end, "en").about
    assert (about.sound, about.calm) == (539, end.answers[-1].facts["best_step"])
    assert about.calm < 410
    assert f"of step {about.calm} or before; from there on the loss climbed" in offered(about, "en")
