"""Home: the open walk first, each run's curve and end, the calibration; and the story at the first start."""

import re
import shutil
import time

import pytest

from tests.conftest import ROOT, shipped, write_run
from tests.ui.conftest import NARROW, WIDE, phase_19, recorded, settle, shown, to_the_leaf
from tutor import readers
from tutor import walk as walks
from tutor.notebook import Notebook, draft_key
from tutor.plots.spark import BAD, LEVELS
from tutor.run import Run
from tutor.ui import curves
from tutor.ui.app import TutorApp
from tutor.ui.bindings import working
from tutor.ui.curves import Curves
from tutor.ui.screens import home as home_screen
from tutor.ui.screens.home import HomeScreen
from tutor.ui.screens.map import MapScreen
from tutor.ui.screens.note import NoteScreen
from tutor.ui.screens.walk import WalkScreen
from tutor.ui.widgets.runlist import RunRow, lines


@pytest.fixture
def at_home(home):
    """The app on its home screen."""
    return TutorApp(learner="ana", lang="en")


def finish(name: str) -> None:
    """Leave a finished walk over a run that ships in ana's notebook, with 3 of 4 predictions right."""
    finish_over(recorded(name))


def finish_over(run: Run) -> None:
    """The same over any run."""
    walk = to_the_leaf(run, phase_19())
    state = walks.to_state(walk) | {"name": run.name, "run": str(run.path.resolve()), "done": True}
    state |= {"score": [3, 4], "verdict": walks.verdict(walk)}
    Notebook("ana").save_draft("finished", draft_key(run.name, "phase-19", run.path), state)


async def filled_in(pilot) -> None:
    """Wait until the curves are read."""
    await settle(pilot)
    await pilot.pause(0.1)
    await pilot.app.workers.wait_for_complete()
    await settle(pilot)


def line_of(app: TutorApp, name: str) -> str:
    return next(line for line in shown(app).split("\n") if f"{name}  " in line)


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_run_has_its_curve_its_end_the_score_and_the_date(at_home, size):
    finish("19-break")
    async with at_home.run_test(size=size) as pilot:
        await filled_in(pilot)
        line = line_of(at_home, "19-break")
        assert LEVELS[-1] in line
        assert "! a coherent bad" in line
        assert "3 of 4" in line
        assert Notebook("ana").drafts()[0].saved[:10] in line
        assert "bad batch" not in line_of(at_home, "19-control")  # never before it is walked
        assert "not walked yet" in line_of(at_home, "19-control")


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_long_names_give_way_to_how_the_walks_stand(home, at_home, size):
    finish("19-break")
    for schedule in ("cosine", "linear"):
        name = f"a-transformer-of-twelve-layers-with-a-long-warm-up-{schedule}"
        write_run(home / "runs" / name, [{"step": at, "loss": 4 - at / 9} for at in range(9)])
    async with at_home.run_test(size=size) as pilot:
        await filled_in(pilot)
        for ending in ("inear", "osine"):
            line = line_of(at_home, ending)
            assert re.search(rf" a-.+….*{ending}  .* not walked yet ", line), line
        assert "! a coherent bad batch" in line_of(at_home, "19-break")
        assert "3 of 4" in line_of(at_home, "19-break")


def test_long_names_are_cut_where_they_are_alike():
    def shown_as(*names: str) -> list[str]:
        rows = [RunRow(name, "", "", "not walked yet", "", "3 of 4", "2026-11-27") for name in names]
        return [line.plain[:12] for line in lines(rows, 66)]

    assert shown_as("lr=3e-4, with warm-up", "lr=3e-3, with warm-up") == ["lr=3e-4, wi…", "lr=3e-3, wi…"]
    assert shown_as("a-transformer-cosine", "a-transformer-linear") == ["a-tran…osine", "a-tran…inear"]


async def test_the_open_walk_is_the_first_and_enter_goes_on_with_it(at_home):
    run = recorded("19-control")
    begun = walks.to_state(walks.begin(run, phase_19()))
    state = begun | {"name": run.name, "run": str(run.path.resolve()), "done": False}
    Notebook("ana").save_draft("walk", draft_key(run.name, "phase-19", run.path), state)
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert at_home.screen.found.entries[0].name == "19-control"
        assert " enter " in shown(at_home).split("\n")[2]
        await pilot.press("down")  # another run: enter no longer does what is proposed
        assert " enter " not in shown(at_home).split("\n")[2]
        await pilot.press("up", "enter")
        await settle(pilot)
        assert isinstance(at_home.screen, WalkScreen)
        assert at_home.screen.walk.run.name == "19-control"


async def test_a_look_at_another_tree_is_forgotten_once_the_walk_has_ended(at_home):
    run = recorded("19-break")
    for walk in (walks.begin(run, shipped("phase-18")), to_the_leaf(run, phase_19())):
        state = walks.to_state(walk) | {"name": run.name, "run": str(run.path.resolve())}
        done = isinstance(walk, walks.AtLeaf)
        state |= {"done": done, "verdict": walks.verdict(walk) if done else None}
        for kind in ("walk", "finished") if done else ("walk",):
            Notebook("ana").save_draft(kind, draft_key(run.name, walk.tree.tree, run.path), state)
        time.sleep(1)  # the notebook tells which was saved last by the second
    async with at_home.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert "you are at" not in shown(at_home)
        assert "! a coherent bad" in line_of(at_home, "19-break")
        at_home.screen.open(next(one for one in at_home.screen.found.entries if one.name == "19-break"))
        await settle(pilot)
        walked = next(screen for screen in at_home.screen_stack if isinstance(screen, WalkScreen))
        assert walked.walk.tree.tree == "phase-19"


async def test_the_run_of_a_post_mortem_begun_is_known_whatever_it_is_called(at_home, tmp_path):
    run = readers.read(
        write_run(tmp_path / "lr · 0.1", [{"step": at, "loss": 4 - at / 9} for at in range(9)])
    )
    finish_over(run)
    about = {"run": run.name, "tree": "phase-19"}
    Notebook("ana").save_draft("postmortem", draft_key(run.name, "phase-19", run.path), {"about": about})
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert at_home.screen.found.begun == [(run.name, "phase-19")]
        line, entry = at_home.screen._next(at_home.screen.found)
        assert "lr · 0.1 · phase-19" in line
        assert entry.name == run.name == "lr · 0.1"


async def test_a_walk_begun_again_keeps_its_end_on_the_list(home):
    run = recorded("19-break")
    app = TutorApp(learner="ana", lang="en", subject=run, walked_tree=phase_19())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.screen.move_to(to_the_leaf(run, phase_19()))
        await settle(pilot)
        app.screen.dismiss("again")
        await settle(pilot)
        assert app.screen.walk.at == "1.1"
    kept = {draft.kind: draft.data for draft in Notebook("ana").drafts()}
    assert not kept["walk"]["done"]
    assert kept["finished"]["at"] == "unclipped-batch"
    assert kept["finished"]["score"] == list(walks.score(to_the_leaf(run, phase_19()).answers))


async def test_a_log_that_grew_is_drawn_anew_and_a_nan_is_a_mark(home, at_home):
    rows = [{"step": i, "loss": 9.0 - i / 10} for i in range(80)]
    folder = write_run(home / "runs" / "growing", rows)
    async with at_home.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        before = line_of(at_home, "growing")
        assert LEVELS[-1] in before
        assert BAD not in before
        write_run(folder, [*rows, {"step": 80, "loss": float("nan")}])
        at_home.screen.read()
        await filled_in(pilot)
        assert BAD in line_of(at_home, "growing")


async def test_a_curve_is_read_once_in_a_process_and_does_not_draw_the_list_alone(home, monkeypatch):
    read, drawn = [], []
    monkeypatch.setattr(Curves, "_known", {})
    monkeypatch.setattr(curves, "_curve", lambda path, real=curves._curve: read.append(path) or real(path))
    monkeypatch.setattr(home_screen, "BETWEEN", 60.0)
    show = HomeScreen._show_runs
    monkeypatch.setattr(HomeScreen, "_show_runs", lambda *given: drawn.append(given) or show(*given))
    for _ in range(2):
        app = TutorApp(learner="ana", lang="en")
        async with app.run_test(size=WIDE) as pilot:
            await filled_in(pilot)
            assert LEVELS[-1] in line_of(app, "19-break")
            listed = len(app.screen.found.entries)
        assert len(read) == len(set(read)) == listed
        assert len(drawn) < listed
        drawn.clear()


async def test_a_log_of_ones_own_stays_in_the_list_once_it_is_walked(home, tmp_path, at_home):
    log = tmp_path / "elsewhere" / "mine.csv"
    log.parent.mkdir()
    log.write_text("step,loss\n" + "".join(f"{step},{9 - step / 100}\n" for step in range(300)))
    finish_over(readers.read(log))
    async with at_home.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert "3 of 4" in line_of(at_home, "mine.csv")
    log.unlink()
    async with TutorApp(learner="ana", lang="en").run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert "mine" not in shown(pilot.app)


async def test_a_run_that_cannot_be_read_has_no_curve(home, at_home):
    broken = home / "runs" / "broken"
    broken.mkdir(parents=True)
    (broken / "metrics.jsonl").write_text("not json\n")
    async with at_home.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert "not walked yet" in line_of(at_home, "broken")


@pytest.mark.parametrize(("size", "said"), [(WIDE, "5 of 5"), (NARROW, "Right, by how sure of 5: 5: 2 of 3")])
async def test_how_often_one_was_right_when_sure(at_home, size, said):
    book = Notebook("ana")
    for question, found in enumerate(("yes", "yes", "no")):
        about = {"run": "r", "tree": "t", "question": str(question)}
        book.record_prediction(**about, predicted="yes", found=found, confidence=5)
    async with at_home.run_test(size=size) as pilot:
        await settle(pilot)
        text = shown(at_home)
        assert said in text
        assert "2 of 3" in text


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_first_start_tells_the_story_and_fits(home, lang, size):
    app = TutorApp(learner="ana", lang=lang)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        text = shown(app)
        assert {"en": "The probe, in panel 1", "es": "La sonda, en el panel 1"}[lang] in text
        for pane in ("#next", "#runs", "#kept"):
            assert app.screen.query_one(pane).region.bottom < size[1]
        assert len(working(app.screen.active_bindings, lang)) <= 8


async def test_who_has_a_notebook_is_not_told_the_story_again(at_home):
    Notebook("ana").save_draft("walk", "k", {})
    async with at_home.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "The probe" not in shown(at_home)


@pytest.mark.parametrize("known", [True, False])
async def test_who_begins_with_a_walk_is_told_the_story_before_the_first_question(home, known):
    if known:
        Notebook("ana").save_draft("walk", "k", {})
    run = recorded("19-break")
    app = TutorApp(learner="ana", lang="en", subject=run, walked_tree=phase_19(), greet=True)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen if known else NoteScreen)
        if not known:
            assert "Before you begin" in shown(app)
            await pilot.press("enter")
            await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert app.screen.walk.at == "1.1"


async def test_of_a_file_of_several_runs_one_is_picked_and_its_walk_left_for_the_list(home):
    losses = "".join(f"{step},{6 - step / 50},,{5 - step / 90},\n" for step in range(200))
    export = home / "export.csv"
    export.write_text(f"Step,a - loss,a - loss__MIN,b/c - loss,b/c - loss__MIN\n{losses}")
    app = TutorApp(learner="ana", lang="en", inside=export)
    async with app.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert [entry.name for entry in app.screen.found.entries] == ["a", "b_c"]
        assert "export.csv: which one?" in shown(app)
        await pilot.press("down", "enter")  # the second
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert app.screen.walk.run.path == export / "b_c"
        await pilot.press("down", "enter", "q")  # answered, and left
        await filled_in(pilot)
        assert isinstance(app.screen, HomeScreen)
        assert [entry.name for entry in app.screen.found.entries] == ["b_c", "a"]  # the open one first


async def test_in_a_folder_of_several_each_is_named_by_its_way_there_and_other_walks_are_not_offered(home):
    for name in ("x", "y"):
        write_run(home / "mine" / name / "logs", [{"step": step, "loss": 2.0} for step in range(9)])
    finish("19-break")
    app = TutorApp(learner="ana", lang="es", inside=home / "mine")
    async with app.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert [entry.name for entry in app.screen.found.entries] == ["x/logs", "y/logs"]
        assert "¿cuál?" in shown(app)
        assert "19-break" not in shown(app)


async def test_a_log_has_the_name_here_that_its_walk_has(home):
    log = home / "version_0" / "metrics.csv"
    log.parent.mkdir()
    log.write_text("step,loss\n" + "".join(f"{step},{3 - step / 100}\n" for step in range(60)))
    app = TutorApp(learner="ana", lang="en", subject=log, walked_tree=phase_19())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert shown(app).splitlines()[0].split()[1] == "version_0"
        await pilot.press("n", "enter", "enter")
        await settle(pilot)
    app = TutorApp(learner="ana", lang="en")
    async with app.run_test(size=WIDE) as pilot:
        await filled_in(pilot)
        assert "Go on with the walk over version_0" in shown(app)
        assert "open, at 1.4" in line_of(app, "version_0")
        assert "metrics.csv" not in shown(app)


async def test_the_map_opens_from_home_with_the_earned_ends_lit(at_home):
    finish("19-break")
    async with at_home.run_test(size=(120, 170)) as pilot:
        await settle(pilot)
        await pilot.press("m")  # map
        await settle(pilot)
        assert isinstance(at_home.screen, MapScreen)
        text = shown(at_home)
        assert "◆ a coherent bad batch met no clip" in text
        assert "◇ overfitting" in text
        assert f"1 of {len(phase_19().leaves)}" in text
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(at_home.screen, HomeScreen)


async def test_a_tree_that_cannot_be_read_is_said_and_home_stays(at_home, home, monkeypatch):
    finish("19-break")
    (home / "trees").mkdir()
    shutil.copy(ROOT / "trees" / "phase-19.yaml", home / "trees" / "phase-19.yaml")
    async with at_home.run_test(size=WIDE, notifications=True) as pilot:
        await filled_in(pilot)
        assert isinstance(at_home.screen, HomeScreen)
        assert "walked to the end" in line_of(at_home, "19-break")
        assert list(at_home._notifications)
