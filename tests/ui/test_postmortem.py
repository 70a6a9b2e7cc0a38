"""The post-mortem and the lessons on screen: filled by keyboard and by mouse, saved, left and found again."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static, TextArea

from tests.conftest import ROOT
from tests.test_postmortem import begun, filled, spiked
from tests.ui.conftest import shown
from tutor.notebook import Notebook, NotebookError, draft_key
from tutor.postmortem import SECTIONS, problems
from tutor.ui.app import TutorApp
from tutor.ui.screens.lessons import LessonsScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.postmortem import KIND, PostMortemScreen
from tutor.ui.widgets.contents import Contents
from tutor.ui.widgets.grid import Cells
from tutor.words import say

WIDE, NARROW = (120, 36), (80, 24)
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
    while pilot.app.files.busy and waited < 5:
        await pilot.pause(0.02)
        waited += 0.02
    await pilot.pause()


async def until(holds: Callable[[], bool], seconds: float = 2) -> None:
    """Wait until something holds, and no longer: a pause for each of many fields adds up."""
    deadline = monotonic() + seconds
    while not holds() and monotonic() < deadline:
        await asyncio.sleep(0.005)


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


async def test_all_seven_by_keyboard_then_saved(book):
    screen = PostMortemScreen(begun(), book)
    async with on_screen(screen, size=NARROW) as pilot:
        app = pilot.app
        await to_next(pilot)  # 1 came from the log
        await type_in(pilot, "0.7", "the gradient", "", "none", "", "none", "", "none")
        await pilot.press("ctrl+o")  # the rest share what is left of 1
        await to_next(pilot)
        await pilot.press("space", "tab", "enter")  # panel 1 favours A; the rest is silent
        await to_next(pilot)
        await type_in(pilot, "The clip was off, e.g. at beta2 0.999.")
        await to_next(pilot)
        await to_next(pilot)  # 5 came from the leaf
        await type_in(pilot, "", "0.01", "", "", "", "1.5")
        await to_next(pilot)
        await type_in(pilot, "Clip [red] first")
        await pilot.press("ctrl+s")
        await written(pilot)
        assert problems(screen.pm, "en") == []
        assert app.saved == book.lessons_path
        assert "lessons.md" in message(screen)
        await pilot.press("escape")
    [lesson] = book.lessons()
    assert lesson.lesson == "Clip [red] first"
    assert "| A | 0.7 |" in lesson.body
    assert book.drafts() == []


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
    assert book.drafts() == []


async def test_empty_sections_are_named_and_nothing_is_saved(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        await pilot.press("ctrl+s")
        await written(pilot)
        assert "2 Hypotheses, 3 Evidence, 4 Root cause, 6 Verification, 7 Lesson" in message(app.screen)
        assert book.lessons() == []
        assert app.saved is None


async def test_each_section_says_how_it_stands_in_words(book):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        contents = str(app.screen.query_one(Contents).render())
        assert contents.count("done") == 2
        assert contents.count("empty") == 5
        await pilot.press("x")  # into the step where it began
        await pilot.pause()
        assert "1 to do" in str(app.screen.query_one(Contents).render())
        assert "is not a step" in str(app.screen.query_one(".standing", Static).render())


class TestEvidence:
    async def test_the_log_speaks_after_the_learner(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            app = pilot.app
            await to_next(pilot)
            await to_next(pilot)
            await pilot.press("down", "down")  # panel 3, hypothesis A
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

    async def test_no_letter_fills_the_rest(self, book):
        async with on_screen(PostMortemScreen(begun(), book)) as pilot:
            pilot.app.screen._go(3)
            await settle(pilot)
            screen = pilot.app.screen
            await pilot.press(*"abcdefghijkmnoprstuvwxyz")  # but l, the language, and q, to leave
            await pilot.pause()
            assert not any(screen.pm.evidence.values())

    @pytest.mark.parametrize("lang", ["en", "es"])
    async def test_on_80_columns_nothing_is_cut(self, book, lang):
        async with on_screen(PostMortemScreen(begun(), book), lang, NARROW) as pilot:
            app = pilot.app
            app.screen._go(3)
            await settle(pilot)
            await pilot.pause()
            text = shown(app)
            assert say("postmortem.lead.evidence", lang) in text
            assert re.search(rf"9 {say('postmortem.panels.throughput', lang)} +–", text)
            keys = text.rstrip().splitlines()[-1]
            for key, name in (("ctrl+s", "save"), ("ctrl+n", "next"), ("enter", "fill")):
                assert f"{key} {say(f'postmortem.keys.{name}', lang)}" in keys
            await pilot.press("f1")
            await pilot.pause()
            assert f"{say('keys.names.backspace', lang)}   {say('postmortem.keys.clear', lang)}" in shown(app)
            assert "Page Left" not in shown(app)
            assert "Cursor" not in shown(app)
            assert "Scroll" not in shown(app)

    async def test_by_mouse(self, book):
        async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
            app = pilot.app
            app.screen._go(3)
            await settle(pilot)
            await pilot.pause()
            await pilot.click(Cells, offset=(18, 3))  # panel 3, hypothesis A
            await pilot.pause()
            assert app.screen.pm.cell("gradient", "rare_token") == "favours"
            await pilot.click("#silence")
            await pilot.pause()
            assert app.screen.pm.cell("throughput", "state") == "silent"


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


async def test_ones_own_hypothesis_by_button(book):
    async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
        app = pilot.app
        await to_next(pilot)
        await pilot.click("#add-own")
        await settle(pilot)
        await type_in(pilot, "a bad disk")
        await pilot.pause()
        assert app.screen.pm.hypotheses[-1].text == "a bad disk"
        app.screen.query_one("#drop-own-1").press()
        await settle(pilot)
        assert len(app.screen.pm.hypotheses) == 4


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
        ("keys", "lesson"), [(["enter"], "Mine"), (["down", "enter"], ""), (["escape"], "Mine")]
    )
    async def test_offered_again(self, book, keys, lesson):
        left = begun().but(lesson="Mine")
        book.save_draft(KIND, draft_key("a-run", "phase-19", left.about.folder), left.model_dump(mode="json"))
        async with on_screen(PostMortemScreen(begun(), book), size=NARROW) as pilot:
            app = pilot.app
            await pilot.pause()
            assert isinstance(app.screen, PickScreen)
            await pilot.press(*keys)
            await pilot.pause()
            await settle(pilot)
            assert app.screen.pm.lesson == lesson

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
@pytest.mark.parametrize("number", [1, 2, 4, 5, 6, 7])  # the grid has keys of its own to show
async def test_how_to_leave_and_get_help_stands_at_the_bottom(book, number, lang):
    async with on_screen(PostMortemScreen(begun(), book, spiked()), lang, NARROW) as pilot:
        pilot.app.screen._go(number)
        await settle(pilot)
        footer = shown(pilot.app).split("\n")[-1]
        assert "esc" in footer
        assert "f1" in footer
        assert "ctrl+p" in footer


@pytest.mark.parametrize("number", range(1, 8))
async def test_the_menu_opens_over_every_section(book, number):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        pilot.app.screen._go(number)
        await settle(pilot)
        await pilot.press("ctrl+p")
        await pilot.pause(0.3)
        assert "Quit tutor" in shown(pilot.app)


@pytest.mark.parametrize(("number", "part"), [(4, "cause"), (7, "lesson")])
async def test_the_language_changes_in_mid_sentence(book, number, part):
    async with on_screen(PostMortemScreen(begun(), book)) as pilot:
        app = pilot.app
        app.screen._go(number)
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
            screen._go(number)
            await settle(pilot)
            form = screen.query_one("#form").region
            for widget in screen.query("#form Input, #form TextArea, #form Cells, #form Button"):
                widget.focus()
                await until(lambda w=widget, form=form: w.has_focus and form.contains_region(w.region))
                assert widget.region.width > 3, f"{section}: {widget} has no room"
                assert form.contains_region(widget.region), f"{section}: {widget} lies outside"


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
        pilot.app.screen._go(number)
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
            assert (screen.number, screen.pm == screen._lesson) == (2, False)
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
        assert book.drafts() == []

    async def test_who_leaves_while_a_save_fails_finds_a_draft(self, book, monkeypatch, tmp_path):
        def refuse(_):
            raise NotebookError("full", path="here")

        monkeypatch.setattr(book, "append_lesson", refuse)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        async with on_screen(PostMortemScreen(filled(begun()), book)) as pilot:
            await pilot.press("1", "ctrl+s", "escape")
            await written(pilot)
        assert [draft.data["lesson"] for draft in book.drafts()] == ["Clip first"]
