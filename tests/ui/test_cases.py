"""Practice: home offers a sealed case; its leaf opens the seal, keeps how it went and offers the next one."""

import json
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.conftest import ROOT, shipped
from tests.ui.conftest import NARROW, WIDE, settle, shown, to_the_leaf, until
from tutor import readers
from tutor.notebook import Notebook
from tutor.ui.app import TutorApp
from tutor.ui.screens.home import HomeScreen
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.walk import WalkScreen

pytestmark = pytest.mark.slow


@pytest.fixture
def practice(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs with three cases alone: a flaw of phase-18, one of phase-19, a healthy one."""
    for name in ("case-01", "case-02", "case-03"):
        shutil.copytree(ROOT / "runs" / name, home / "runs" / name)
    monkeypatch.setattr("tutor.paths.folders", _only(home))
    return home / "runs"


def _only(home: Path):
    return lambda kind: [home / kind] if kind == "runs" else [ROOT / kind]


def at_home(lang: str = "en") -> TutorApp:
    return TutorApp(learner="ana", lang=lang)


def on_a_walk(run: Path) -> TutorApp:
    return TutorApp(learner="ana", lang="en", subject=readers.read(run), walked_tree=shipped("phase-18"))


async def walk_to_the_end(pilot, missed: Collection[str] = ()) -> LeafScreen:
    """The walk that is open, answered as the log says up to its leaf, but for the questions `missed`."""
    screen = pilot.app.screen
    assert isinstance(screen, WalkScreen)
    screen.move_to(to_the_leaf(screen.walk.run, screen.walk.tree, missed))
    await settle(pilot)
    assert isinstance(pilot.app.screen, LeafScreen)
    return pilot.app.screen


@pytest.mark.parametrize(("lang", "size"), [("en", WIDE), ("es", NARROW)])
async def test_from_home_over_a_case_and_its_seal_to_the_next_one(practice: Path, lang: str, size):
    app = at_home(lang)
    said = {
        "en": ("Practise case-01", "The seal, opened", "ended where it should", "Next: case-02", "solved:"),
        "es": (
            "Practica con case-01",
            "El sello, abierto",
            "acabó donde debía",
            "Siguiente: case-02",
            "resuelto:",
        ),
    }[lang]
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        assert said[0] in shown(app)
        assert "warm" not in shown(app).lower()
        await pilot.press("enter")
        await settle(pilot)
        assert app.screen.walk.run.name == "case-01"
        await walk_to_the_end(pilot)
        app.screen.query_one("#seal").scroll_visible(animate=False)
        await settle(pilot)
        text = " ".join(str(app.screen.query_one("#seal").content).split())
        assert "slow-warmup" in text
        assert said[2] in text
        assert said[3] in text
        assert app.screen.query_one("#seal").border_title == said[1]
        await pilot.press("s")
        await settle(pilot)
        assert isinstance(app.screen, WalkScreen)
        assert app.screen.walk.run.name == "case-02"
        app.go_home()
        await settle(pilot)
        assert isinstance(app.screen, HomeScreen)
        line = next(line for line in shown(app).split("\n") if "case-01" in line and "▁" in line)
        assert said[4] in line
        assert "schedule" not in shown(app)


async def test_the_seal_holds_until_the_last_tree(practice: Path):
    app = on_a_walk(practice / "case-02")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        leaf = await walk_to_the_end(pilot)
        assert "phase-19 goes on from here" in str(leaf.query_one("#seal").content)
        assert "lr-restart" not in shown(app)
        assert not [draft for draft in Notebook("ana").drafts() if draft.kind == "case"]
        await pilot.press("t")
        await settle(pilot)
        leaf = await walk_to_the_end(pilot)
        assert "lr-restart" in str(leaf.query_one("#seal").content)
    (kept,) = [draft.data for draft in Notebook("ana").drafts() if draft.kind == "case"]
    assert (kept["name"], kept["found"]) == ("case-02", True)
    assert (kept["tree"], kept["leaf"]) == ("phase-19", "schedule-bug")


@pytest.mark.parametrize(
    ("lang", "said", "later"),
    [
        ("en", "At 2.2 your answer wasn't the log's", "by the log:"),
        ("es", "En 2.2 tu respuesta no fue la del log", "por el log:"),
    ],
)
async def test_a_walk_that_the_log_led_solves_no_case(practice: Path, lang: str, said: str, later: str):
    app = at_home(lang)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        leaf = await walk_to_the_end(pilot, ["2.2"])
        text = " ".join(str(leaf.query_one("#seal").content).split())
        assert said in text
        assert "slow-warmup" in text  # it is opened all the same
        assert ("0 of 1" if lang == "en" else "0 de 1") in text
        app.go_home()
        await settle(pilot)
        (line,) = (line for line in shown(app).split("\n") if "case-01" in line and "▁" in line)
        assert later in line


async def test_a_walk_that_ended_elsewhere_is_kept_as_not_found(
    practice: Path,
):
    from tutor.runfolder.truth import digest

    folder = practice / "case-01"
    truth = json.loads((folder / "truth.json").read_text())
    truth["expect"] = {"tree": "phase-18", "leaf": ["zero-base-lr"]}
    told = json.dumps(truth)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "truth.json").write_text(told)
    (folder / "manifest.json").write_text(json.dumps(manifest | {"seal": digest(told.encode())}))
    for _ in range(2):
        app = on_a_walk(folder)
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            if isinstance(app.screen, WalkScreen):
                await walk_to_the_end(pilot)
            assert "should have ended in phase-18" in str(app.screen.query_one("#seal").content)
            (kept,) = [draft for draft in Notebook("ana").drafts() if draft.kind == "case"]
            assert kept.data["found"] is False
    app = at_home()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await until(lambda: "not found; you ended at" in shown(app))
        assert "not found; you ended at" in shown(app)
        assert "Practise case-02" in shown(app)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_text(path.read_text().replace("slow", "quick")), "isn't the file"),
        (lambda path: (path.unlink(), path.mkdir()), "can't be read"),
    ],
)
async def test_a_truth_that_is_missing_or_was_changed_is_one_line(practice: Path, spoil, says: str):
    spoil(practice / "case-01" / "truth.json")
    app = on_a_walk(practice / "case-01")
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        leaf = await walk_to_the_end(pilot)
        content = str(leaf.query_one("#seal").content)
        assert says in content
        assert "put in: " not in content.lower()
        assert app.screen.query_one("#seal").border_title == "Sealed"


async def test_in_a_case_of_scale_the_trees_before_it_tell_nothing(home: Path):
    run = readers.read(ROOT / "runs" / "case-10")
    app = TutorApp(learner="ana", lang="en", subject=run, walked_tree=shipped("scale"))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "phase-1" not in shown(app)
        leaf = await walk_to_the_end(pilot)
        assert "ended where it should" in str(leaf.query_one("#seal").content)


async def test_hidden_names_leave_the_cases_theirs(practice: Path):
    shutil.copytree(practice / "case-01", practice / "telling-name")
    manifest = practice / "telling-name" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "sealed": False}))
    app = at_home()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("x")
        await settle(pilot)
        assert "case-02" in shown(app)
        assert "run 1" in shown(app)
        assert "telling-name" not in shown(app)
