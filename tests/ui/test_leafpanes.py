"""What the panes of a leaf tell of a walk that stands there."""

from dataclasses import replace

from tests.conftest import make_run
from tests.ui.conftest import phase_19, recorded
from tutor import walk as walks
from tutor.ui.widgets import leafpanes
from tutor.walk import AtLeaf, Prediction


def at_the_leaf(name: str) -> AtLeaf:
    walk, _ = walks.unattended(recorded(name), phase_19())
    assert isinstance(walk, AtLeaf)
    return walk


def test_what_was_said_before_the_log_answered_stays():
    walk = at_the_leaf("19-break")
    first, *rest = walk.answers
    answer = replace(first, prediction=Prediction("no", 3, seen_before=True), hit=True)
    walk = replace(walk, answers=(answer, *rest), spoken={(first.question, first.focus): "yes"})
    told = leafpanes.predictions(walk, "en")
    assert told is not None
    assert "you said no (how sure: 3); before the log answered you said yes" in told.plain


def test_how_the_fault_is_made():
    told = leafpanes.happens(at_the_leaf("19-break"), "en")
    assert told is not None
    assert "tutor train --break no-clip" in told.plain.splitlines()
    val = [2.8 + 8.9 * 0.6**row for row in range(13)] + [2.8 + 0.05 * row for row in range(1, 18)]
    foreign = make_run({"loss": [9.0 * 0.95**row for row in range(30)], "val_loss": val})
    walk, _ = walks.unattended(foreign, phase_19())
    assert isinstance(walk, AtLeaf)
    assert (walk.at, leafpanes.happens(walk, "en")) == ("overfitting", None)
