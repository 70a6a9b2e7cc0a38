"""Home, leaf, map, panel, compare, help and palette: each opens, tells what it should, and closes."""

import pytest
from textual.css.stylesheet import Stylesheet
from textual.geometry import Offset
from textual.selection import Selection

from tests.conftest import write_run
from tests.test_postmortem import begun, filled
from tests.test_tree import small, write
from tests.ui.conftest import (
    NARROW,
    SIZES,
    TO_SPIKE,
    WIDE,
    found_by,
    leave_at_the_leaf,
    phase_19,
    recorded,
    settle,
    shown,
    until,
)
from tests.ui.test_walk import click_on
from tutor import tree as trees
from tutor import walk as walks
from tutor.notebook import Notebook, draft_key
from tutor.postmortem import to_state
from tutor.proof import look_alikes
from tutor.tree import Advice, Handover
from tutor.ui import proofs
from tutor.ui.app import TutorApp
from tutor.ui.formkeeper import SAVED
from tutor.ui.screens.compare import CompareScreen
from tutor.ui.screens.help import HelpScreen
from tutor.ui.screens.home import HomeScreen
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.note import NoteScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.walk import WalkScreen
from tutor.ui.widgets.lined import Lined
from tutor.words import Words


@pytest.fixture
def at_home(home):
    """The app on its home screen."""
    return TutorApp(learner="ana", lang="en")


async def test_home_lists_the_runs_and_opens_a_walk(at_home):
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        text = shown(at_home)
        assert "19-break" in text
        assert "19-control" in text
        assert "Walk 19-break" in text
        await pilot.press("enter")  # open the first
        await settle(pilot)
        assert isinstance(at_home.screen, WalkScreen)
        await pilot.press("n", "enter", "enter", "q")  # answer one, leave
        await settle(pilot)
        assert isinstance(at_home.screen, HomeScreen)
        assert "you are at 1.4" in shown(at_home)
        assert "open, at 1.4" in shown(at_home)


async def test_home_that_is_left_while_it_reads_draws_nothing(at_home):
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        home = HomeScreen()
        await at_home.push_screen(NoteScreen("home.story_title", []))  # no screen opens over its own kind
        await at_home.push_screen(home)
        await settle(pilot)
        await at_home.pop_screen()
        assert not home.query("Title")
        await home.read().wait()  # what was asked for before comes late


async def test_home_sees_new_runs_and_goes_on_with_one_that_lies_elsewhere(home, tmp_path):
    elsewhere = write_run(tmp_path / "far" / "mine", [{"step": i, "loss": 1.0} for i in range(300)])
    app = TutorApp(learner="ana", lang="en", subject=elsewhere, walked_tree=phase_19())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("n", "enter", "enter", "q")
        await settle(pilot)
    app = TutorApp(learner="ana", lang="en")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "open, at 1.4" in shown(app)
        write_run(home / "runs" / "newest", [{"step": 0, "loss": 1.0}])
        await pilot.press("n", "escape")  # the lessons, and back
        await settle(pilot)
        assert "newest" in shown(app)
        app.screen.open(next(entry for entry in app.screen.found.entries if entry.name == "mine"))
        await settle(pilot)
        assert app.screen.walk.at == "1.4"


async def test_home_suggests_the_post_mortem_that_is_owed(at_home):
    book, run = Notebook("ana"), recorded("19-break")
    state = {"name": "19-break", "run": str(run.path.resolve()), "tree": "phase-19", "done": True}
    key = draft_key("19-break", "phase-19", run.path)
    for owed, lesson, suggested in (
        (True, "", "Write the post-mortem of 19-break"),
        (False, "", "Walk 19-control"),
        (True, "## Clip\n\n2026-11-20 14:03 · 19-break · phase-19\n", "Walk 19-control"),
    ):
        book.save_draft("walk", key, state | {"owed": owed})
        if lesson:
            book.append_lesson(lesson)
        app = TutorApp(learner="ana", lang="en")
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            assert suggested in shown(app)


async def test_home_says_how_to_come_back_to_a_run_that_it_does_not_list(at_home, tmp_path):
    log = tmp_path / "elsewhere" / "my run.csv"
    state = {"name": "my run", "run": str(log), "tree": "phase-19", "at": "1.4", "done": False}
    Notebook("ana").save_draft("walk", draft_key("my run", "phase-19", log), state)
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        said = " ".join(shown(at_home).split())
        assert "Go on with the walk over my run" in said
        assert "It isn't in this list:" in said


async def test_home_says_that_the_lessons_cannot_be_read(at_home):
    Notebook("ana").lessons_path.mkdir(parents=True)
    async with at_home.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        assert "lessons.md can't be read" in " ".join(shown(at_home).split())
        await pilot.press("n")
        await settle(pilot)
        assert isinstance(at_home.screen, HomeScreen)


async def test_home_without_runs_says_how_to_get_one(at_home, monkeypatch):
    monkeypatch.setattr("tutor.readers.available", dict)
    async with at_home.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert "tutor train --break no-clip" in shown(at_home)


async def test_home_says_which_file_is_wrong(at_home, monkeypatch, tmp_path):
    broken = tmp_path / "runs" / "broken"
    broken.mkdir(parents=True)
    (broken / "metrics.jsonl").write_text("not json\n")
    async with at_home.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        names = [entry.name for entry in at_home.screen.found.entries]
        await pilot.press(*["down"] * names.index("broken"), "enter")  # open it
        await settle(pilot)
        assert isinstance(at_home.screen, HomeScreen)
        assert [n for n in at_home._notifications if "metrics.jsonl" in n.message]


@pytest.mark.parametrize("size", SIZES)
async def test_the_leaf_tells_the_flaw_the_fix_and_what_it_is_not(at_leaf, size):
    app = at_leaf()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        leaf = app.screen
        assert isinstance(leaf, LeafScreen)
        end, _ = walks.unattended(recorded("19-break"), phase_19())
        for part in ("verdict", "fix", "not", "score"):
            assert leaf.query_one(f"#{part}").display
        rendered = str(leaf.query_one("#not").render())
        proof = proofs.offered(end)
        assert proof is not None
        measured = {other.question for other in look_alikes(end, proof.card, "en") if other.question}
        for look_alike in walks.ruled_out(end, measured):
            assert look_alike("en") in rendered
        assert end.leaf.fixes[0].words("en") in str(leaf.query_one("#fix").render())


async def test_from_the_leaf_again_from_the_top(at_leaf):
    app = at_leaf()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("r", "down", "enter")  # walk again, and sure of it
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert app.screen.walk.at == "1.1"


async def test_a_leaf_leads_on_to_the_next_tree(at_leaf, monkeypatch):
    end, _ = walks.unattended(recorded("19-break"), phase_19())
    now = Advice(words=Words({"en": "stop and reload"}), when={"1.1": "no", "2.1": "yes"})
    never = Advice(words=Words({"en": "carry on"}), when={"2.1": "no"})
    leaf = end.leaf.model_copy(
        update={
            "next": Handover(tree="other", question="3.1"),
            "breaks": ("no-clip",),
            "advice": {"now": now, "never": never},
        }
    )
    other = phase_19().model_copy(update={"tree": "other"})
    monkeypatch.setattr("tutor.tree.available", lambda: {"other": None})
    monkeypatch.setattr("tutor.tree.find", lambda name: other)
    asked = phase_19().model_copy(update={"leaves": {**phase_19().leaves, end.at: leaf}})
    app = at_leaf(walked_tree=asked)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "tutor train --break no-clip" in shown(app)
        assert "For this run, now: stop and reload" in shown(app)
        assert "carry on" not in shown(app)
        await pilot.press("t")  # the next tree
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert (app.screen.walk.tree.tree, app.screen.walk.at) == ("other", "3.1")
        await pilot.press("q")  # back on the leaf
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)


@pytest.fixture
def leads_on(at_leaf, monkeypatch, tmp_path):
    """An app at a leaf that leads on to a question of the tree `small`, which lies in the current folder."""
    (tmp_path / "trees").mkdir()
    write(tmp_path / "trees", small())
    monkeypatch.chdir(tmp_path)
    end, _ = walks.unattended(recorded("19-break"), phase_19())

    def opened(question: str | None) -> TutorApp:
        leaf = end.leaf.model_copy(update={"next": Handover(tree="small", question=question)})
        leaves = {**phase_19().leaves, end.at: leaf}
        return at_leaf(walked_tree=phase_19().model_copy(update={"leaves": leaves}))

    return opened


async def test_the_next_tree_goes_on_at_its_question_and_step(leads_on):
    app = leads_on("2")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("t")  # the next tree
        await settle(pilot)
        begun = app.screen.walk
        assert (begun.tree.tree, begun.tree.start, begun.at) == ("small", "1", "2")
        assert begun.start == ("2", 312)
        assert begun.focus == app.screen.mark == 312
        await pilot.press("down", "enter", "enter")  # its only question, then its leaf
        await settle(pilot)
        assert app.screen.walk.leaf
        assert [answer.question for answer in app.screen.walk.answers] == ["2"]
        await pilot.press("r", "down", "enter")  # again, from where it began
        await settle(pilot)
        again = app.screen.walk
        assert (again.at, again.start, again.attempt) == ("2", ("2", 312), 2)


async def test_a_walk_of_the_next_tree_that_began_elsewhere_is_begun_again(leads_on):
    other = trees.find("small")
    leave_at_the_leaf(recorded("19-break"), other)  # walked from its first question before
    app = leads_on("2")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("t")  # the next tree
        await settle(pilot)
        assert (app.screen.walk.at, app.screen.walk.attempt) == ("2", 2)
        await pilot.press("down", "enter", "q", "t")  # commit, leave, and come back
        await settle(pilot)
        assert app.screen.walk.prediction  # taken up where it was left


async def test_the_next_tree_begins_at_its_first_question_where_none_is_named(leads_on):
    app = leads_on(None)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert app.screen.walk.start == ("1", 312)


async def test_a_next_tree_without_the_question_is_said_to_lack_it(leads_on):
    app = leads_on("7")
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
        assert [note for note in app._notifications if "question of small" in note.message]


async def test_from_the_leaf_out_and_back_to_it(walk, at_leaf):
    app = at_leaf()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("b", "down", "enter", "enter")  # the last question again, and back to the leaf
        await settle(pilot)
        assert isinstance(app.screen, LeafScreen)
        await pilot.press("q")  # leave
        await settle(pilot)
    assert Notebook("ana").drafts()[0].data["done"]
    again = walk()
    async with again.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert isinstance(again.screen, LeafScreen)


async def test_the_leaf_opens_the_post_mortem(at_leaf):
    app = at_leaf()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("p")  # post-mortem
        await settle(pilot)
        assert type(app.screen).__name__ == "PostMortemScreen"


async def test_copying_the_fix(at_leaf):
    app = at_leaf()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        command = app.screen.command
        await pilot.press("y")  # copy
        await settle(pilot)
        assert command.startswith("tutor train --break no-clip")
        assert app.clipboard == command
        assert app.screen.help_notes == ("leaf", "command")


async def test_the_map_shows_where_we_are_and_what_was_taken(walk):
    app = walk()
    async with app.run_test(size=(120, 60)) as pilot:
        await settle(pilot)
        await pilot.press(*TO_SPIKE, "m")  # at 2.1, the map
        await settle(pilot)
        lines = shown(app).split("\n")
        assert any("a spike?" in line and "you are here" in line for line in lines)
        assert any("no ↓" in line and "taken" in line for line in lines)
        await pilot.press("escape")  # back
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)


async def test_the_map_paints_the_lines_in_sight_and_all_can_be_copied(walk, monkeypatch):
    painted = []
    paint = Lined._painted
    monkeypatch.setattr(Lined, "_painted", lambda self, y: painted.append(y) or paint(self, y))
    app = walk()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("m")
        await settle(pilot)
        outline = app.screen.query_one(Lined)
        assert outline.size.height > 60
        assert 0 < len(set(painted)) < 36
        first = outline.render().plain.splitlines()[1]
        app.screen.selections = {outline: Selection(Offset(0, 1), Offset(len(first), 1))}
        assert app.screen.get_selected_text() == first
        await pilot.press("end")
        await settle(pilot)
        assert max(painted) == outline.size.height - 1


def test_lines_that_are_not_laid_out_have_no_place():
    assert Lined().place(0) is None


@pytest.mark.parametrize("size", SIZES)
async def test_a_screen_that_opens_has_the_classes_of_its_size_from_the_start(walk, size, monkeypatch):
    app = walk()
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        styled = []
        style = Stylesheet.update_nodes

        def counted(self, nodes, animate=False):
            styled.append(found := list(nodes))
            style(self, found, animate)

        monkeypatch.setattr(Stylesheet, "update_nodes", counted)
        await pilot.press("f")
        await settle(pilot)
        assert app.screen.has_class("-wide" if size == WIDE else "-narrow")
        assert sum(app.screen in nodes for nodes in styled) == 1


async def test_help_is_what_works_now(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("question_mark")  # help
        await settle(pilot)
        assert isinstance(app.screen, HelpScreen)
        text = shown(app)
        assert "commit" in text
        assert "Focus Next" not in text
        assert "Scroll" not in text
        await pilot.press("escape", "n", "enter", "question_mark")  # once committed
        await settle(pilot)
        inside = str(app.screen.query("Static").first().render())
        assert "go on" in inside
        assert "commit" not in inside


async def test_the_footer_shows_only_what_works(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        footer = shown(app).split("\n")[-1]
        assert "commit" in footer
        assert "go on" not in footer
        assert "back" not in footer
        await pilot.press("n", "enter")
        await settle(pilot)
        footer = shown(app).split("\n")[-1]
        assert "go on" in footer
        assert "back" in footer
        assert "commit" not in footer
        assert "answer" not in footer


async def test_full_size_moves_the_cursor_and_closes(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("f", "8")  # full size, the batch
        await settle(pilot)
        plot = app.screen.query_one("Plot")
        last = int(plot.subject.steps[-1])  # drawn where no step is marked
        await pilot.press("comma")
        assert plot.cursor == last - 1
        await pilot.press("comma", "full_stop", "full_stop", "full_stop")
        assert plot.cursor == last
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)


async def test_compare_opens_on_the_sibling(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("c")  # compare
        await settle(pilot)
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.other.name == "19-control"
        assert app.screen.query_one("Plot").mark is None  # where it broke may be the answer,
        assert "peak loss" not in shown(app)  # and so may what was measured there,
        assert "grad_clip" not in shown(app)  # and the configuration
        await pilot.press("3", "escape")  # the gradient, then back
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)


async def test_at_the_leaf_figures_panels_and_the_post_mortems_panels_are_there(at_leaf):
    app = at_leaf()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("c")  # compare
        await settle(pilot)
        assert "grad_clip" in shown(app)
        await pilot.press("escape", "3")  # the panel that the leaf speaks of
        await settle(pilot)
        assert (app.screen.query_one("Plot").panel, app.screen.query_one("Plot").mark) == ("gradient", 312)
        await pilot.press("escape", "p", "ctrl+n", "ctrl+n")  # the evidence
        await settle(pilot)
        await pilot.press("down", "f2")  # the second row's panel
        await settle(pilot)
        assert (app.screen.query_one("Plot").panel, app.screen.query_one("Plot").mark) == ("gradient", 312)
        await pilot.press("escape")
        await settle(pilot)
        assert type(app.screen).__name__ == "PostMortemScreen"


async def test_a_list_over_the_screen_can_be_quit_from(at_home):
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        at_home.push_screen(PickScreen("ui.pick_run", [("a", "a")]))
        await settle(pilot)
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert at_home._exit


async def test_the_palette_goes_to_a_panel(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p")  # all
        await settle(pilot)
        await pilot.press(*"gradient")  # search
        await until(lambda: found_by(app, "gradient"))
        await pilot.press("enter")  # the first hit
        await settle(pilot)
        assert app.screen.query_one("Plot").panel == "gradient"


async def test_another_learner_has_a_notebook_of_their_own(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.ask_learner()
        await settle(pilot)
        await pilot.press("home", "shift+end", "backslash", "enter")  # no folder can be called so
        await settle(pilot)
        assert app.learner == "ana"
        await pilot.press("backspace", *"eva", "enter")
        await settle(pilot)
        assert app.learner == "eva"
        assert isinstance(app.screen, HomeScreen)


async def test_dark_and_light(walk):
    app = walk()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert app.current_theme.dark
        app.action_theme()
        await settle(pilot)
        assert not app.current_theme.dark
        await click_on(pilot, "3 gradient")
        assert app.screen.query_one("Plot").panel == "gradient"


async def test_the_leaf_has_the_lesson_that_was_saved(home, at_leaf):
    run, pm = recorded("19-break"), filled(begun())
    app = at_leaf()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert not app.screen.query_one("#lesson").display
        key = draft_key(run.name, "phase-19", run.path)
        app.screen._keeper.notebook.save_draft(SAVED, key, to_state(pm))
        await pilot.press("f1")
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        pane = app.screen.query_one("#lesson")
        assert pane.display
        assert "✓ Clip first" in str(pane.content)
        assert "lessons.md" in str(pane.content)
