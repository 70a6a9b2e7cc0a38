"""The post-mortem and the lessons on screen: filled by keyboard and by mouse, saved, left and found again."""

import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static, TextArea

from tests.conftest import ROOT, make_run
from tests.test_postmortem import begun, filled, spiked
from tests.ui.conftest import PATIENCE, shown, until
from tests.ui.promises import broken
from tutor import plots
from tutor.notebook import Notebook, NotebookError, draft_key
from tutor.postmortem import SECTIONS, problems
from tutor.ui.app import TutorApp
from tutor.ui.formkeeper import KIND
from tutor.ui.screens.example import ExampleScreen
from tutor.ui.screens.kept import KeptScreen
from tutor.ui.screens.lessons import LessonsScreen
from tutor.ui.screens.panel import PanelScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.widgets.contents import Contents
from tutor.ui.widgets.grid import Cells, EvidenceGrid
from tutor.ui.widgets.plot import Plot
from tutor.words import say

WIDE, NARROW = (120, 36), (80, 24)
pytestmark = pytest.mark.slow

SIZES = [WIDE, NARROW]


class App(TutorApp):
    """The app, keeping what was saved."""

    CSS_PATH = ROOT / "tutor" / "ui" / "tutor.tcss"
    saved: Path | None = None

    def on_post_mortem_screen_saved(self, event: PostMortemScreen.Saved) -> None:
        self.saved = event.path


@asynccontextmanager
async def on_screen(screen: Screen, lang: str = "en", size: tuple[int, int] = WIDE) -> AsyncIterator[Pilot]:
    """An app with `screen` in front of the home screen."""
    app = App(learner="ana", lang=lang)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.push_screen(screen)
        await settle(pilot)
        yield pilot


@pytest.fixture
def book(home) -> Notebook:
    return Notebook("ana")


async def type_in(pilot: Pilot, *fields: str) -> None:
    """Type into field after field, with tab between them; "" leaves a field as it is."""
    for number, text in enumerate(fields):
        if number:
            await pilot.press("tab")
        await pilot.press(*("space" if c == " " else c for c in text))


async def written(pilot: Pilot) -> None:
    """Wait until what was to be read or written beside the screen is."""
    await pilot.pause()
    waited = 0.0
    while pilot.app.files.busy and waited < PATIENCE:
        await pilot.pause(0.02)
        waited += 0.02
    await pilot.pause()


async def settle(pilot: Pilot) -> None:
    """Wait until the notebook is read and the section at hand is drawn."""
    await written(pilot)
    drawing = [worker for worker in pilot.app.workers if worker.group == "open"]
    if drawing:
        await pilot.app.workers.wait_for_complete(drawing)
    await pilot.pause()


async def to_next(pilot: Pilot) -> None:
    await pilot.press("ctrl+n")
    await settle(pilot)


def message(screen: Screen) -> str:
    return str(screen.query_one("#message", Static).render())


def left(book: Notebook) -> list[str]:
    """The lessons of the drafts that are left."""
    return [draft.data["lesson"] for draft in book.drafts() if draft.kind == KIND]


async def test_the_shortest_honest_path_by_keyboard(book):
    """Every marked cell answered, as few keys as that takes, and no sentence but the learner's own two."""
    run = spiked()
    screen = PostMortemScreen(begun(run), book, run)
    pressed = 0

    async with on_screen(screen, size=NARROW) as pilot:

        async def press(*keys: str) -> None:
            nonlocal pressed
            pressed += len(keys)
            await pilot.press(*keys)
            await settle(pilot)

        await press("ctrl+n", *"0.9", "ctrl+o")  # 1 came from the log; the rest share what is left of 1
        await press("ctrl+n")
        marked = [cell for cell, said in screen.pm.log.items() if said.judged]
        for _ in marked:
            cells = screen.query_one(Cells)
            key = screen.pm.hypotheses[cells.cursor_column - 1].key
            said = screen.pm.reading(cells.panel, key)
            assert said is not None and said.judged, "the cursor goes from one marked cell to the next"
            await press({"favours": "1", "rules_out": "2", "silent": "3"}[said.verdict])
        await press("ctrl+n")
        await type_in(pilot, "The clip was off, e.g. at beta2 0.999.")
        await press("ctrl+n", "ctrl+n")  # 5 follows the cause
        await press("enter", "enter")  # the bounds that the log offers
        assert [bound.value for bound in screen.pm.verification.bounds] == ["1.02"]
        await press("ctrl+n")
        await type_in(pilot, "Clip [red] first")
        assert problems(screen.pm, "en") == []
        await press("ctrl+s")
        await written(pilot)
        assert pilot.app.saved == book.lessons_path
        assert isinstance(pilot.app.screen, KeptScreen)
        assert "Clip [red] first" in shown(pilot.app)
        await press("e")
        assert "lessons.md" in message(screen)
        await press("escape")
    assert pressed - len(marked) <= 20
    [lesson] = book.lessons()
    assert lesson.lesson == "Clip [red] first"
    assert "| A | 0.9 |" in lesson.body
    assert left(book) == []


@pytest.mark.parametrize(("lang", "size"), [("es", NARROW), ("en", WIDE), ("es", WIDE)])
async def test_what_is_filled_passes_through_all_seven_and_is_saved(book, lang, size):
    screen = PostMortemScreen(filled(begun(lang=lang)), book)
    async with on_screen(screen, lang, size) as pilot:
        for number, section in enumerate(SECTIONS, 1):
            assert screen.number == number
            assert " ".join(say(f"postmortem.lead.{section}", lang).split()[:4]) in shown(pilot.app)
            standing = screen.query_one(".standing", Static)
            assert "✗" not in str(standing.render())
            if number < len(SECTIONS):
                await to_next(pilot)
        await pilot.press("end", "!", "ctrl+s")  # the last word is typed
        await written(pilot)
        assert problems(screen.pm, lang) == []
        assert "lessons.md" in message(screen)
    [lesson] = book.lessons()
    assert lesson.lesson == "Clip first!"
    assert left(book) == []


async def test_empty_sections_are_named_and_nothing_is_saved(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        await pilot.press("ctrl+s")
        await written(pilot)
        assert "2 Hypotheses, 3 Evidence, 4 Root cause, 5 Remediation, 6 Verification, 7 Lesson" in message(
            app.screen
        )
        assert book.lessons() == []
        assert app.saved is None


async def test_each_section_says_how_it_stands_in_words(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        contents = str(app.screen.query_one(Contents).render())
        assert contents.count("done") == 1
        assert contents.count("empty") == 6
        await pilot.press("x")  # into the step where it began
        await pilot.pause()
        assert "1 to do" in str(app.screen.query_one(Contents).render())
        assert "is not a step" in str(app.screen.query_one(".standing", Static).render())


@pytest.mark.parametrize("lang", ["en", "es"])
async def test_how_a_section_stands_is_in_sight_however_long_its_form(book, lang):
    run = spiked()
    screen = PostMortemScreen(begun(run).with_own().with_own(), book, run)
    async with on_screen(screen, lang=lang, size=NARROW) as pilot:
        for number in (1, 2, 4, 5, 6, 7):  # in 3 the contents say it
            await screen._go(number)
            await settle(pilot)
            said = str(screen.query_one(".standing", Static).render())
            assert said[:25] in shown(pilot.app), number


class TestEvidence:
    async def test_the_log_speaks_after_the_learner(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            app = pilot.app
            await to_next(pilot)
            await to_next(pilot)
            await pilot.press("down", "left", "left")  # panel 3, hypothesis A
            await pilot.pause()
            said = app.screen.query_one(".said", Static)
            assert "50" not in str(said.render())
            await pilot.press("space")
            await pilot.pause()
            assert "The log agrees: favours. 50 is 50 times its mean" in str(said.render())
            await pilot.press("space")
            await pilot.pause()
            assert "You say rules out; the log says favours" in str(said.render())
            await pilot.press("backspace")
            await pilot.pause()
            assert app.screen.pm.cell("gradient", "rare_token") == ""

    async def test_panels_stand_in_their_order_and_one_key_fills_a_marked_cell_and_goes_on(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            screen = pilot.app.screen
            await screen._go(3)
            await settle(pilot)
            cells = screen.query_one(Cells)
            of_the_log = ("loss", "lr", "gradient", "parameters", "optimizer", "batch", "throughput")
            assert cells.panels == of_the_log
            assert "Not in this log: 4 activations, 7 tokens." in shown(pilot.app)
            assert (cells.panel, cells.cursor_column) == ("lr", 3)
            assert shown(pilot.app).count("○") == len([r for r in screen.pm.log.values() if r.judged]) + 2
            await pilot.press("1")  # the log rules it out
            await pilot.pause()
            assert (cells.panel, cells.cursor_column) == ("gradient", 1)
            said = str(screen.query_one(".said", Static).render())
            assert said.startswith("≠ 2 LR · C:")
            assert "Panel 3 gradient, A" in said, "the next cell is asked about below"
            assert "≠ favours" in shown(pilot.app)
            await pilot.click("#silence")
            await pilot.pause()
            assert screen.pm.cell("gradient", "rare_token") == "", "a rule can judge it"

    async def test_after_the_marked_cells_a_key_goes_on_to_the_empty_ones(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            screen = pilot.app.screen
            await screen._go(3)
            await settle(pilot)
            cells, count = screen.query_one(Cells), len(screen.pm.hypotheses)
            marked = sum(
                screen.pm.judged(panel, h.key) for panel in cells.panels for h in screen.pm.hypotheses
            )
            await pilot.press(*"3" * len(cells.panels) * count)
            await settle(pilot)
            assert marked < len(cells.panels) * count == sum(map(bool, screen.pm.evidence.values()))

    @pytest.mark.parametrize("whole", [True, False])
    async def test_the_panels_show_the_whole_run_where_that_is_what_is_wrong(self, book, whole):
        run = spiked()
        async with on_screen(PostMortemScreen(begun(run, whole=whole), book, run)) as pilot:
            await pilot.app.screen._go(3)
            await settle(pilot)
            for key in (None, "f2"):
                if key:
                    await pilot.press(key)
                    await until(lambda: isinstance(pilot.app.screen, PanelScreen))
                    await settle(pilot)
                assert (pilot.app.screen.query_one(Plot).view == plots.whole(run)) is whole

    @pytest.mark.parametrize(("size", "beside"), [(WIDE, True), ((80, 36), True), (NARROW, False)])
    async def test_the_rows_panel_is_shown_beside_the_grid(self, book, size, beside):
        run = spiked()
        async with on_screen(PostMortemScreen(begun(run), book, run), size=size) as pilot:
            await pilot.app.screen._go(3)
            await settle(pilot)
            plot = pilot.app.screen.query_one(Plot)
            assert (plot.region.area > 0) == beside
            assert plot.panel == "lr"
            await pilot.press("1")
            await pilot.pause()
            assert plot.panel == "gradient"

    async def test_a_probability_that_the_evidence_contradicts_is_pointed_at(self, book):
        pm = filled(begun()).with_hypothesis("schedule", probability="0.7")
        async with on_screen(PostMortemScreen(pm.with_cell("lr", "schedule", "silent"), book)) as pilot:
            screen = pilot.app.screen
            for number, said in ((2, "0.7, but panel 2 LR rules it out"), (3, "C ≠ 0.7 (2 LR: rules out)")):
                await screen._go(number)
                await settle(pilot)
                assert said in shown(pilot.app)

    @pytest.mark.parametrize(("column", "rows"), [("episode_reward", 1), ("queue", 0)])
    async def test_a_log_of_scores_alone_has_a_row_and_one_of_nothing_takes_no_harm(self, book, column, rows):
        run = make_run({column: [*map(float, range(60))]})
        async with on_screen(PostMortemScreen(begun(run, None, whole=True), book)) as pilot:
            await pilot.app.screen._go(3)
            await settle(pilot)
            await pilot.press("3")
            await pilot.pause()
            assert pilot.app.screen.query_one(Cells).row_count == rows
            assert list(filter(None, pilot.app.screen.pm.evidence.values())) == ["silent"] * rows

    @pytest.mark.parametrize("keys", [["left"] * 6, ["home"], ["click"]])
    async def test_the_cursor_keeps_off_the_names_of_the_panels(self, book, keys):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            screen = pilot.app.screen
            await screen._go(3)
            await settle(pilot)
            cells = screen.query_one(Cells)
            row = cells.cursor_row
            if keys == ["click"]:
                await pilot.click(Cells, offset=(3, row + 1))
            else:
                await pilot.press(*keys)
            await pilot.pause()
            assert cells.cursor_coordinate == (row, 1)
            await pilot.press("2")
            await pilot.pause()
            assert screen.pm.cell(cells.panels[row], screen.pm.hypotheses[0].key) == "rules_out"

    async def test_no_letter_fills_the_rest(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            await pilot.app.screen._go(3)
            await settle(pilot)
            screen = pilot.app.screen
            await pilot.press(*"abcdefghijkmnoprstuvwxyz")  # but l, the language, and q, to leave
            await pilot.pause()
            assert not any(screen.pm.evidence.values())

    @pytest.mark.parametrize("lang", ["en", "es"])
    async def test_on_80_columns_nothing_is_cut(self, book, lang):
        async with on_screen(PostMortemScreen(begun(), book), lang, NARROW) as pilot:
            app = pilot.app
            await app.screen._go(3)
            await settle(pilot)
            await pilot.pause()
            text = shown(app)
            assert say("postmortem.lead.evidence", lang) in text
            assert re.search(rf"9 {say('postmortem.panels.throughput', lang)} +–", text)
            keys = text.rstrip().splitlines()[-1]
            for key, name in (("ctrl+s", "save"), ("ctrl+n", "next"), ("1-3", "fill")):
                assert f"{key} {say(f'postmortem.keys.{name}', lang)}" in keys
            await pilot.press("f1")
            await pilot.pause()
            assert f"{say('keys.names.backspace', lang)}   {say('postmortem.keys.clear', lang)}" in shown(app)
            assert "Page Left" not in shown(app)
            assert "Cursor" not in shown(app)
            assert "Scroll" not in shown(app)

    @pytest.mark.parametrize("lang", ["en", "es"])
    @pytest.mark.parametrize("size", [WIDE, NARROW])
    async def test_six_hypotheses_fit_with_their_signs_explained(self, book, lang, size):
        pm = begun(spiked(nan_from=250), None)
        async with on_screen(PostMortemScreen(pm, book), lang, size) as pilot:
            await pilot.app.screen._go(3)
            await settle(pilot)
            for verdict in "123":
                await pilot.press(verdict)
                await pilot.pause()
            text = shown(pilot.app)
            assert re.search(r"A +B +C +D +E +F", text)
            assert say("postmortem.marks", lang) in text
            assert pilot.app.screen.query_one(Cells).max_scroll_x == 0

    @pytest.mark.parametrize("lang", ["en", "es"])
    @pytest.mark.parametrize("size", [WIDE, NARROW])
    async def test_why_it_isnt_done_is_said_where_there_is_room(self, book, lang, size):
        async with on_screen(PostMortemScreen(begun(), book), lang, size) as pilot:
            screen = pilot.app.screen
            await screen._go(3)
            await settle(pilot)
            cells = len(screen.query_one(Cells).panels) * len(screen.pm.hypotheses)
            await pilot.press(*"3" * cells)
            await settle(pilot)
            await until(lambda: say("postmortem.problems.all_silent", lang)[:30] in shown(pilot.app))
            assert say("postmortem.problems.all_silent", lang)[:30] in shown(pilot.app)
            assert screen.query_one(EvidenceGrid).max_scroll_y == 0, "nothing else went out of sight for it"

    async def test_by_mouse(self, book):
        async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
            app = pilot.app
            await app.screen._go(3)
            await settle(pilot)
            await pilot.pause()
            await pilot.click(Cells, offset=(18, 3))  # panel 3, hypothesis A
            await pilot.pause()
            assert app.screen.pm.cell("gradient", "rare_token") == "favours"
            await pilot.click("#silence")
            await pilot.pause()
            assert app.screen.pm.cell("throughput", "state") == "silent"


async def test_a_bound_that_the_run_holds_already_is_pointed_at(book):
    run = spiked()
    async with on_screen(PostMortemScreen(begun(run), book, run)) as pilot:
        screen = pilot.app.screen
        await screen._go(6)
        await settle(pilot)
        await pilot.press("enter")
        await pilot.pause()
        reach = screen.query_one(".reach", Static)
        assert "with the tolerance, up to 1.03" in str(reach.render())
        assert "would prove nothing" in str(reach.render())
        screen.query_one("#window-0", Input).value = "121..200"
        await pilot.pause()
        assert "breaks it: 8 at step 121" in str(reach.render())


async def test_a_bound_that_was_added_can_be_taken_away(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        screen = pilot.app.screen
        await screen._go(6)
        await settle(pilot)
        before = screen.pm.verification.bounds
        screen.query_one("#add-bound").press()
        await settle(pilot)
        assert len(screen.pm.verification.bounds) == len(before) + 1
        screen.query_one(f"#drop-{len(before)}").press()
        await settle(pilot)
        assert screen.pm.verification.bounds == before
        assert not screen.query(f"#drop-{len(before)}")


async def test_a_bound_that_was_taken_out_comes_back_with_a_key(book):
    async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
        screen = pilot.app.screen
        await screen._go(6)
        await settle(pilot)
        before = screen.pm.verification.bounds
        assert screen.check_action("put_back", ()) is False
        screen.query_one("#drop-0").press()
        await settle(pilot)
        assert screen.pm.verification.bounds == before[1:]
        assert "F4" in str(screen.query_one("#message", Static).render())
        await pilot.press("ctrl+n", "f4")  # from another section, too
        await settle(pilot)
        assert (screen.number, screen.pm.verification.bounds) == (6, before)
        assert screen.check_action("put_back", ()) is False


async def test_another_fix_can_be_taken(book):
    async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
        screen = pilot.app.screen
        await screen._go(5)
        await settle(pilot)
        assert "grad_clip=1.0" in screen.query_one(TextArea).text
        screen.query_one("#take-1").press()
        await settle(pilot)
        assert "batching=stratified" in screen.query_one(TextArea).text


async def test_section_4_shows_a_root_cause_of_another_run(book):
    async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
        await pilot.app.screen._go(4)
        await settle(pilot)
        assert "without Adam's moments" in " ".join(shown(pilot.app).split())


@pytest.mark.parametrize("lang", ["en", "es"])
async def test_the_worked_example_stands_beside_a_run_of_ours(book, lang):
    async with on_screen(ExampleScreen(), lang, NARROW) as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        text = shown(pilot.app)
        assert "47.2" in text, "the example's"
        assert "63.6" in text, "ours"
        await pilot.press("escape")


async def test_sections_by_mouse_and_by_arrows(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        await pilot.click(Contents, offset=(4, 4))
        await settle(pilot)
        assert app.screen.number == 4
        assert isinstance(app.focused, TextArea)
        app.screen.query_one(Contents).focus()
        await pilot.press("down", "down", "down", "down")
        await settle(pilot)
        assert app.screen.number == 1
        assert isinstance(app.focused, Contents)


async def test_a_probability_that_is_typed_takes_the_place_of_what_stood_there(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        await to_next(pilot)
        screen = pilot.app.screen
        first, second = screen.pm.hypotheses[:2]
        await pilot.press(*"0.2", "enter", "shift+tab", "shift+tab")
        await pilot.pause()
        assert screen.focused.id == f"p-{first.key}"
        await pilot.press(*"0.7")
        await pilot.pause()
        assert screen.pm.hypotheses[0].probability == "0.7"
        assert screen.pm.hypotheses[1].probability == second.probability


async def test_ones_own_hypothesis_by_button(book):
    async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
        app = pilot.app
        await to_next(pilot)
        await pilot.click("#add-own")
        await settle(pilot)
        await type_in(pilot, "a bad disk")
        await pilot.pause()
        assert app.screen.pm.hypotheses[-1].text == "a bad disk"
        await pilot.press("enter")
        await settle(pilot)
        assert app.focused.id == "p-own-1"
        app.screen.query_one("#drop-own-1").press()
        await settle(pilot)
        assert len(app.screen.pm.hypotheses) == 5
        await pilot.press("f4")
        await settle(pilot)
        assert app.screen.pm.hypotheses[-1].text == "a bad disk"


class TestDrafts:
    @pytest.mark.parametrize("key", ["escape", "ctrl+q"])
    async def test_kept_on_leaving(self, book, key):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            await pilot.press("7")
            await pilot.pause()
            await pilot.press(key)
            await pilot.pause()
        [draft] = book.drafts()
        assert draft.kind == KIND
        assert draft.data["symptoms"][0]["value"] == "1207"

    async def test_kept_at_each_change_of_section(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            await to_next(pilot)
            assert book.drafts() == [], "nothing was written yet"
            await pilot.press("1")
            await to_next(pilot)
            assert len(book.drafts()) == 1

    @pytest.mark.parametrize(
        ("keys", "lesson"),
        [
            (["enter"], "Mine"),
            (["down", "enter", "down", "enter"], ""),  # asked twice
            (["down", "enter", "enter"], "Mine"),
            (["escape"], "Mine"),
        ],
    )
    async def test_offered_again(self, book, keys, lesson):
        left = begun().but(lesson="Mine")
        book.save_draft(KIND, draft_key("a-run", "phase-19", left.about.folder), left.model_dump(mode="json"))
        async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
            app = pilot.app
            await pilot.pause()
            assert isinstance(app.screen, PickScreen)
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            await settle(pilot)
            assert app.screen.pm.lesson == lesson
            begins_at_what_is_missing = 2 if lesson else 1
            assert app.screen.number == begins_at_what_is_missing

    @pytest.mark.parametrize(("keys", "lesson"), [(["enter"], "Clip first"), (["down", "enter"], "")])
    async def test_a_lesson_that_was_saved_is_opened_again(self, book, keys, lesson):
        async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
            await pilot.press("ctrl+s")
            await written(pilot)
        async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
            await pilot.pause()
            assert "You saved a lesson of this walk" in shown(pilot.app)
            assert "Clip first" in shown(pilot.app)
            await pilot.press(*keys)
            await pilot.pause()
            await settle(pilot)
            screen = pilot.app.screen
            assert screen.pm.lesson == lesson
            assert screen.keeper.saved(screen.pm) is bool(lesson)
            if lesson:
                assert "added as another lesson" in message(screen)
                await pilot.press("ctrl+s")
                await written(pilot)
        assert [one.lesson for one in book.lessons()] == ["Clip first"]  # unchanged, it is there already
        assert left(book) == []

    @pytest.mark.parametrize("key", ["enter", "escape", "q"])
    async def test_who_has_read_the_lesson_is_back_where_the_post_mortem_began(self, book, key: str):
        screen = PostMortemScreen(filled(begun()), book)
        async with on_screen(screen) as pilot:
            await pilot.press("ctrl+s")
            await written(pilot)
            assert isinstance(pilot.app.screen, KeptScreen)
            await pilot.press(key)
            await pilot.pause()
            assert screen not in pilot.app.screen_stack

    async def test_a_draft_that_cant_be_read_is_kept_aside(self, book):
        book.save_draft(KIND, draft_key("a-run", "phase-19", begun().about.folder), {"id": 3})
        async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
            app = pilot.app
            assert isinstance(app.screen, PostMortemScreen)
        assert len(list(book.folder.glob("drafts/*.broken"))) == 1


async def test_a_save_that_fails_says_so_and_rescues_the_text(book, monkeypatch, tmp_path):
    def refuse(_):
        raise NotebookError("full", path="here")

    monkeypatch.setattr(book, "append_lesson", refuse)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
        app = pilot.app
        await pilot.press("ctrl+s")
        await written(pilot)
        assert "no room left" in message(app.screen)
        [kept] = tmp_path.glob("tutor-lesson-*.md")
        assert "Clip first" in kept.read_text()
        assert app.saved is None


async def test_the_language_changes_in_place(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        await pilot.press("7")
        await pilot.pause()
        app.lang = "es"
        await settle(pilot)
        assert "Síntomas" in str(app.screen.query_one(Contents).render())
        assert app.screen.query_one("#began", Input).value == "1207"


@pytest.mark.parametrize("lang", ["en", "es"])
async def test_how_to_leave_and_get_help_stands_at_the_bottom(book, lang):
    async with on_screen(PostMortemScreen(begun(), book, spiked()), lang, NARROW) as pilot:
        for number in (1, 2, 4, 5, 6, 7):  # the grid has keys of its own to show
            await pilot.app.screen._go(number)
            await settle(pilot)
            footer = shown(pilot.app).split("\n")[-1]
            assert [key for key in ("esc", "f1", "ctrl+p") if key not in footer] == [], number


async def test_the_menu_opens_over_every_section(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        form = pilot.app.screen
        for number in range(1, 8):
            await form._go(number)
            await settle(pilot)
            await pilot.press("ctrl+p")
            await until(lambda: "Quit tutor" in shown(pilot.app))
            assert "Quit tutor" in shown(pilot.app), number
            await pilot.press("escape")
            await until(lambda: pilot.app.screen is form)


@pytest.mark.parametrize(("number", "part"), [(4, "cause"), (7, "lesson")])
async def test_the_language_changes_in_mid_sentence(book, number, part):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        await app.screen._go(number)
        await settle(pilot)
        await type_in(pilot, "The clip")
        await pilot.press("left")
        app.lang = "es"
        await settle(pilot)
        await type_in(pilot, "-")
        await pilot.pause()
        assert getattr(app.screen.pm, part) == "The cli-p"


@pytest.mark.parametrize("size", SIZES)
async def test_every_field_can_be_reached_and_seen(book, size):
    pm = begun(spiked(nan_from=250), None).with_own()
    async with on_screen(PostMortemScreen(pm, book), "es", size) as pilot:
        screen = pilot.app.screen
        for number, section in enumerate(SECTIONS, 1):
            await screen._go(number)
            await settle(pilot)
            form = screen.query_one("#form").region
            for widget in screen.query("#form Input, #form TextArea, #form Cells, #form Button"):
                widget.focus()
                await until(lambda w=widget, form=form: w.has_focus and form.contains_region(w.region))
                assert widget.region.width > 3, f"{section}: {widget} has no room"
                assert form.contains_region(widget.region), f"{section}: {widget} lies outside"


class TestFieldsOutOfSight:
    """At 60x18 the rows of a section don't fit."""

    async def test_page_and_arrow_keys_go_from_field_to_field(self, book):
        async with on_screen(PostMortemScreen(begun(spiked()), book), "es", (60, 18)) as pilot:
            app, met = pilot.app, []
            await settle(pilot)
            for key in ("pagedown", "up", "down", "pagedown", "pagedown", "pageup", "pageup"):
                await pilot.press(key)
                await settle(pilot)
                assert list(broken(app)) == [], key
                met.append(app.focused.id)
        keys = [symptom.key for symptom in begun(spiked()).symptoms]
        after, one_up, back, *_, first = (keys.index(id) for id in met)
        assert after > 5, "a page further"
        assert (one_up, back, first) == (after - 1, after, 0)

    async def test_typing_brings_back_the_field_that_the_mouse_scrolled_away(self, book):
        async with on_screen(PostMortemScreen(begun(spiked()), book), "es", (60, 18)) as pilot:
            app = pilot.app
            await app.screen._go(2)
            await settle(pilot)
            held = app.focused
            app.screen.query_one("#form .section").scroll_to(y=100, animate=False)
            await settle(pilot)
            assert list(broken(app)), "out of sight"
            await pilot.press("7")
            await settle(pilot)
            assert app.focused is held
            assert list(broken(app)) == []


class TestLessons:
    @pytest.mark.parametrize("size", SIZES)
    async def test_the_latest_first_and_open(self, book, size):
        book.append_lesson("## Old\n\nfirst\n")
        book.append_lesson(
            "## New [red]\n\n2026-11-20 14:03 · 19-break · phase-19\n\n| a |\n| --- |\n| [b]x |\n"
        )
        async with on_screen(LessonsScreen(book, book.lessons()), size=size) as pilot:
            app = pilot.app
            await pilot.pause()
            latest = app.screen.query_one("#list").get_option_at_index(0).prompt
            assert "New [red]" in str(latest)
            assert "New [red]" in app.screen.query_one("Markdown").source
            await pilot.press("down")
            await pilot.pause()
            assert "Old" in app.screen.query_one("Markdown").source
            await pilot.press("enter")
            await pilot.pause()
            assert app.focused.id == "reading"
            await pilot.press("escape")
            await pilot.pause()
            assert not isinstance(app.screen, LessonsScreen)

    @pytest.mark.parametrize("lang", ["en", "es"])
    async def test_none_yet(self, book, lang):
        async with on_screen(LessonsScreen(book, book.lessons()), lang, NARROW) as pilot:
            app = pilot.app
            await pilot.pause()
            assert "lessons.md" in str(app.screen.query_one("#none", Static).render())


@pytest.mark.parametrize("number", [2, 3])
async def test_a_tree_may_offer_no_hypotheses(book, number):
    async with on_screen(PostMortemScreen(begun(hypotheses=()), book)) as pilot:
        await pilot.app.screen._go(number)
        await settle(pilot)
        assert pilot.app.focused is not None
        assert "Empty" in str(pilot.app.screen.query_one(".standing", Static).render())


class TestSavingBesideTheScreen:
    @pytest.fixture
    def slow(self, book, monkeypatch) -> threading.Event:
        """The notebook appends no lesson before the event is set."""
        go, append = threading.Event(), book.append_lesson

        def wait(text: str) -> Path:
            assert go.wait(10)
            return append(text)

        monkeypatch.setattr(book, "append_lesson", wait)
        return go

    async def test_keys_work_while_a_lesson_is_being_saved(self, book, slow):
        screen = PostMortemScreen(filled(begun()), book)
        async with on_screen(screen) as pilot:
            await pilot.press("ctrl+s", "ctrl+n")
            await pilot.pause()
            assert (screen.number, screen.keeper.saved(screen.pm)) == (2, False)
            slow.set()
            await written(pilot)
            assert pilot.app.saved == book.lessons_path

    async def test_who_leaves_while_it_is_being_saved_leaves_no_draft_behind(self, book, slow):
        async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
            await pilot.press("ctrl+s", "escape")
            await pilot.pause()
            slow.set()
            await written(pilot)
        assert [lesson.lesson for lesson in book.lessons()] == ["Clip first"]
        assert left(book) == []

    async def test_who_leaves_while_a_save_fails_finds_a_draft(self, book, monkeypatch, tmp_path):
        def refuse(_):
            raise NotebookError("full", path="here")

        monkeypatch.setattr(book, "append_lesson", refuse)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
            await pilot.press("1", "ctrl+s", "escape")
            await written(pilot)
        assert [draft.data["lesson"] for draft in book.drafts()] == ["Clip first"]


async def test_what_is_typed_below_a_remark_that_was_filled_in_is_none_itself(book: Notebook):
    pm = filled(begun()).but(remediation="# go on from step 311")
    async with on_screen(PostMortemScreen(pm, book)) as pilot:
        for _ in range(4):
            await pilot.press("ctrl+n")
            await settle(pilot)
        await pilot.press(*"grad_clip=1.0")
        await settle(pilot)
        assert pilot.app.screen.pm.remediation == "# go on from step 311\ngrad_clip=1.0"
