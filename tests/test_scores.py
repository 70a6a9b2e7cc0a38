"""Scores: how often a learner was right by how sure, and the walks that reached their leaf."""

from pathlib import Path
from typing import Any

import pytest

from tutor import walk as walks
from tutor.detectors import NO_DATA, NOT_YET
from tutor.notebook import Notebook
from tutor.notebook.scores import Score, calibration, finished
from tutor.walk import Answer, Prediction


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    return Notebook("ana", tmp_path)


def predict(book: Notebook, question: str, *, right: bool, sure: int = 5, **more: Any) -> None:
    """A prediction over one run and tree."""
    found: dict[str, Any] = {"found": "yes" if right else "no"} | more
    book.record_prediction(
        run="19-break", tree="t", question=question, predicted="yes", confidence=sure, **found
    )


class TestCalibration:
    def test_is_counted_by_how_sure_the_surest_first(self, book):
        predict(book, "1", right=False, sure=2)
        predict(book, "2", right=True)
        predict(book, "3", right=False)
        assert list(calibration(book.predictions()).items()) == [(5, Score(1, 2)), (2, Score(0, 1))]

    @pytest.mark.parametrize(
        "more", [{"seen_before": True}, {"close": True}, {"found": NO_DATA}, {"found": NOT_YET}]
    )
    def test_what_tells_nothing_of_what_was_known_does_not_count(self, book, more):
        predict(book, "1", right=False, **more)
        assert calibration(book.predictions()) == {}

    def test_only_the_first_prediction_of_a_question_counts(self, book):
        predict(book, "1", right=False)
        predict(book, "1", right=True, attempt="the second walk")
        assert calibration(book.predictions()) == {5: Score(0, 1)}

    @pytest.mark.parametrize("sure", [None, "5", 0, 6, [5]])
    def test_a_line_that_a_hand_has_changed_is_passed_over(self, sure):
        line = {"run": "r", "question": "1", "predicted": "a", "found": "a", "seen_before": False}
        assert calibration([line | {"confidence": sure}]) == {}

    def test_a_prediction_of_an_older_tutor_does_not_say_whether_the_log_had_spoken(self):
        old = {"run": "r", "tree": "t", "question": "1", "predicted": "a", "found": "a", "confidence": 5}
        assert calibration([old]) == {}


class TestFinished:
    DONE = {
        "run": "/runs/a",
        "tree": "t",
        "at": "healthy",
        "done": True,
        "verdict": "healthy",
        "score": [2, 3],
    }

    def test_a_walk_begun_again_keeps_its_end(self, book):
        book.save_draft("finished", "a-t", self.DONE)
        book.save_draft("walk", "a-t", self.DONE | {"done": False, "at": "1.1", "attempt": 2})
        [walk] = finished(book.drafts())
        assert (walk.run, walk.tree, walk.leaf, walk.verdict) == ("/runs/a", "t", "healthy", "healthy")
        assert (walk.score, walk.attempt, len(walk.date)) == (Score(2, 3), 1, len("2026-11-21"))

    def test_a_walk_is_counted_once(self, book):
        for kind in ("walk", "finished"):
            book.save_draft(kind, "a-t", self.DONE)
        assert len(finished(book.drafts())) == 1

    @pytest.mark.parametrize("score", [None, "9", [1], ["a", "b"]])
    def test_a_score_that_is_none_is_none(self, book, score):
        book.save_draft("walk", "a-t", self.DONE | {"score": score})
        assert finished(book.drafts())[0].score is None


def answer(
    said: str, found: str = "yes", *, by: str = "log", seen: bool = False, close: bool = False
) -> Answer:
    hit = by == "log" and said == found
    return Answer("1", found, by, Prediction(said, 3, seen_before=seen), 0, None, {}, close, hit)


@pytest.mark.parametrize(
    ("one", "scored"),
    [
        (answer("yes"), (1, 1)),
        (answer("no"), (0, 1)),
        (answer("no", close=True), (0, 0)),
        (answer("yes", close=True), (1, 1)),
        (answer("yes", seen=True), (0, 1)),
        (answer("yes", by="learner"), (0, 0)),
    ],
)
def test_a_score_counts_what_the_log_answered(one, scored):
    assert walks.score([one]) == scored


def test_a_notebook_is_new_until_something_is_kept(book):
    assert book.new
    book.folder.mkdir()
    assert book.new
    predict(book, "1", right=True)
    assert not book.new
