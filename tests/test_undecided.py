"""A walk where neither the log nor the learner can answer: it ends undecided, and says what it rests on."""

import json
import math
import re

import pytest

from tests import prose
from tests.conftest import make_run, shipped
from tests.test_tree import W, small
from tutor import saying, tree, walk
from tutor.begun import begun
from tutor.tree import UNDECIDED
from tutor.walk import UNSURE, AtLeaf, AtQuestion, Prediction, Stage
from tutor.words import BadFileError

PHASE_19 = shipped("phase-19")
NAN = make_run({"loss": [3.0 - i / 50 for i in range(30)] + [math.nan] * 10})


def at_the_open_question() -> AtQuestion:
    """At 1.3, with fp32 as the learner's guess at 1.2 and 1.5 assumed."""
    at = walk.begin(NAN, PHASE_19)
    at = walk.go_on(at, walk.look(at))
    at = walk.go_on(at, walk.look(at))
    at = walk.go_on(at, walk.look(at), "fp32")
    at = walk.go_on(at, walk.look(at), UNSURE)
    assert isinstance(at, AtQuestion)
    assert (at.at, at.question.assume) == ("1.3", None)
    return at


def test_it_ends_at_a_leaf_of_its_own_and_goes_back_to_its_question():
    asked = at_the_open_question()
    end = walk.leave_open(asked)
    assert (end.at, end.left_open, end.leaf.verdict) == (UNDECIDED, "1.3", "undecided")
    assert walk.verdict(end) == "flaw"  # the NaN was seen
    assert walk.named(end) is None
    assert walk.back(end) == asked


def test_it_is_taken_up_where_it_ended():
    end = walk.leave_open(at_the_open_question())
    kept = json.dumps(walk.to_state(end))
    again = walk.from_state(NAN, PHASE_19, json.loads(kept))
    assert (again.at, json.dumps(walk.to_state(again))) == (UNDECIDED, kept)


def test_it_may_end_at_its_first_question():
    start = walk.begin(NAN, PHASE_19, ("1.2", None))
    end = walk.leave_open(start)
    assert end.left_open == "1.2"
    assert walk.verdict(end) == "undecided"
    assert walk.named(end) is None
    assert walk.back(end) == start


def test_its_end_says_what_is_known_and_what_would_settle_it():
    end = walk.leave_open(at_the_open_question())
    first, *more = saying.of_end([Stage(end, walk.looked_back(end))], "en")
    assert "question 1.3 decides" in first.text
    told = " ".join(line.text for line in more)
    assert "the loss is NaN at step 30" in told
    assert "to settle it, record activation_norms" in told


@pytest.mark.parametrize(
    ("lang", "path"),
    [
        ("en", "1.1 yes → 1.6 no → 1.2 fp32 (your answer) → 1.5 no (assumed) → undecided"),
        ("es", "1.1 sí → 1.6 no → 1.2 fp32 (tu respuesta) → 1.5 no (supuesto) → sin decidir"),
    ],
)
def test_the_lesson_says_which_answers_were_guessed(lang: str, path: str):
    assert begun(walk.leave_open(at_the_open_question()), lang).about.path == path


def test_a_guess_that_leads_to_a_leaf_is_called_one():
    asked = at_the_open_question()
    end = walk.go_on(asked, walk.look(asked), "log-softmax")
    assert isinstance(end, AtLeaf)
    assert saying.of_guesses(end, "en") == [
        "1.2 which dtype? fp32 (your answer)",
        "1.5 the reduction? no (assumed)",
        "1.3 where did it start? in the logarithm of the softmax (your answer)",
    ]


def test_an_optional_question_that_nobody_answered_was_left_out():
    end, _ = walk.unattended(make_run({"loss": [0.5] * 40}), shipped("phase-18"))
    first = end.answers[0]
    assert (first.question, first.by, first.outcome) == ("1.1", "assumed", "near")
    assert saying.of_taken(first, end.tree, "en") == "left out, not known"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda data: data["leaves"]["good"].update(verdict="undecided"),
            "leaf good: where nobody can answer",
        ),
        (
            lambda data: data["leaves"].update(undecided=data["leaves"]["good"]),
            "leaf undecided: where nobody can answer",
        ),
        (
            lambda data: data.update(hypotheses={"guess": {"words": W, "leaves": ["bed"]}}),
            "hypothesis guess: there is no leaf 'bed'",
        ),
    ],
)
def test_what_a_trees_file_may_not_say(tmp_path, change, said: str):
    data = small() | {"tree": "own"}
    change(data)
    prose.write(tmp_path / "own.yaml", data)
    with pytest.raises(BadFileError, match=re.escape(said)):
        tree.load(tmp_path / "own.yaml")


class TestInPart:
    """Where the log settles only a part, who says that it can't tell isn't wrong."""

    LOSS = [2.0 - 1e-3 * i + (0.02 if i % 2 else -0.02) for i in range(400)]

    def at_the_cause(self, **columns) -> AtQuestion:
        loss = [value + 3 * (300 <= i < 305) for i, value in enumerate(self.LOSS)]
        at = walk.begin(make_run({"loss": loss} | columns, {"dtype": "fp32"}), PHASE_19)
        while at.at != "2.3":
            at = walk.go_on(at, walk.look(at), UNSURE)
            assert isinstance(at, AtQuestion)
        return at

    @pytest.mark.parametrize(("said", "sign"), [(UNSURE, "in_part"), ("batch", "open"), ("none", "right")])
    def test_causes_that_were_not_recorded(self, said: str, sign: str):
        at = walk.predict(self.at_the_cause(), said, 3)
        seen = walk.look(at)
        assert (seen.outcome, seen.in_part) == ("none", True)
        [judged, *_] = saying.after_prediction(at.question, Prediction(said, 3), seen, "en")
        assert judged.verdict == sign
        counted = {"in_part": (0, 0), "open": (0, 0), "right": (1, 1)}
        assert walk.score(walk.go_on(at, seen).answers[-1:]) == counted[sign]

    def test_with_all_of_them_recorded_it_is_a_miss(self):
        recorded = {"grad_norm": [1.0] * 400, "lr": [1e-3] * 400, "batch_hash": [str(i) for i in range(400)]}
        at = walk.predict(self.at_the_cause(**recorded), UNSURE, 3)
        seen = walk.look(at)
        assert (seen.outcome, seen.in_part) == ("none", False)
        assert walk.score(walk.go_on(at, seen).answers[-1:]) == (0, 1)

    @pytest.mark.parametrize(
        ("said", "sign"), [("score-lost", "also"), ("turns", "right"), ("one-set", "wrong"), ("no", "wrong")]
    )
    def test_what_holds_as_well_is_no_miss(self, said: str, sign: str):
        """Validation turns, and accuracy falls from 0.6 to chance with it."""
        rows = range(24)
        columns = {
            "loss": [2.0 * 0.9**row for row in rows],
            "val_loss": [max(1.5 - 0.1 * row, 0.8 + 0.1 * (row - 7)) for row in rows],
            "val_acc": [
                min(0.2 + 0.06 * row, 0.62) if row < 8 else max(0.1, 1.0 - 0.06 * row) for row in rows
            ],
        }
        at = walk.begin(make_run(columns), PHASE_19, ("5.4", None))
        at = walk.predict(at, said, 3)
        seen = walk.look(at)
        assert seen.outcome == "turns"
        lines = saying.after_prediction(at.question, Prediction(said, 3), seen, "en")
        assert lines[0].verdict == sign
        assert ("tempting" in [line.role for line in lines]) is (sign == "wrong")
        assert walk.score(walk.go_on(at, seen).answers[-1:]) == {"right": (1, 1), "also": (0, 0)}.get(
            sign, (0, 1)
        )

    def test_nothing_to_compare_with_is_as_good_as_cannot_tell(self):
        run = make_run({"loss": self.LOSS})
        at = walk.begin(run, PHASE_19)
        at = walk.predict(walk.go_on(at, walk.look(at)), UNSURE, 3)
        seen = walk.look(at)
        assert (at.at, seen.outcome) == ("1.4", "unknown")
        assert walk.score(walk.go_on(at, seen).answers[-1:]) == (0, 0)


@pytest.mark.parametrize(
    ("first", "said", "not_said"),
    [(0, "name a vocabulary", "begins"), (50, "begins at step 50", "vocabulary")],
)
def test_why_the_first_loss_has_nothing_to_be_compared_with(first: int, said: str, not_said: str):
    run = make_run({"loss": [0.5] * 40, "step": range(first, first + 40)})
    at = walk.begin(run, PHASE_19)
    at = walk.go_on(at, walk.look(at))
    [line] = saying.of_look(at.question, walk.look(at), "en")
    assert said in line.text
    assert not_said not in line.text


def test_what_decides_is_not_assumed_with_nobody_watching():
    """In fp16 a NaN leads to the norm and the loss scale, of which this log has neither."""
    losses = {"loss": [3.0] * 20 + [math.nan] * 10}
    half = make_run(losses, {"dtype": "fp16"})
    end, _ = walk.unattended(half, PHASE_19)
    assert (end.at, walk.verdict(end)) == ("3.1", "flaw")
    assert walk.unattended(make_run({"loss": [3.0] * 30}, {"dtype": "fp16"}), PHASE_19)[0].at != "3.1"
    seen = make_run(losses | {"grad_norm": [1.0] * 10 + [math.inf] * 20}, {"dtype": "fp16"})
    assert walk.unattended(seen, PHASE_19)[0].at != "3.1"
