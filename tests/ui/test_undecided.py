"""Where neither the log nor the learner can answer, the walk may end: its leaf, and from there the form."""

import pytest

from tests.ui.conftest import NARROW, SIZES, over, settle, shown, until
from tutor.notebook import Notebook
from tutor.notebook.scores import finished
from tutor.ui.app import TutorApp
from tutor.ui.screens.home import HomeScreen
from tutor.ui.screens.known import KnownScreen
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.screens.walk import WalkScreen

pytestmark = pytest.mark.slow

GUESS = ("u", "enter")
TO_THE_OPEN_QUESTION = (
    "enter",
    "enter",
    *GUESS,
    "enter",
    *GUESS,
    "down",
    "enter",
    *GUESS,
    *GUESS,
    *GUESS,
    *GUESS,
)
"""From 1.1, answered, on: past 1.6, fp32 by hand at 1.2, 1.5 assumed, and nobody knows 1.3."""


async def press(pilot, *keys: str) -> None:
    await settle(pilot)
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("lang", "yes", "end", "decides", "guess"),
    [
        ("en", "y", "end the walk here", "question 1.3", "? 1.5 the reduction? no (assumed)"),
        ("es", "s", "terminar aquí", "pregunta 1.3", "? 1.5 ¿la reducción? no (supuesto)"),
    ],
)
async def test_the_walk_ends_undecided(log, size, lang, yes, end, decides, guess):
    app = over(log, lang)
    async with app.run_test(size=size) as pilot:
        await press(pilot, yes, *TO_THE_OPEN_QUESTION)
        assert isinstance(app.screen, KnownScreen)
        assert end in shown(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, LeafScreen)
        assert decides in shown(app)
        assert guess in shown(app)
        await press(pilot, "p")
        assert isinstance(app.screen, PostMortemScreen)
    [kept] = finished(Notebook("ana").drafts())
    assert (kept.leaf, kept.verdict) == ("undecided", "flaw")


async def test_or_goes_back_to_the_question(log):
    app = over(log)
    async with app.run_test(size=NARROW) as pilot:
        await press(pilot, "y", *TO_THE_OPEN_QUESTION, "escape")
        assert isinstance(app.screen, WalkScreen)
        assert app.screen.walk.at == "1.3"
        await press(pilot, "enter", "enter", "b")  # ended after all, then back
        assert isinstance(app.screen, WalkScreen)
        assert (app.screen.walk.at, app.screen.walk.prediction) == ("1.3", None)


async def test_it_is_taken_up_at_its_end_and_home_says_that_something_is_wrong(log):
    app = over(log)
    async with app.run_test(size=NARROW) as pilot:
        await press(pilot, "y", *TO_THE_OPEN_QUESTION, "enter", "q")
    app = over(log)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
    app = TutorApp(learner="ana", inside=log.parent)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, HomeScreen)
        await until(lambda: "something is wrong" in shown(app))
        assert "something is wrong" in shown(app)


async def test_a_question_that_nobody_can_answer_was_not_answered_before(log):
    app = over(log)
    async with app.run_test(size=NARROW) as pilot:
        await press(pilot, "y", "enter", "enter", "down", "enter", "enter", "u", "enter", "b", "u", "enter")
        assert "already answered" not in shown(app)
        assert "you said: the log can't tell" in shown(app)
