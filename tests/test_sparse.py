"""A log with a row every so many steps: its windows, its length, and where something began."""

import math

import pytest

from tests.conftest import make_run, shipped
from tutor import saying, walk
from tutor.run import Run
from tutor.ui.widgets.title import described

PHASE_19 = shipped("phase-19")


def every(steps: int, first: int = 0, **columns) -> Run:
    length = len(next(iter(columns.values())))
    return make_run({"step": [first + steps * row for row in range(length)], **columns})


def told(run: Run, question: str, lang: str = "en", focus: int | None = None) -> str:
    at = walk.begin(run, PHASE_19, (question, focus))
    [line] = saying.of_look(at.question, walk.look(at), lang)
    return f"{line.text} {line.note}"


@pytest.mark.parametrize(
    ("lang", "between"), [("en", "between steps 291 and 300"), ("es", "entre los pasos 291 y 300")]
)
def test_a_nan_began_since_the_row_before(lang: str, between: str):
    assert between in told(every(10, loss=[2.0] * 30 + [math.nan] * 9), "1.1", lang)


def test_with_a_row_for_each_step_it_began_there():
    assert "began" not in told(every(1, loss=[2.0] * 30 + [math.nan] * 9), "1.1")


def test_an_evaluation_that_isnt_finite_began_since_the_one_before():
    evaluations = [2.0 if row % 10 == 0 else None for row in range(40)]
    evaluations[30] = math.nan
    assert "between steps 21 and 30" in told(every(1, loss=[2.0] * 40, val_loss=evaluations), "1.1")


def test_a_spike_began_since_the_row_before():
    loss = [2.0 + 0.01 * (row % 3) + 3 * (row == 60) for row in range(90)]
    assert "between steps 3951 and 4000" in told(every(50, 1000, loss=loss), "2.1")


class TestWindows:
    @pytest.mark.parametrize(
        ("steps", "said"),
        [
            (1, ""),
            (5, ""),
            (
                10,
                "Here, with a row every 10 steps: 20 rows (200 steps) stand for 100 steps, "
                "which hold too few",
            ),
            (
                500,
                "Here, with a row every 500 steps: 20 rows (10000 steps) stand for 100 steps, "
                "which hold too few",
            ),
        ],
    )
    def test_those_that_the_question_names(self, steps: int, said: str):
        run = every(steps, loss=[2.0] * 40)
        assert saying.of_windows(PHASE_19.questions["2.1"], run, "en") == said

    def test_one_that_names_none_says_nothing(self):
        run = every(500, loss=[2.0] * 40)
        assert saying.of_windows(PHASE_19.questions["1.1"], run, "en") == ""
        assert saying.of_windows(PHASE_19.questions["2.3"], run, "en") == ""

    def test_a_log_without_rows_says_nothing(self):
        assert saying.of_windows(PHASE_19.questions["2.1"], make_run({"loss": []}), "en") == ""


@pytest.mark.parametrize(
    ("steps", "first", "rows", "said"),
    [
        (1, 0, 60, "60 steps"),
        (1, 1, 60, "60 steps"),
        (10, 0, 60, "60 rows, to step 590"),
        (1, 2920, 60, "60 rows, to step 2979"),
        (1, 0, 0, "0 steps"),
    ],
)
def test_the_header_says_how_long_the_log_is(steps: int, first: int, rows: int, said: str):
    run = every(steps, first, loss=[2.0] * rows) if rows else make_run({"loss": []})
    assert described(run, "en") == said
