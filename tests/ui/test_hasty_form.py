"""Haste in the post-mortem: keys as fast as a terminal sends them meet the field that they were meant for."""

import asyncio

import pytest

from tests.test_postmortem import begun, filled, spiked
from tests.ui.conftest import shown
from tests.ui.test_hasty import at_once
from tests.ui.test_postmortem import on_screen, settle, to_next
from tutor.notebook import Notebook
from tutor.postmortem import with_symptom
from tutor.ui.formkeeper import KIND
from tutor.ui.screens.kept import KeptScreen
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.widgets.section import Section
from tutor.words import say

pytestmark = pytest.mark.slow


@pytest.fixture
def book(home) -> Notebook:
    return Notebook("ana")


async def test_what_is_typed_just_before_saving_is_in_the_lesson_and_leaves_no_draft(book):
    screen = PostMortemScreen(filled(begun()), book)
    async with on_screen(screen) as pilot:
        await pilot.press("ctrl+pageup")  # the lesson's line
        await settle(pilot)
        at_once(pilot.app, *"!?", "ctrl+s")
        await settle(pilot)
        assert isinstance(pilot.app.screen, KeptScreen)
        await pilot.press("escape", "escape")
        await settle(pilot)
    assert [lesson.lesson for lesson in book.lessons()] == ["Clip first!?"]
    assert [draft for draft in book.drafts() if draft.kind == KIND] == []


async def test_what_is_typed_just_before_leaving_is_in_the_draft(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        await pilot.press("ctrl+pageup")
        await settle(pilot)
        at_once(pilot.app, *"now", "ctrl+n", *"7", "escape")
        await settle(pilot)
    [draft] = book.drafts()
    assert draft.data["lesson"] == "now"
    assert draft.data["symptoms"][0]["value"] == "1207"


@pytest.mark.parametrize(
    ("keys", "number", "field"),
    [
        (["ctrl+n"], 2, "p-rare_token"),
        (["ctrl+n", "tab"], 2, "s-rare_token"),
        (["ctrl+n"] * 5, 6, "value-0"),
        (["ctrl+pageup", "ctrl+pageup", "tab"], 6, "window-0"),
        (["ctrl+pageup"], 7, "lesson-line"),
    ],
)
async def test_what_is_typed_just_after_a_change_of_section_is_in_the_new_one(book, keys, number, field):
    run = spiked()
    screen = PostMortemScreen(begun(run), book, run)
    async with on_screen(screen) as pilot:
        before = screen.pm
        at_once(pilot.app, *keys, *"0.5")
        await settle(pilot)
        assert screen.number == number
        assert pilot.app.focused is not None
        assert pilot.app.focused.id == field
        assert pilot.app.focused.value.endswith("0.5")
        assert screen.pm.symptoms == before.symptoms


async def test_what_is_typed_just_before_a_change_of_section_is_kept(book):
    screen = PostMortemScreen(begun(), book)
    async with on_screen(screen) as pilot:
        await to_next(pilot)
        at_once(pilot.app, *"0.9", "ctrl+n", "ctrl+pageup")
        await settle(pilot)
        assert screen.pm.hypotheses[0].probability == "0.9"


async def test_edits_that_come_while_a_section_is_drawn_do_not_stop_it(book):
    screen = PostMortemScreen(begun(), book)
    async with on_screen(screen) as pilot:
        pilot.app.action_language()
        for number in range(60):
            screen.post_message(Section.Edited(lambda pm, now=str(number): with_symptom(pm, "began", now)))
            await asyncio.sleep(0.001)
        await settle(pilot)
        await pilot.press("end", "ctrl+u", *"314")
        await settle(pilot)
        assert screen.pm.symptoms[0].value == "314"
        assert say("postmortem.lead.symptoms", "es")[:30] in shown(pilot.app)
