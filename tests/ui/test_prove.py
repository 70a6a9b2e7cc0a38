"""Proving the cause after the leaf: rung by rung by keyboard, left and taken up, and into the post-mortem."""

from dataclasses import replace

import pytest

from tests.ui.conftest import (
    NARROW,
    WIDE,
    leave_at_the_leaf,
    opened,
    phase_19,
    recorded,
    settle,
    shown,
)
from tests.ui.test_hasty import at_once
from tutor import card as cards
from tutor import proof as proofs
from tutor.notebook import Notebook
from tutor.postmortem.text import panel_name
from tutor.run import Manifest
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.screens.prove import ProveScreen
from tutor.ui.widgets.grid import Cells
from tutor.ui.widgets.plot import Plot
from tutor.words import say

pytestmark = pytest.mark.slow

CAUSE = "no clip met a bad batch"


def kept() -> dict:
    """The proof in ana's notebook."""
    return next(draft.data for draft in Notebook("ana").drafts() if draft.kind == "proof")


async def answer(pilot) -> None:
    """Answer the rung at hand as the log does, by keyboard, and let the log speak."""
    screen = pilot.app.screen
    told, asked = proofs.asks(screen.proof), screen.proof.rung.answer
    if asked.choices:
        await pilot.press(*["down"] * (asked.choices.index(told.outcome) + 1))
    elif asked.kind == "token":
        await pilot.press(*told.facts["token"].strip())
    else:
        rows = screen.proof.run.row_at(told.facts["step"]) - screen.proof.run.row_at(
            screen.query_one(Plot).cursor
        )
        await pilot.press(*["up"] * (rows // 10), *["right"] * (rows % 10))
    await pilot.press("enter")
    await pilot.pause()


@pytest.mark.parametrize(("lang", "size"), [("en", WIDE), ("es", NARROW)])
async def test_from_the_leaf_to_the_root_cause_and_its_post_mortem(at_leaf, lang, size):
    app = at_leaf(lang=lang)
    async with opened(app, size) as pilot:
        assert say("keys.prove", lang) in shown(app)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, ProveScreen)
        card = cards.find("no-clip")
        for number, (id, rung) in enumerate(card.ladder.items(), 1):
            assert app.screen.proof.id == id
            assert app.screen.query_one(Plot).panel == rung.panel_name
            assert say("prove.rung", lang, number=number, count=len(card.ladder)) in shown(app)
            await answer(pilot)
            assert app.screen.proof.last.right, id
            text = proofs.says(app.screen.proof, app.screen.proof.last, lang)
            assert " ".join(text.split()[:4]) in shown(app)
            await pilot.press("enter")
            await pilot.pause()
        await pilot.press(*("space" if letter == " " else letter for letter in CAUSE), "enter")
        await settle(pilot)
        assert CAUSE in shown(app)
        assert " ".join(card.diagnosis(lang).split()[:4]) in shown(app)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
        assert say("keys.proven", lang) in shown(app).split("\n")[-1]
        assert say("keys.prove", lang) not in shown(app).split("\n")[-1]
        await pilot.press("p")
        await settle(pilot)
        assert isinstance(app.screen, PostMortemScreen)
        pm = app.screen.pm
        assert pm.cause == CAUSE
        assert pm.remediation == pm.about.options[0].command  # the fix follows the cause
        assert len(pm.proven) == len(card.ladder)
        assert pm.cell("batch", "rare_token") == "favours"
        assert pm.cell("gradient", "rare_token") == "favours"
        await pilot.press("ctrl+n", "ctrl+n")
        await settle(pilot)
        proven = {one.panel for one in pm.proven}
        rows = [line for line in shown(app).split("\n") if " ✓ " in line]
        assert all(any(panel_name(panel, lang) in line for line in rows) for panel in proven)
        cells = app.screen.query_one(Cells)
        for row, panel in enumerate(cells.panels):
            cells.move_cursor(row=row, column=1)
            await pilot.pause()
            assert (say("postmortem.proven", lang, text="") in shown(app)) == (panel in proven)


async def test_a_sentence_that_enter_follows_at_once_is_taken_whole(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE) as pilot:
        await pilot.press("enter")
        await settle(pilot)
        while app.screen.proof.id:
            await answer(pilot)
            await pilot.press("enter")
            await pilot.pause()
        at_once(app, *("space" if letter == " " else letter for letter in CAUSE), "enter")
        await settle(pilot)
        assert app.screen.proof.cause == CAUSE


async def test_a_step_is_pointed_at_with_the_cursor_of_the_walks_panels(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE, "enter") as pilot:
        plot = app.screen.query_one(Plot)
        begun = plot.cursor
        assert f"step {begun}" in shown(app)
        await pilot.press("right", "up", "full_stop", "left_square_bracket")
        assert plot.cursor == begun + 2
        await pilot.press("x")  # the marked step would be the answer
        assert plot.cursor == begun + 2
        await pilot.press("g", *"100", "enter")
        await settle(pilot)
        assert "◂ 100 ▸" in shown(app)
        await pilot.click(plot, offset=(plot.outer_size.width - 2, 5))
        await settle(pilot)
        assert plot.cursor > 590
        await pilot.press("3", "1", "v")
        assert "◂ 312 ▸" in shown(app)
        assert "9.464" in shown(app)  # its readout
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.proof.last.said == "312"


async def test_hints_come_one_at_a_time_and_are_counted(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE, "enter") as pilot:
        hints = [hint("en") for hint in cards.find("no-clip").ladder["spike"].hints.in_order]
        assert hints[0] not in shown(app)
        await pilot.press("h")
        await settle(pilot)
        assert hints[0] in shown(app)
        assert hints[1] not in shown(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen.proof.last.hints == 1


async def test_it_is_left_at_any_time_and_taken_up_later(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE, "enter") as pilot:
        await answer(pilot)
        await pilot.press("enter", "h", "escape")
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
        count = len(cards.find("no-clip").ladder)
        assert f"proved 1 of {count}" in shown(app)
        assert f"enter: on to question 2 of {count}" in shown(app)
        assert [one["rung"] for one in kept()["given"]] == ["spike"]
    again = at_leaf()
    async with opened(again, WIDE, "enter") as pilot:
        assert (again.screen.proof.id, again.screen.proof.hints) == ("probe", 1)


async def test_nothing_is_told_without_an_answer(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE, "enter") as pilot:
        await answer(pilot)
        await pilot.press("enter", "enter")  # on, and commit to nothing
        await pilot.pause()
        assert (app.screen.proof.id, app.screen.proof.told) == ("probe", False)
        assert say("walk.choose_first", "en") in shown(app)


async def test_a_wrong_answer_is_told_with_what_was_measured(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE, "enter", "right", "enter"):
        assert app.screen.proof.last.right is False
        assert "wrong" in shown(app)
        assert "9.464" in shown(app)
        assert app.screen.query_one(Plot).mark == 312  # the panel turns to the evidence


async def test_the_leaf_rules_every_look_alike_out(at_leaf):
    app = at_leaf()
    async with opened(app, (120, 60)):
        for other in cards.find("no-clip").not_this.values():
            assert f"✓ {other.name('en')}:" in shown(app)


async def test_a_run_without_a_card_has_nothing_to_prove(walk):
    plain = replace(recorded("19-break"), manifest=Manifest())
    leave_at_the_leaf(plain, phase_19())
    app = walk(plain)
    async with opened(app, WIDE) as pilot:
        assert isinstance(app.screen, LeafScreen)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
