"""Haste: a key before a screen stands, after it has gone, or twice before the first one was dealt with."""

import pytest
from textual import events
from textual.command import CommandList
from textual.content import Content
from textual.geometry import Offset, Size
from textual.selection import Selection
from textual.widgets import Input, Static

from tests.conftest import ROOT, write_run
from tests.monkey.terminal import events_of
from tests.ui.conftest import NARROW, WIDE, found_by, phase_19, recorded, settle, shown, to_the_leaf, until
from tests.ui.promises import broken
from tests.ui.world import MARKED, SWALLOWED, rows
from tutor.begun import begun
from tutor.notebook import Notebook, draft_key
from tutor.postmortem import to_state
from tutor.ui.app import TutorApp
from tutor.ui.formkeeper import KIND
from tutor.ui.screens.help import HelpScreen
from tutor.ui.screens.home import HomeScreen
from tutor.ui.screens.lessons import LessonsScreen
from tutor.ui.screens.menu import Menu
from tutor.ui.screens.name import NameScreen
from tutor.ui.screens.note import NoteScreen
from tutor.ui.screens.panel import PanelScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.screens.small import TooSmall
from tutor.ui.screens.walk import WalkScreen
from tutor.ui.widgets.options import Options
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.question import QuestionPane

pytestmark = pytest.mark.slow


def at_once(app: TutorApp, *keys: str) -> None:
    """Press keys as a terminal sends them, without waiting for an answer."""
    for key in keys:
        for event in events_of("press", [key], app.size):
            app._driver.process_message(event)


@pytest.mark.parametrize(
    "key", ["1", "3", "plus", "less_than_sign", "0", "f", "x", "y", "enter", "down", "g"]
)
@pytest.mark.parametrize("after", [0.0, 0.03])
async def test_a_key_before_the_panel_stands(home, key, after):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        app.open_walk(ROOT / "runs" / "19-break", phase_19())
        await pilot.pause(after)
        at_once(app, key, key)
        await settle(pilot)
        assert isinstance(app.screen_stack[1], WalkScreen)


@pytest.mark.parametrize("key", ["plus", "minus", "right", "left", "0", "v", "full_stop"])
async def test_a_panel_is_zoomed_and_resized_before_it_is_drawn(walk, key):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        at_once(app, "f", key, key)
        await pilot.resize_terminal(*NARROW)
        await settle(pilot)
        assert isinstance(app.screen, PanelScreen)
        assert app.screen.query_one(Plot).view


async def test_a_second_enter_on_home_opens_one_walk(home):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        at_once(app, "enter", "enter", "enter")
        await settle(pilot)
        assert [type(screen) for screen in app.screen_stack[:2]] == [HomeScreen, WalkScreen]
        assert sum(isinstance(screen, WalkScreen) for screen in app.screen_stack) == 1


OVER = {
    "menu": lambda app: Menu(),
    "picker": lambda app: PickScreen("walk.sure", [("stay", "one"), ("again", "two")]),
    "name": lambda app: NameScreen(),
    "note": lambda app: NoteScreen("walk.remarks", ["a line"]),
    "help": lambda app: HelpScreen(app.screen, "en"),
}


@pytest.mark.parametrize("name", OVER)
async def test_a_second_dismissal_leaves_the_screen_below(walk, name):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.screen.action_map()
        below = list(app.screen_stack)
        for close in ("action_close", "dismiss"):
            app.push_screen(screen := OVER[name](app))
            await pilot.pause(0.1)
            getattr(screen, close)()
            screen.dismiss()
            screen.dismiss()
            await settle(pilot)
            assert app.screen_stack == below


@pytest.mark.parametrize("name", OVER)
async def test_keys_to_close_come_faster_than_they_are_answered(home, name):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause(0.1)
        for key in ("escape", "enter"):
            app.push_screen(OVER[name](app))
            at_once(app, key, key)
            await pilot.pause(0.1)
            at_once(app, key, key, key)
            await settle(pilot)
            assert isinstance(app.screen_stack[0], HomeScreen)
            app.go_home()
        app.exit()


async def test_a_screen_under_another_goes_when_it_is_in_front_again(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        given = []
        app.push_screen(picker := PickScreen("walk.sure", [("stay", "one")]), given.append)
        app.push_screen(note := NoteScreen("walk.remarks", ["a line"]))
        await pilot.pause()
        picker.dismiss("stay")
        assert app.screen is note
        note.dismiss()
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert given == ["stay"]


async def test_a_second_enter_takes_up_the_draft_once(walk):
    run, notebook = recorded("19-break"), Notebook("ana")
    pm = begun(to_the_leaf(run, phase_19()), "en").but(lesson="clip first")
    notebook.save_draft(KIND, draft_key(pm.about.run, pm.about.tree, pm.about.folder), to_state(pm))
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.push_screen(screen := PostMortemScreen(begun(to_the_leaf(run, phase_19()), "en"), notebook, run))
        await settle(pilot)
        assert isinstance(app.screen, PickScreen)
        at_once(app, "enter", "enter", "enter")
        await settle(pilot)
        assert app.screen is screen
        assert screen.pm.lesson == "clip first"


async def test_the_post_mortem_is_left_while_a_section_is_drawn(walk):
    run, notebook = recorded("19-break"), Notebook("ana")
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for keys in (["escape"], ["ctrl+n", "escape"], ["ctrl+n", "ctrl+n", "l", "escape", "escape"]):
            app.push_screen(PostMortemScreen(begun(to_the_leaf(run, phase_19()), "en"), notebook, run))
            at_once(app, *keys)
            await settle(pilot)
            assert isinstance(app.screen, WalkScreen)


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda app: app.open_lessons(), LessonsScreen),
        (lambda app: app.ask_learner(), NameScreen),
        (lambda app: app.action_help(), HelpScreen),
        (lambda app: app.action_command_palette(), Menu),
    ],
    ids=["lessons", "name", "help", "menu"],
)
async def test_asked_for_twice_it_opens_once(home, ask, kind):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for _ in range(2):
            ask(app)
            await settle(pilot)
        assert [type(screen) for screen in app.screen_stack] == [HomeScreen, kind]


async def test_a_run_that_cannot_be_read_under_another_screen_ends_the_app_with_the_reason(walk, tmp_path):
    app = walk(write_run(tmp_path / "empty", []))
    async with app.run_test(size=WIDE):
        app.action_help()
        await until(lambda: app._exit)
    assert app.return_code == 2


@pytest.mark.parametrize("what", ["grow", "cut", "rewrite", "vanish"])
async def test_a_run_changes_while_it_is_open(walk, tmp_path, what):
    from tests.ui.world import happen

    folder = write_run(tmp_path / "run", rows(300))
    app = walk(folder)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        happen(what, folder)
        at_once(app, "n", "enter", "enter", "c", "escape", "f", "escape", "r", "escape", "q")
        await until(lambda: app._exit, seconds=1)
        if not app._exit:  # the runs to compare with were found late: that list took the last key
            at_once(app, "q")
            await until(lambda: app._exit)
    assert app.return_code == 0


async def test_what_was_selected_is_redrawn_shorter_before_it_is_copied(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = app.screen.query(Static).first()
        text.update(Content("one"))
        app.screen.selections = {text: Selection(Offset(0, 1), Offset(5, 7))}
        await pilot.press("ctrl+c")
        assert app.screen.get_selected_text() is None


async def test_what_is_selected_of_a_panel_begins_and_ends_where_the_mouse_does(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        plot = app.screen.query_one(Plot)
        lines = plot.render().plain.split("\n")
        first, last = 2, 4
        await pilot.mouse_down(plot, offset=(4 + plot.gutter.left, first + plot.gutter.top))
        await pilot.hover(plot, offset=(9 + plot.gutter.left, last + plot.gutter.top))
        await pilot.mouse_up(plot, offset=(9 + plot.gutter.left, last + plot.gutter.top))
        # up to the cell under the mouse, and with it
        wanted = [lines[first][4:], *lines[first + 1 : last], lines[last][:10]]
        assert app.screen.get_selected_text().rstrip("\n").split("\n") == wanted


async def test_what_was_selected_is_copied_after_the_window_has_shrunk(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        question = app.screen.query_one(QuestionPane)  # what is at stake stands under it where there is room
        app.screen.selections = {question: Selection(Offset(0, 1), Offset(9, 1))}
        assert len(app.screen.get_selected_text()) == 9
        await pilot.resize_terminal(*NARROW)
        await settle(pilot)
        await pilot.press("ctrl+c")
        assert app.screen.get_selected_text() is None


@pytest.mark.parametrize("key", ["pagedown", "pageup", "down", "ctrl+end"])
async def test_the_menu_has_no_room_for_its_list(home, key):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        at_once(app, "ctrl+p")
        await until(lambda: found_by(app))
        await pilot.resize_terminal(80, 4)
        app.screen.dismiss()  # what covers the menu while there is no room
        at_once(app, key, key)
        await pilot.pause()
        assert isinstance(app.screen, Menu | TooSmall)


@pytest.mark.parametrize("key", ["pagedown", "pageup", "down", "ctrl+end"])
async def test_a_key_over_a_list_that_isnt_laid_out(home, key):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        app.push_screen(PickScreen("ui.figures", [("one", "one"), ("two", "two")]))
        await pilot.pause()
        rows = [app.screen.query_one(Options)]
        app.action_command_palette()
        await until(lambda: found_by(app))
        rows.append(app.screen.query_one(CommandList))
        for one in rows:
            one.styles.height = 0
            await pilot.pause()
            one._clear_caches()  # as when its lines are set anew
            one.highlighted = 0
        at_once(app, key, key)
        await pilot.press("escape")
        await pilot.pause()
        at_once(app, key, key)
        await pilot.pause()
        assert isinstance(app.screen, PickScreen)


@pytest.mark.parametrize("key", ["pagedown", "down", "a"])
async def test_the_menu_is_asked_before_its_list_stands_and_after_it_has_gone(home, key):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        app.action_command_palette()
        await until(lambda: found_by(app))
        menu = app.screen
        await menu.query_one("#--container").remove()
        menu._gather_commands("walk")
        at_once(app, key)
        await pilot.pause(0.1)
        await pilot.press("escape")
        await pilot.pause(0.6)  # what the menu meant to say by then
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.parametrize("key", ["g", "ctrl+p"])
async def test_a_click_beside_what_is_laid_out_leaves_the_focus(walk, key):
    app = walk()
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        await pilot.press(key)
        await until(lambda: isinstance(app.focused, Input))
        field = app.screen.query_one(Input)
        assert app.screen.focused is field
        grown = Size(200, 50)  # and isn't drawn yet
        for event in events_of("wheel", [0.99, 0.99, 1, False], grown):
            app._driver.process_message(event)
        await pilot.pause()
        assert app.screen.focused is field


async def test_a_field_that_holds_more_than_it_shows_is_no_screen_too_wide(home):
    app = TutorApp(learner="ana")
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        app.action_command_palette()
        await until(lambda: found_by(app))
        app.screen.query_one(Input).value = "x" * 5000
        await until(lambda: not found_by(app))
        assert list(broken(app)) == []


@pytest.mark.parametrize("lang", ["en", "es"])
async def test_too_small_a_terminal_says_how_to_leave(home, lang):
    app = TutorApp(learner="ana", lang=lang)
    async with app.run_test(size=(20, 8)) as pilot:
        await pilot.pause()
        assert list(broken(app)) == []
        await pilot.press("q")
    assert app.return_code == 0


async def test_a_screen_that_opens_while_the_terminal_is_too_small_is_covered(home):
    app = TutorApp(learner="ana")
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        app.push_screen(NoteScreen("walk.remarks", ["a line"]))
        for act, kind in (
            (pilot.pause, TooSmall),
            (lambda: pilot.resize_terminal(*NARROW), NoteScreen),
            (lambda: pilot.press("escape"), HomeScreen),
        ):
            await act()
            await until(lambda kind=kind: isinstance(app.screen, kind))
            assert isinstance(app.screen, kind)


async def test_the_menu_draws_a_runs_name_as_it_is(home):
    write_run(home / "runs" / MARKED, rows(20))
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause(0.2)
        for search in ((), ("o", "d", "d")):
            await pilot.press("ctrl+p", *search)
            await until(lambda: "odd[red]" in shown(app))
            assert "odd[red]" in shown(app)
            assert SWALLOWED not in shown(app)
            await pilot.press("escape")


async def test_what_is_pasted_cannot_steer_the_terminal(home):
    app = TutorApp(learner="ana")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause(0.1)
        app.ask_learner()
        await pilot.pause(0.1)
        app._driver.process_message(events.Paste("\x1b[31m\u202e\ud800\nmore"))
        await until(lambda: "␛[31m" in shown(app))
        assert list(broken(app)) == []
        assert "␛[31m" in shown(app)
