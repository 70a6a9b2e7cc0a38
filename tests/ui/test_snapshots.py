"""One picture per screen, of the walk and the leaf one per size.

After a change meant to be seen: pytest tests/ui --snapshot-update.

The runs are made here, by a fixed rule, so that a new recording of the shipped pair changes no picture but
README.md's, which shows what a reader will see.
"""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import write_run
from tests.ui.conftest import NARROW, SIZES, WIDE, leave_at_the_leaf, phase_19, recorded, settle, until
from tutor import readers
from tutor.following.growing import Growing
from tutor.notebook import Notebook
from tutor.ui.app import TutorApp

Keys = list[str]


def made(folder: Path, name: str, *, clip: float | None) -> Path:
    """A run of 400 steps with a bad batch at 250, whose harm a clip holds back."""
    rows = []
    for step in range(400):
        noise = 0.03 * math.sin(7.3 * step) + 0.02 * math.sin(3.1 * step)
        loss, norm = 0.7 + 5.5 * math.exp(-step / 30) + noise, 1.0 + 4 * math.exp(-step / 20) + 5 * noise
        if 250 <= step < 253:
            loss, norm = 8.0 - (step - 250), 60.0
        elif step >= 253 and clip is None:
            loss += 2.0 * math.exp(-(step - 253) / 30)
        row = {"step": step, "loss": loss, "grad_norm": norm, "lr": 1e-3 * min(1, (step + 1) / 100)}
        row |= {
            "grad_norm_clipped": min(norm, clip or norm),
            "batch_hash": f"{step * 2654435761 % 2**32:08x}",
        }
        row |= {"sentence_ids": [step % 3, 2], "rare_tokens": ["tten"], "rare_counts": [step % 4]}
        rows.append(row)
    settings = {"grad_clip": clip, "steps": 400, "seed": 42}
    manifest = {
        "dtype": "fp32",
        "settings": settings,
        "tutor": "0.1.0",
        "break": "no-clip",
        "command": f"tutor train --out runs/{name}",
    }
    manifest["role"] = "break" if clip is None else "control"
    path = write_run(folder / "runs" / name, rows, manifest)
    (path / "sentences.txt").write_text("She has written [red]two[/] letters.\nHe ran.\nWe go home.\n")
    return path


@pytest.fixture
def pair(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Two runs of the same make, the only ones there are."""
    found = {name: made(home, name, clip=clip) for name, clip in (("a-break", None), ("a-control", 1.0))}
    monkeypatch.setattr(readers, "available", lambda: found)
    return found


@pytest.fixture
def picture(pair: dict[str, Path], snap_compare) -> Callable[..., bool]:
    """Press keys on a walk over the first run (or at home) and compare what is seen."""

    def taken(
        keys: Keys,
        size: tuple[int, int],
        *,
        lang: str = "en",
        home: bool = False,
        inside: bool = False,
        leaf: bool = False,
        torn: bool = False,
        act: Callable[[TutorApp], object] | None = None,
    ) -> bool:
        run = pair["a-break"]
        if torn:
            with (run / "metrics.jsonl").open("a") as log:
                log.write('oops\n{"step": 400, "loss"')
        if leaf:
            leave_at_the_leaf(readers.read(run), phase_19())
        subject = {} if home else {"subject": run, "walked_tree": phase_19()}
        if inside:
            subject = {"inside": export(run.parent)}
        app = TutorApp(learner="ana", lang=lang, **subject)

        async def press(pilot) -> None:
            await settle(pilot)
            app.clear_notifications()  # of a walk taken up at its leaf
            for key in keys:
                await pilot.press(key)
                await settle(pilot)
            if act:
                act(app)
                await settle(pilot)
            for field in app.screen.query("Input, TextArea"):
                field.cursor_blink = False  # seen, however long the keys took
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=press)

    return taken


@pytest.fixture
def growing_picture(pair: dict[str, Path], snap_compare) -> Callable[..., bool]:
    """Press keys on a walk over the first 240 rows of the first run, let the rest come, and compare."""

    def taken(keys: Keys, size: tuple[int, int]) -> bool:
        run = pair["a-break"]
        log = run / "metrics.jsonl"
        rows = log.read_text().splitlines(keepends=True)
        log.write_text("".join(rows[:240]))
        growing = Growing(run)
        app = TutorApp(learner="ana", subject=run, walked_tree=phase_19(), growing=growing)

        async def press(pilot) -> None:
            await until(lambda: app.screen.begun)
            await settle(pilot)
            for key in keys:
                await pilot.press(key)
                await settle(pilot)
            log.write_text("".join(rows[:300]))
            app.pace._rested = 0.0
            app.look()
            await until(lambda: app.news.state.step == 299 and not app.files.busy)
            await settle(pilot)

        return snap_compare(app, terminal_size=size, run_before=press)

    return taken


def export(folder: Path) -> Path:
    """A panel exported from Weights & Biases, with three runs side by side."""
    names = ["sweep-7/lr 3e-4, warm-up 100", "sweep-7/lr 3e-3, warm-up 100", "sweep-7/lr 3e-3, no warm-up"]
    header = "".join(f',"{name} - train/loss","{name} - train/loss__MIN"' for name in names)
    rows = (
        [0.7 + 5.5 * math.exp(-step / 40) + 0.03 * math.sin(step + of) + of * (step > 200) for of in range(3)]
        for step in range(400)
    )
    lines = (f"{step}," + ",".join(f"{loss:.4f},{loss:.4f}" for loss in row) for step, row in enumerate(rows))
    (folder / "export.csv").write_text(f'"Step"{header}\n' + "\n".join(lines) + "\n")
    return Path("runs/export.csv")


FIRST = ["down", "enter", "enter"]  # the first answer, right or wrong, and on to where the log leads
FIRST_NO = ["n", "enter", "enter", *FIRST]  # 1.1: no NaN; 1.4: near ln V; on to 2.1
TO_SPIKE = [*FIRST_NO, "y", "enter"]  # 2.1: yes, committed
TO_RECOVERY = [*TO_SPIKE, "enter"]  # on to 2.2
TO_LEAF = [*TO_RECOVERY, *FIRST * 5]  # 2.2, 2.3, 2.5, 2.4 and 2.6


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
class TestFollowing:
    def test_the_answer_at_hand_has_changed(self, growing_picture, size):
        assert growing_picture([*FIRST_NO, "n", "enter"], size)

    def test_an_answer_behind_has_changed(self, growing_picture, size):
        assert growing_picture([*FIRST_NO, "n", "enter", "enter"], size)


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
class TestWalk:
    def test_first_question(self, picture, size):
        assert picture([], size)

    def test_chosen_with_hints(self, picture, size):
        assert picture(["n", "right", "h", "h"], size)

    def test_right(self, picture, size):
        assert picture(TO_SPIKE, size)

    def test_wrong_in_spanish(self, picture, size):
        keys = ["s" if key == "y" else key for key in TO_RECOVERY]
        assert picture([*keys, "s", "enter"], size, lang="es")

    def test_outcomes_without_letters(self, picture, size):
        yes = ["y", "enter"]  # 2.2: yes, though the log says no: the walk follows the log to 2.4
        assert picture([*TO_RECOVERY, *yes, "enter"], size)

    def test_another_panel(self, picture, size):
        assert picture([*TO_SPIKE, "8"], size)


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
class TestLeaf:
    def test_leaf(self, picture, size):
        assert picture(TO_LEAF, size)

    def test_after_the_log_had_answered(self, picture, size):
        first = ["y", "enter", "b", *FIRST_NO]  # wrong; taken back, and answered again
        assert picture([*first, *TO_LEAF[len(FIRST_NO) :]], size)


class TestScreens:
    """Each at the size where it has less to spare, or where more of it is to be seen."""

    def test_home(self, picture):
        assert picture([], WIDE, home=True)

    @pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
    def test_runs_in_one_file(self, picture, size):
        assert picture(["down"], size, inside=True)

    def test_map(self, picture):
        assert picture([*TO_RECOVERY, "m"], WIDE)

    def test_panel(self, picture):
        assert picture([*TO_RECOVERY, "3", "3"], NARROW)

    def test_compare(self, picture):
        assert picture([*TO_RECOVERY, "c"], WIDE)

    def test_help(self, picture):
        assert picture(["question_mark"], NARROW)

    def test_remarks(self, picture):
        assert picture(["i"], NARROW, torn=True)


class TestForms:
    def test_symptoms(self, picture):
        assert picture(["p"], NARROW, leaf=True)

    def test_hypotheses_in_spanish(self, picture):
        assert picture(["p", "ctrl+n"], NARROW, leaf=True, lang="es")

    def test_evidence(self, picture):
        assert picture(["p", "ctrl+n", "ctrl+n", "down", "down", "space"], WIDE, leaf=True)

    def test_cause(self, picture):
        assert picture(["p", "ctrl+n", "ctrl+n", "ctrl+n", *"off"], NARROW, leaf=True)

    def test_verification(self, picture):
        assert picture(["p", *["ctrl+n"] * 5], NARROW, leaf=True)

    def test_not_saved_yet(self, picture):
        assert picture(["p", "ctrl+s"], WIDE, leaf=True)

    def test_lessons(self, picture, home, monkeypatch):
        monkeypatch.chdir(home)
        monkeypatch.setenv("TUTOR_LEARNERS", "learners")  # the screen shows the path
        for number, lesson in enumerate(("Look at the batch first", "Clip before you trust the loss"), 1):
            about = f"2026-11-2{number} 14:03 · a-break · phase-19: 1.1 no"
            Notebook("ana").append_lesson(f"## {lesson}\n\n{about}\n\n| a | b |\n|---|---|\n| 1 | 2 |")
        assert picture(["n"], WIDE, home=True)

    def test_name(self, picture):
        assert picture([], NARROW, home=True, act=lambda app: app.ask_learner())

    def test_palette(self, picture):
        assert picture(["ctrl+p"], WIDE)


class TestLooks:
    def test_light(self, picture):
        assert picture(TO_SPIKE, WIDE, act=lambda app: app.action_theme())

    def test_no_colour(self, picture, monkeypatch):
        monkeypatch.setenv("NO_COLOR", "1")
        assert picture(TO_SPIKE, NARROW)

    def test_too_small(self, picture):
        assert picture([], (59, 17))


def test_readme(home, snap_compare):
    """The picture in README.md: question 2.2 over runs/19-break, a hint taken, the answer of the log."""
    app = TutorApp(learner="ana", lang="en", subject=recorded("19-break"), walked_tree=phase_19())

    async def press(pilot) -> None:
        await settle(pilot)
        for key in [*TO_RECOVERY, "n", "h", "enter"]:
            await pilot.press(key)
            await settle(pilot)
        assert (app.screen.walk.at, app.screen.walk.hints) == ("2.2", 1)
        assert app.screen.seen.answers

    assert snap_compare(app, terminal_size=WIDE, run_before=press)
