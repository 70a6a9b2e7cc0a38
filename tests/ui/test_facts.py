"""At a question that the log can't answer for want of a fact, the fact is given."""

import math
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.ui.conftest import NARROW, SIZES, over, settle, shown
from tutor.ui.screens.change import ChangeScreen
from tutor.ui.screens.help import HelpScreen
from tutor.ui.screens.known import KnownScreen

pytestmark = pytest.mark.slow


async def at_the_dtype(pilot) -> None:
    """Past the NaN and how it came, and committed to an answer about the dtype."""
    await settle(pilot)
    for key in ("y", "enter", "enter", "down", "enter", "enter", "down", "enter"):
        await pilot.press(key)
        await settle(pilot)
    assert pilot.app.screen.walk.at == "1.2"


@pytest.mark.parametrize("size", SIZES)
async def test_the_log_answers_once_the_fact_is_given(log: Path, size: tuple[int, int]):
    app = over(log)
    async with app.run_test(size=size) as pilot:
        await at_the_dtype(pilot)
        assert "--set dtype=fp32" in shown(app)
        await pilot.press("d")
        await settle(pilot)
        assert isinstance(app.screen, ChangeScreen)
        assert "enter take it" in shown(app)  # in the footer
        app.screen.query_one(Input).value = "dtype=int8"
        await pilot.press("enter")
        await settle(pilot)
        assert "can't be dtype" in shown(app)
        app.screen.query_one(Input).value = "dtype=fp32"
        await pilot.press("enter")
        await settle(pilot)
        assert "(dtype as you said)" in shown(app)
        assert "you gave dtype=fp32" in shown(app)
        assert "has grown" not in shown(app)  # no row came
        assert app.screen.seen.outcome == "fp32"
        assert not app.screen.check_action("fact", ())
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen.walk.at == "1.5"
        assert app.screen.walk.run.manifest.dtype == "fp32"


async def test_a_fact_that_was_given_holds_when_the_walk_is_taken_up_again(log: Path):
    app = over(log)
    async with app.run_test(size=NARROW) as pilot:
        await at_the_dtype(pilot)
        await pilot.press("d")
        await settle(pilot)
        app.screen.query_one(Input).value = "dtype=fp32"
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen.walk.at == "1.5"
    again = over(log)
    async with again.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert again.screen.walk.at == "1.5"
        assert again.screen.walk.run.manifest.dtype == "fp32"
        await pilot.press("i")
        await settle(pilot)
        assert "dtype fp32" in shown(again)


async def test_where_nothing_can_be_given_the_key_says_so(home: Path):
    path = home / "log.jsonl"
    path.write_text("".join(f'{{"step": {i}, "loss": {math.exp(-i)}}}\n' for i in range(40)))
    app = over(path, "es")
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        assert [note.message for note in app._notifications if "elige antes una respuesta" in note.message]
        await pilot.press("n", "enter", "d")
        await settle(pilot)
        assert not app.screen.check_action("fact", ())
        assert [note.message for note in app._notifications if "no le falta ninguno" in note.message]


async def test_help_lies_over_a_note_and_nothing_to_compare_with_is_said(log: Path):
    app = over(log)
    async with app.run_test(size=NARROW) as pilot:
        await at_the_dtype(pilot)
        await pilot.press("up", "u", "enter")
        await settle(pilot)
        assert isinstance(app.screen, KnownScreen)
        await pilot.press("f1")
        await settle(pilot)
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape", "escape", "c")
        await settle(pilot)
        assert [note.message for note in app._notifications if "Nothing to compare with" in note.message]
