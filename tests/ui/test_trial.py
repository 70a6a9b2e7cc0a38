"""Trying a fix from the leaf: chosen, at work, done, and found again by whoever comes back."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_postmortem import filled
from tests.ui.conftest import NARROW, WIDE, phase_19, recorded, shown, to_the_leaf, until
from tutor import verifying
from tutor.notebook import Notebook
from tutor.postmortem import Bound
from tutor.ui import trials
from tutor.ui.app import TutorApp
from tutor.ui.screens.change import ChangeScreen
from tutor.ui.screens.leaf import LeafScreen
from tutor.ui.screens.pick import PickScreen
from tutor.ui.screens.postmortem import PostMortemScreen
from tutor.ui.screens.report import ReportScreen
from tutor.ui.screens.trial import TrialScreen
from tutor.ui.trials import Trial

pytestmark = pytest.mark.slow

AtLeaf = Callable[..., TutorApp]
BROKEN = ROOT / "runs" / "19-break"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, home: Path) -> list[list[str]]:
    """What was asked to be trained; in place of the lab a process sleeps."""
    asked: list[list[str]] = []

    def begin(run: Path, change, *, kind: trials.Kind = "verify", **_: object) -> Trial:
        asked.append([*([] if kind == "verify" else [kind]), *change])
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        trials._ours[process.pid] = process
        trial = Trial(str(run), " ".join(change), str(home / "fixed"), str(home / "said"), process.pid, kind)
        place = trials._place(run, kind)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(asdict(trial)))
        return trial

    monkeypatch.setattr(trials, "begin", begin)
    monkeypatch.setattr(trials, "can_train", lambda: True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    yield asked
    for process in trials._ours.values():
        process.kill()
        process.wait()
    trials._ours.clear()


async def at_the_leaf(pilot) -> LeafScreen:
    await until(lambda: isinstance(pilot.app.screen, LeafScreen))
    await pilot.pause()
    return pilot.app.screen


async def trying(pilot) -> TrialScreen:
    """The leaf's first fix, begun."""
    await at_the_leaf(pilot)
    await pilot.press("f", "enter")
    await until(lambda: isinstance(pilot.app.screen, TrialScreen))
    await pilot.pause()
    return pilot.app.screen


def end(home: Path, run: str) -> None:
    """The training has ended as that shipped run did, and was checked."""
    shutil.copytree(ROOT / "runs" / run, home / "fixed", dirs_exist_ok=True)
    broken, fixed = recorded("19-break"), recorded(run)
    bounds, tolerance = verifying.suggested(to_the_leaf(broken, phase_19()))
    found = verifying.verify(broken, fixed, change="grad_clip=1.0", bounds=bounds, tolerance=tolerance)
    (home / "fixed" / "verification.json").write_text(json.dumps(found.data()))


class TestTrying:
    async def test_the_fixes_of_the_leaf_are_offered_the_smallest_first(self, at_leaf: AtLeaf, begun):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await trying(pilot)
            assert begun == [["--set", "grad_clip=1.0"]]

    async def test_a_change_of_ones_own_can_be_tried(self, at_leaf: AtLeaf, begun):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await at_the_leaf(pilot)
            await pilot.press("f", "down", "down", "enter")  # after the leaf's two
            await until(lambda: isinstance(pilot.app.screen, ChangeScreen))
            await pilot.press(*"grad_clap=1", "enter")
            await pilot.pause()
            assert "did you mean grad_clip" in shown(pilot.app)
            await pilot.press(*["backspace"] * 11, *"grad_clip=0.5 lr=5e-4", "enter")
            await until(lambda: isinstance(pilot.app.screen, TrialScreen))
            assert begun == [["--set", "grad_clip=0.5", "--set", "lr=5e-4"]]

    async def test_to_pick_nothing_begins_nothing(self, at_leaf: AtLeaf, begun):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await at_the_leaf(pilot)
            await pilot.press("f")
            await until(lambda: isinstance(pilot.app.screen, PickScreen))
            await pilot.press("escape")
            await pilot.pause()
            assert begun == []
            assert isinstance(pilot.app.screen, LeafScreen)

    async def test_without_the_lab_it_says_how_to_get_it(self, at_leaf: AtLeaf, begun, monkeypatch):
        monkeypatch.setattr(trials, "can_train", lambda: False)
        async with at_leaf().run_test(size=WIDE) as pilot:
            await at_the_leaf(pilot)
            await pilot.press("f")
            await pilot.pause()
            assert begun == []
            assert any("torch" in str(one.message) for one in pilot.app._notifications)


class TestForking:
    async def test_a_fork_asks_for_its_step_and_what_changes_and_is_drawn_over_the_run(
        self, at_leaf: AtLeaf, begun, home: Path
    ):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await at_the_leaf(pilot)
            await pilot.press("f", "down", "down", "down", "enter")  # after the leaf's two and a change
            await until(lambda: isinstance(pilot.app.screen, ChangeScreen))
            assert pilot.app.focused.value == "at=312 "
            await pilot.press("enter")
            await pilot.pause()
            assert "nothing is changed" in shown(pilot.app)
            await pilot.press(*"lr=5e-4", "enter")
            await until(lambda: isinstance(pilot.app.screen, TrialScreen))
            assert begun == [["fork", "--at=312", "--retrace", "--set", "lr=5e-4"]]
            assert "What if? --at=312" in shown(pilot.app)  # the process that stands in gives it as it is
            shutil.copytree(ROOT / "runs" / "19-control", home / "fixed", dirs_exist_ok=True)
            for process in trials._ours.values():
                process.kill()
                process.wait()
            await until(lambda: "The fork ended at 600 steps" in shown(pilot.app))
            assert f"tutor walk {home / 'fixed'}" in shown(pilot.app)
            await pilot.press("n")
            await until(lambda: isinstance(pilot.app.screen, PickScreen))

    @pytest.mark.parametrize(
        ("typed", "wrong"),
        [
            ("lr=1", "at="),
            ("at=x lr=1", "at=x"),
            ("at=601 lr=1", "0 to 600"),
            ("at=5", "nothing is changed"),
            ("at=5 skip=0", "skip=0"),
            ("at=5 skip=x", "skip=x"),
            ("at=5 lrr=1", "did you mean lr"),
            ("at=5 words", "words"),
            ("", "at="),
        ],
    )
    def test_what_is_no_fork_is_named(self, typed: str, wrong: str):
        with pytest.raises(ValueError, match=re.escape(wrong)):
            trials.as_fork(typed.split(), 600)

    def test_a_fork_may_skip_batches_alone(self):
        assert trials.as_fork(["at=300", "skip=5"], 600) == ["--at=300", "--retrace", "--skip-batches=5"]


class TestOthers:
    async def test_the_playbook_asks_which_action_will_win_and_shows_what_it_says(
        self, at_leaf: AtLeaf, begun, home: Path
    ):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await at_the_leaf(pilot)
            await pilot.press("f", "up", "enter")  # the last row
            await until(lambda: "will do best" in shown(pilot.app))
            await pilot.press("down", "enter")
            await until(lambda: isinstance(pilot.app.screen, ReportScreen))
            assert begun == [["recover", "--all", "--predict", "B"]]
            steps = "".join(f"A  step {step}/633  loss 1\n" for step in (0, 50, 100))
            (home / "said").write_text(steps + "The playbook, tried\n[red]\n")
            await until(lambda: "The playbook, tried" in shown(pilot.app))
            assert "step 100/633" in shown(pilot.app)
            assert "step 50/633" not in shown(pilot.app)  # of lines that count, the last
            assert "[red]" in shown(pilot.app)
            await pilot.press("s")
            await until(lambda: not pilot.app.screen.trial.alive)
            await pilot.press("escape")
            await at_the_leaf(pilot)

    async def test_a_step_is_taken_again_only_where_one_is_not_finite(self, at_leaf: AtLeaf, begun):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await at_the_leaf(pilot)
            await pilot.press("f")
            await until(lambda: isinstance(pilot.app.screen, PickScreen))
            assert "taken again" not in shown(pilot.app)


class TestWatching:
    @pytest.mark.parametrize("size", [WIDE, NARROW])
    async def test_it_is_drawn_over_the_broken_run_as_it_comes(
        self, at_leaf: AtLeaf, begun, home: Path, size
    ):
        async with at_leaf().run_test(size=size) as pilot:
            screen = await trying(pilot)
            assert "being loaded" in shown(pilot.app)
            shutil.copytree(BROKEN, home / "fixed")
            log = (BROKEN / "metrics.jsonl").read_bytes().splitlines(keepends=True)
            (home / "fixed" / "metrics.jsonl").write_bytes(b"".join(log[:150]))
            await until(lambda: "step 150 of 600" in shown(pilot.app))
            assert len(screen.query_one("Plot").others) == 1

    async def test_leaving_leaves_it_at_work_and_coming_back_shows_it(self, at_leaf: AtLeaf, begun):
        async with at_leaf().run_test(size=WIDE) as pilot:
            first = (await trying(pilot)).trial
            await pilot.press("escape")
            await at_the_leaf(pilot)
            assert first.alive
            await pilot.press("f")
            await until(lambda: isinstance(pilot.app.screen, TrialScreen))
            assert pilot.app.screen.trial == first
            assert len(begun) == 1

    async def test_it_can_be_stopped_and_another_tried(self, at_leaf: AtLeaf, begun):
        async with at_leaf().run_test(size=WIDE) as pilot:
            screen = await trying(pilot)
            await pilot.press("s")
            await until(lambda: not screen.trial.alive)
            await until(lambda: "ended without a verdict" in shown(pilot.app))
            await pilot.press("n")
            await until(lambda: isinstance(pilot.app.screen, PickScreen))


async def verified_in_the_post_mortem(pilot, home: Path) -> PostMortemScreen:
    """The post-mortem after the leaf's first fix has mended the run."""
    await trying(pilot)
    end(home, "19-control")
    await until(lambda: "Verified" in shown(pilot.app))
    await pilot.press("escape")
    await at_the_leaf(pilot)
    await pilot.press("p")
    await until(lambda: hasattr(pilot.app.screen, "pm"))
    return pilot.app.screen


class TestFound:
    @pytest.mark.parametrize(
        ("run", "said"),
        [("19-control", "Verified: grad_clip=1.0"), ("19-break", "Not verified: grad_clip=1.0")],
    )
    async def test_the_verdict_and_each_bound_are_shown(self, at_leaf: AtLeaf, begun, home: Path, run, said):
        async with at_leaf().run_test(size=WIDE) as pilot:
            await trying(pilot)
            end(home, run)
            await until(lambda: said in shown(pilot.app) and "probe_loss <" in shown(pilot.app))
            await pilot.press("escape")
            await at_the_leaf(pilot)
            await until(lambda: said in shown(pilot.app))  # the leaf says it too

    async def test_the_post_mortem_begins_with_it(self, at_leaf: AtLeaf, begun, home: Path):
        async with at_leaf().run_test(size=WIDE) as pilot:
            tried = (await verified_in_the_post_mortem(pilot, home)).pm.verification.tried
            assert tried[0].startswith("**Verified: grad_clip=1.0**")

    @pytest.mark.parametrize(
        ("bound", "said"),
        [("0.9", "**Verified: grad_clip=1.0**"), ("0.1", "**Not verified: grad_clip=1.0**")],
    )
    async def test_a_lesson_is_held_against_the_bounds_that_were_typed(
        self, at_leaf: AtLeaf, begun, home: Path, bound: str, said: str
    ):
        async with at_leaf().run_test(size=WIDE) as pilot:
            screen = await verified_in_the_post_mortem(pilot, home)
            pm = filled(screen.pm)
            ours = Bound(signal="loss", comparison="<", value=bound, window="350..400")
            form = pm.verification.model_copy(update={"bounds": (ours,), "through": "450"})
            screen.pm = pm.but(verification=form)
            await pilot.press("ctrl+s")
            await until(lambda: Notebook("ana").lessons())
        lesson = Notebook("ana").lessons()[-1].body
        assert said in lesson
        assert f"loss < {bound}" in lesson.partition(said)[2]


class TestProcess:
    def test_a_process_that_took_its_number_is_another_one(self, home: Path):
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        try:
            trial = Trial("a", "", str(home / "out"), str(home / "said"), process.pid)
            assert not trial.alive
            trial.stop()
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()

    def test_a_trial_whose_process_is_gone_is_not_alive(self, home: Path):
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        assert not Trial("a", "", str(home / "out"), str(home / "said"), process.pid).alive

    def test_a_file_of_somebody_elses_is_no_trial(self, home: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        place = trials._place(home / "run")
        place.parent.mkdir(parents=True)
        for text in ("", "[]", '{"run": 1}', "{"):
            place.write_text(text)
            assert trials.latest(home / "run") is None

    @pytest.mark.skipif(find_spec("torch") is None, reason="needs the lab")
    def test_a_real_fix_is_trained_checked_and_stamped(self, home: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.chdir(home)
        small = ["n_layer=1", "n_embd=16", "n_head=2", "threads=1", "val_every=20", "warmup_steps=20"]
        options = trials.as_options([*small, "steps=60", "lr=0"])
        command = [sys.executable, "-m", "tutor", "train", "--device", "cpu", *options]
        subprocess.run([*command, "--out", "runs/broken"], check=True, stdout=subprocess.DEVNULL)
        trial = trials.begin(home / "runs" / "broken", ["--set", "lr=3e-3"], learner="ana", lang="en")
        assert trials.latest(home / "runs" / "broken") == trial
        trials._ours[trial.pid].wait(timeout=120)
        found = trial.found
        assert found is not None, trial.said()
        assert found.change == "lr=0.003"
        assert not trial.alive
        assert Path(found.of).samefile(home / "runs" / "broken")
        options = trials.as_fork(["at=40", "lr=1e-3"], 60)
        fork = trials.begin(home / "runs" / "broken", options, learner="ana", lang="es", kind="fork")
        assert fork.change == "at=40 lr=1e-3"
        trials._ours[fork.pid].wait(timeout=120)
        forked = fork.fixed()
        assert forked is not None, fork.said()
        assert len(forked) == 60
        assert forked.manifest.settings["lr"] == 1e-3
        assert Notebook("ana").new
