"""What a first user meets: the way out, starting over, hints in little room, names hidden, settings kept."""

import pytest
from textual import events
from textual.widgets._toast import Toast

from tests.conftest import write_run
from tests.ui.conftest import (
    NARROW,
    WIDE,
    found_by,
    leave_at_the_leaf,
    opened,
    phase_19,
    recorded,
    settle,
    shown,
    to_the_leaf,
    until,
)
from tests.ui.promises import broken
from tutor import preferences
from tutor import tree as trees
from tutor.cli.options import lang as spoken
from tutor.notebook import Notebook, NotebookError
from tutor.ui.app import TutorApp
from tutor.ui.screens.compare import CompareScreen
from tutor.ui.screens.home import HomeScreen
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.lessons import LessonsScreen
from tutor.ui.screens.name import NameScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.walk import WalkScreen
from tutor.ui.widgets.answer import options
from tutor.ui.widgets.footer import MOST, Keys
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.walk import UNSURE
from tutor.words import LANGUAGES, say

pytestmark = pytest.mark.slow

LESSON = "## Clip the gradient\n\n2026-11-20 14:03 · 19-break · phase-19\n\nAll of it.\n"


def footer(app: TutorApp) -> str:
    return shown(app).split("\n")[-1]


def keys_shown(app: TutorApp) -> int:
    styles = (str(span.style) for span in app.screen.query_one(Keys).render().spans)
    return len({style.partition("@click=")[2] for style in styles if "@click=" in style})


@pytest.fixture
def at_home(home):
    return TutorApp(learner="ana", lang="en")


@pytest.mark.parametrize("key", ["n", "t", "m", "x", "f1", "ctrl+p"])
async def test_nothing_is_promised_that_an_empty_notebook_lacks(at_home, key):
    async with opened(at_home, NARROW, key):
        assert list(broken(at_home)) == []


class TestWaysOut:
    @pytest.mark.parametrize("lang", LANGUAGES)
    @pytest.mark.parametrize("size", [WIDE, NARROW, (60, 18)])
    async def test_the_footer_says_how_to_leave_wherever_we_are(self, walk, size, lang):
        app = walk(lang=lang)
        leave, close = (say(f"keys.{name}", lang) for name in ("leave", "close"))
        async with opened(app, size) as pilot:
            for keys, way_out in (
                ([], f"q {leave}"),
                (["n", "enter"], f"q {leave}"),  # what the log says
                (["f"], f"esc {close}"),  # in full size
                (["escape", "c"], f"esc {close}"),  # two runs
            ):
                await pilot.press(*keys)
                await settle(pilot)
                assert way_out in footer(app), keys
                assert say("keys.help", lang) in footer(app)
                assert len(footer(app).rstrip()) <= size[0]
                assert keys_shown(app) <= MOST

    @pytest.mark.parametrize("lang", LANGUAGES)
    async def test_ctrl_c_says_how_to_quit_in_the_apps_language(self, walk, lang):
        app = walk(lang=lang)
        async with opened(app, WIDE, notifications=True) as pilot:
            await pilot.press("ctrl+c")
            await until(lambda: say("ui.how_to_quit", lang)[:20] in shown(app))
            assert say("ui.how_to_quit", lang)[:20] in shown(app)

    async def test_what_the_log_says_has_a_footer_that_fits(self, walk):
        app = walk()
        async with opened(app, WIDE, "n", "enter"):
            assert footer(app).split()[:3] == ["enter", "go", "on"]
            assert footer(app).rstrip().endswith("ctrl+p menu")

    @pytest.mark.parametrize("lang", LANGUAGES)
    @pytest.mark.parametrize("size", [WIDE, NARROW, (60, 18)])
    async def test_the_footer_says_how_to_go_back_wherever_an_answer_can_be_undone(self, walk, size, lang):
        back = f"b {say('keys.back', lang)}"
        async with opened(walk(lang=lang), size) as pilot:
            assert back not in footer(pilot.app)
            for keys in (["n", "enter"], ["enter"], ["u", "enter"]):  # the log, the next question, the log
                await pilot.press(*keys)
                await settle(pilot)
                assert back in footer(pilot.app), keys
            pilot.app.screen.move_to(to_the_leaf(recorded("19-break"), phase_19()))
            await settle(pilot)
            assert back in footer(pilot.app)

    async def test_a_log_that_leaves_more_to_do_shows_it_too(self, walk, tmp_path):
        rows = [{"step": step, "grad_norm": 1.0} for step in range(300)]
        app = walk(write_run(tmp_path / "no-loss", rows))
        async with opened(app, NARROW, "n", "enter", "enter") as pilot:
            for keys in ([], ["u", "enter"]):
                await pilot.press(*keys)
                await settle(pilot)
                assert "b back" in footer(app)
                assert "p pass over" in footer(app)
            assert "ctrl+p" not in footer(app)  # the menu gives way

    async def test_reading_a_lesson_is_offered_while_the_list_has_the_focus(self, home):
        notebook = Notebook("ana")
        notebook.append_lesson(LESSON)
        app = TutorApp(learner="ana", lang="en")
        async with opened(app, WIDE) as pilot:
            app.push_screen(LessonsScreen(notebook, notebook.lessons()))
            await settle(pilot)
            assert "enter read" in footer(app)
            await pilot.press("enter")
            await settle(pilot)
            assert app.focused is not None
            assert app.focused.id == "reading"
            assert "enter read" not in footer(app)


class TestStartingOver:
    async def test_a_finished_walk_is_erased_only_by_who_is_sure(self, at_leaf):
        app = at_leaf()
        async with opened(app, WIDE) as pilot:
            answers = app.screen.walk.answers
            for keys in (["r", "escape"], ["r", "enter"]):  # the first row is to stay
                await pilot.press(*keys)
                await settle(pilot)
                assert isinstance(app.screen, LeafScreen)
                assert app.screen.walk.answers == answers
            await pilot.press("r")
            await settle(pilot)
            assert isinstance(app.screen, PickScreen)
            assert "the answers of this walk are erased" in shown(app)
            await pilot.press("down", "enter")
            await settle(pilot)
            assert isinstance(app.screen, WalkScreen)
            assert app.screen.walk.answers == ()

    async def test_a_walk_with_nothing_answered_starts_over_at_once(self, walk):
        app = walk()
        async with opened(app, WIDE, "n", "enter", "r"):
            assert isinstance(app.screen, WalkScreen)
            assert (app.screen.walk.prediction, app.screen.walk.attempt) == (None, 2)


class TestAnswering:
    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_an_outcome_that_says_yes_or_no_with_a_reason_has_its_letter(self, lang):
        *harm, _ = options(phase_19().questions["2.5"].offered, lang, "walk.dont_know")
        assert [option.letter for option in harm] == [say(f"walk.letters.{id}", lang) for id in ("yes", "no")]

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_a_plain_no_has_it_beside_one_with_a_reason(self, lang):
        found = options(phase_19().questions["5.4"].offered, lang, "walk.cant_tell")
        assert [option.id for option in found if option.letter] == ["no", UNSURE]

    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_a_letter_never_stands_for_two_outcomes(self, lang):
        for name in trees.available():
            for id, question in trees.find(name).questions.items():
                letters = [o.letter for o in options(question.offered, lang, "walk.cant_tell") if o.letter]
                assert len(letters) == len(set(letters)), id

    @pytest.mark.parametrize("lang", LANGUAGES)
    async def test_the_arrows_that_choose_are_named_where_there_is_little_room(self, walk, lang):
        app = walk(lang=lang)
        async with opened(app, NARROW) as pilot:
            assert f"↑↓ {say('keys.choose', lang)}" in footer(app)
            await pilot.press("h", "h", "h")
            await settle(pilot)
            assert f"↑↓ {say('keys.choose', lang)}" in footer(app)
            assert say("keys.scroll_hints", lang) in footer(app)
            await pilot.press("enter")
            await settle(pilot)
            assert say("walk.choose_first", lang) in shown(app)


class TestLittleRoom:
    async def test_every_hint_can_be_read(self, walk):
        app = walk()
        first, *_, last = (hint("en") for hint in phase_19().questions["1.1"].hints)
        async with opened(app, NARROW, "h", "h", "h") as pilot:
            assert first[:30] not in shown(app)
            assert last[:30] in shown(app)
            assert say("keys.scroll_hints", "en") in footer(app)
            await pilot.press("pageup", "pageup")
            await settle(pilot)
            assert first[:30] in shown(app)
            await pilot.press("pagedown", "pagedown")
            await settle(pilot)
            assert last[:30] in shown(app)

    @pytest.mark.parametrize("size", [(100, 30), (80, 30), WIDE])
    async def test_the_panels_names_and_the_why_stand_from_28_rows_on(self, walk, size):
        app = walk()
        async with opened(app, size) as pilot:
            text = shown(app)
            assert phase_19().questions["1.1"].why("en")[:30] in text
            assert "3 grad" in text
            assert "9 speed" in text
            await pilot.press("n", "enter")
            await settle(pilot)
            assert app.screen.query_one(Plot).content_size.height >= 8
            assert "all 600 logged losses are finite" in " ".join(shown(app).split())

    @pytest.mark.parametrize("said", ["kept", "a line that goes on " * 12])
    @pytest.mark.parametrize("size", [WIDE, NARROW])
    async def test_a_message_covers_nothing(self, walk, size, said):
        app = walk()
        async with opened(app, size, notifications=True):
            app.notify(said)
            await until(lambda: said[:15] in shown(app))
            assert said[:15] in shown(app)
            told = app.screen.query_one(Toast).region
            assert told
            parts = app.screen.query("Title, QuestionPane, Plot, Answer, Hints, Keys").results()
            parts = [part for part in parts if part.region]
            assert len(parts) >= 6
            assert [part for part in parts if part.region.overlaps(told)] == []
            assert phase_19().questions["1.1"].ask("en") in shown(app)


async def test_the_panels_follow_the_language_in_mid_walk(walk):
    app = walk()
    async with opened(app, WIDE, "n", "enter", "enter", "3", "l"):
        assert say("panel.tabs.gradient", "es") in str(app.screen.query_one(PanelTabs).render())
        assert "3 Norma del gradiente" in str(app.screen.query_one(Plot).border_title)
        assert app.screen.query_one(Plot).panel == "gradient"


async def test_compare_names_the_runs_in_the_order_of_its_legend(at_leaf):
    app = at_leaf()
    async with opened(app, WIDE, "c"):
        assert isinstance(app.screen, CompareScreen)
        named = [line for line in shown(app).split("\n") if "19-break" in line and "19-control" in line]
        assert len(named) >= 3  # the title, the legend, the tables
        assert all(line.index("19-break") < line.index("19-control") for line in named)


async def test_what_is_pasted_after_tab_lands_in_the_next_field(home):
    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.widgets import Input

    class Form(Screen):
        def compose(self) -> ComposeResult:
            yield Input(id="one")
            yield Input(id="two")

    app = TutorApp(learner="ana", lang="en")
    async with opened(app, WIDE) as pilot:
        await app.push_screen(Form())
        app.screen.query_one("#one").focus()
        await settle(pilot)
        for event in (events.Key("tab", None), events.Paste("loss")):  # as fast as a terminal sends them
            app.post_message(event)
        await settle(pilot)
        values = [field.value for field in app.screen.query(Input)]
        assert values == ["", "loss"]


class TestSettings:
    async def test_the_theme_is_kept_for_the_next_time_and_by_learner(self, home):
        app = TutorApp(learner="ana", lang="en")
        async with opened(app, WIDE) as pilot:
            app.action_theme()
            await settle(pilot)
        assert not TutorApp(learner="ana").current_theme.dark
        eva = TutorApp(learner="eva")
        async with opened(eva, WIDE) as pilot:
            assert eva.current_theme.dark
            eva.ask_learner()
            await settle(pilot)
            assert isinstance(eva.screen, NameScreen)
            await pilot.press("home", "shift+end", "backspace", *"ana", "enter")
            await settle(pilot)
            assert not eva.current_theme.dark

    async def test_the_language_chosen_in_a_walk_is_kept_by_learner_and_a_command_may_ask_for_another(
        self, walk, monkeypatch
    ):
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        async with opened(walk(), WIDE, "l") as pilot:
            assert pilot.app.lang == "es"
        assert (spoken(None, "ana"), spoken("en", "ana")) == ("es", "en")
        assert (spoken(None, "eva"), spoken(None)) == ("en", "en")
        async with opened(walk(lang="en"), WIDE) as pilot:  # as `--lang en` does: for this time
            assert pilot.app.lang == "en"
            pilot.app.action_theme()
            await settle(pilot)
        assert preferences.read("ana") == preferences.Preferences("light", lang="es")

    async def test_another_learner_finds_the_language_that_was_chosen(self, home):
        preferences.write("ana", preferences.Preferences(lang="es"))
        app = TutorApp(learner="eva", lang="en")
        async with opened(app, WIDE) as pilot:
            app.ask_learner()
            await settle(pilot)
            await pilot.press("home", "shift+end", "backspace", *"ana", "enter")
            await settle(pilot)
            assert app.lang == "es"

    async def test_a_theme_that_cannot_be_kept_is_told_and_taken(self, home, monkeypatch):
        def refuse(*_):
            raise NotebookError("read_only", path="/learners/ana")

        monkeypatch.setattr(preferences, "write", refuse)
        app = TutorApp(learner="ana", lang="en")
        async with opened(app, WIDE, notifications=True) as pilot:
            app.action_theme()
            await settle(pilot)
            assert not app.current_theme.dark
            assert [n for n in app._notifications if "/learners/ana" in n.message]


class TestNames:
    async def test_hidden_until_the_walk_has_ended(self, at_home):
        control = recorded("19-control")
        walked = {"name": control.name, "run": str(control.path.resolve()), "tree": "phase-19", "done": True}
        Notebook("ana").save_draft("walk", "19-control", walked)
        async with opened(at_home, WIDE) as pilot:
            assert "19-break" in shown(at_home)
            await pilot.press("x")  # hide
            await settle(pilot)
            assert "19-break" not in shown(at_home)
            assert "run 1" in shown(at_home)
            assert "names hidden (x)" in shown(at_home)
            assert "19-control" in shown(at_home)  # walked to its end
            at_home.screen.open(at_home.screen.found.entries[0])
            await settle(pilot)
            for keys in ([], ["f"], ["escape", "m"], ["escape", "c"]):  # panel, map, two runs
                await pilot.press(*keys)
                await settle(pilot)
                assert "run 1" in shown(at_home), keys
                assert "19-break" not in shown(at_home), keys

    async def test_seen_again_the_next_time(self, home):
        async with opened(TutorApp(learner="ana", lang="en"), WIDE, "x") as pilot:
            assert "names hidden (x)" in shown(pilot.app)
            await pilot.press("l")  # what is kept
            await settle(pilot)
        async with opened(TutorApp(learner="ana", lang="en"), WIDE) as pilot:
            assert not pilot.app.hide_names
            assert "19-break" in shown(pilot.app)

    async def test_shown_at_the_leaf_and_from_then_on(self, walk):
        leave_at_the_leaf(recorded("19-break"), phase_19())
        app = walk()
        app.hide_names = True
        async with opened(app, WIDE) as pilot:
            assert isinstance(app.screen, LeafScreen)
            assert "19-break" in shown(app)
            await pilot.press("b")  # back to the last question
            await settle(pilot)
            assert "19-break" in shown(app)

    async def test_the_menu_shows_and_hides_them(self, at_home):
        async with opened(at_home, WIDE, "ctrl+p") as pilot:
            await pilot.press(*"hide the")
            await until(lambda: found_by(at_home, "hide the"))
            await pilot.press("enter")
            await settle(pilot)
            assert at_home.hide_names


async def test_home_walks_the_tree_that_was_named(home):
    app = TutorApp(learner="ana", lang="en", home_tree="another")
    async with opened(app, WIDE):
        assert isinstance(app.screen, HomeScreen)
        assert app.screen.walked_tree == "another"
