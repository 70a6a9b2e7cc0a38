"""The registry of faults and triggers, and runs that keep theirs when they are taken up again."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lab.small import TINY, boilerplate, recipe, rows_of, timeless
from tests.test_card import changed
from tutor import card as cards
from tutor.lab import checkpoint, faults
from tutor.lab.assembly import recipe_of
from tutor.lab.command import run_train
from tutor.lab.loop import resume, train
from tutor.parts import Part, read

PLANNED = {"amnesiac-optimizer", "empty-mask", "frozen", "summed-loss"}


class TestRegistry:
    def test_every_file_registers_what_it_is_named_after(self):
        files = {path.stem for path in Path(faults.__file__).parent.glob("*.py")} - {"__init__"}
        names = [*faults.registry("fault"), *faults.registry("trigger")]
        assert sorted(name.replace("-", "_") for name in names) == sorted(files)
        assert set(faults.registry("fault")) >= PLANNED

    def test_each_says_what_it_does(self):
        for entry in (*faults.registry("fault").values(), *faults.registry("trigger").values()):
            assert entry.doc.endswith((".", ","))

    @pytest.mark.parametrize(
        ("part", "said"),
        [
            (Part("frozn"), "there is no fault 'frozn'; did you mean frozen?"),
            (Part("xyz"), "there is no fault 'xyz'; they are: amnesiac-optimizer, "),
            (Part("frozen", {"layers": 2}), "frozen has no parameter 'layers'; it has none"),
            (Part("empty-mask", {"stp": 2}), "empty-mask has no parameter 'stp'; did you mean step?"),
            (Part("empty-mask"), "empty-mask needs step: empty-mask:step=..."),
            (Part("empty-mask", {"step": "soon"}), "empty-mask:step=soon: input should be a valid integer"),
            (Part("empty-mask", {"step": -1}), "empty-mask:step=-1: input should be greater than or equal"),
            (Part("boilerplate", {"step": 1}), "there is no fault 'boilerplate'"),
        ],
    )
    def test_what_does_not_fit_is_told_in_one_line(self, part: Part, said: str):
        with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
            faults.checked("fault", [part])
        assert str(caught.value).startswith(said)

    def test_parameters_are_read_as_their_types_and_defaults_are_filled_in(self):
        (part,) = faults.checked("fault", [Part("empty-mask", {"step": "12"})])
        assert part == Part("empty-mask", {"step": 12, "steps": 1})

    def test_a_recipe_names_what_was_done_to_it(self):
        made = recipe(boilerplate(5), [Part("frozen")])
        assert (made.trigger, made.faults) == (boilerplate(5), (Part("frozen"),))
        assert recipe().trigger == recipe().faults == ()

    @pytest.mark.parametrize("name", [path.stem for path in Path("trees/breaks").glob("*.yaml")])
    def test_the_parts_of_every_card_are_registered(self, name: str):
        card = cards.find(name)
        assert faults.checked("trigger", card.trigger) == card.trigger
        faults.checked("fault", card.faults)


CODE_FAULT = {"change": None, "faults": [{"name": "amnesiac-optimizer"}]}
SETTING = {"change": {"grad_clip": "none"}}


def own_card(folder: Path, **keys: object) -> Path:
    """A card of a tiny break that meets the boilerplate at step 25."""
    trigger = [{"name": "boilerplate", "step": 25, "batches": 3}]
    return changed(folder, settings={**TINY, "steps": 400}, trigger=trigger, **keys)


@pytest.mark.train
class TestManifest:
    def test_it_records_what_was_done_and_what_was_asked_for(self, tmp_path: Path):
        card = cards.load(own_card(tmp_path, **CODE_FAULT))
        assert run_train(card, {"steps": 2, "lr": "0.01"}, out=tmp_path / "run") == 0
        manifest = json.loads((tmp_path / "run/manifest.json").read_text())
        assert manifest["trigger"] == [{"name": "boilerplate", "step": 25, "batches": 3}]
        assert manifest["faults"] == [{"name": "amnesiac-optimizer"}]
        assert manifest["changes"] == {"steps": 2, "lr": "0.01"}
        assert (manifest["break"], manifest["role"]) == (card.asked_as, "fix")
        assert "sealed" not in manifest

    def test_a_run_without_a_break_mends_nothing(self, tmp_path: Path):
        assert run_train(None, {**TINY, "steps": 2}, out=tmp_path / "run") == 0
        manifest = json.loads((tmp_path / "run/manifest.json").read_text())
        assert (manifest["break"], manifest["role"], manifest["faults"]) == (None, "plain", [])
        assert manifest["changes"]["n_layer"] == 1

    def test_a_fault_by_name_is_one_of_the_command_and_of_the_manifest(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.chdir(tmp_path)
        assert run_train(None, {**TINY, "steps": 2}, faults=[Part("amnesiac-optimizer")]) == 0
        (run,) = (tmp_path / "runs").iterdir()
        manifest = json.loads((run / "manifest.json").read_text())
        assert run.name == "amnesiac-optimizer-1"
        assert manifest["faults"] == [{"name": "amnesiac-optimizer"}]
        assert manifest["role"] == "break"
        assert manifest["command"].startswith("tutor train --fault amnesiac-optimizer ")

    def test_a_control_takes_no_fault(self, tmp_path: Path, capsys: pytest.CaptureFixture):
        card = cards.find("no-clip")
        assert run_train(card, {}, control=True, faults=[Part("frozen")], out=tmp_path / "run") == 2
        assert "--control is healthy" in capsys.readouterr().err


@pytest.mark.train
class TestResume:
    @pytest.mark.parametrize("keys", [SETTING, CODE_FAULT], ids=["setting", "code"])
    def test_a_break_killed_and_resumed_is_the_break_that_was_never_stopped(self, tmp_path: Path, keys: dict):
        path = own_card(tmp_path, **keys)
        assert run_train(cards.load(path), {}, out=tmp_path / "whole") == 0
        cut = tmp_path / "cut"
        words = ["train", "--break", str(path), "--out", str(cut)]
        run = subprocess.Popen([sys.executable, "-m", "tutor", *words], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(checkpoint.saved(cut)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        run.kill()
        assert run.wait() == -signal.SIGKILL
        assert run_train(None, {}, resume=cut) == 0
        assert [row["step"] for row in rows_of(cut)] == list(range(400))
        assert logged(cut) == logged(tmp_path / "whole")
        healthy = tmp_path / "healthy"
        assert run_train(cards.load(path), {}, control=True, out=healthy) == 0
        assert rows_of(cut)[-1]["loss"] != rows_of(healthy)[-1]["loss"]

    def test_a_folder_that_is_no_run_is_told(self, tmp_path: Path):
        with pytest.raises(ValueError, match="isn't a run that tutor train began"):
            recipe_of(tmp_path)

    def test_a_run_whose_fault_is_unknown_here_is_not_cured_in_silence(self, tiny_run: Path, tmp_path: Path):
        manifest = json.loads((tiny_run / "manifest.json").read_text())
        manifest["faults"] = [{"name": "of-another-version"}]
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ValueError, match="there is no fault 'of-another-version'"):
            recipe_of(tmp_path)


@pytest.mark.train
class TestSealed:
    @pytest.fixture
    def case(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        card = cards.load(own_card(tmp_path, **CODE_FAULT))
        monkeypatch.chdir(tmp_path)
        assert run_train(card, {"steps": 15}, sealed=True) == 0
        return tmp_path / "runs/case-1"

    def test_nothing_but_the_truth_tells(self, case: Path):
        manifest = json.loads((case / "manifest.json").read_text())
        assert manifest["sealed"] is True
        assert (manifest["name"], manifest["command"]) == ("case-1", "tutor train --sealed")
        assert not {"break", "faults", "trigger", "changes", "role"} & set(manifest)
        for path in case.glob("*.*"):
            if path.name != "truth.json":
                assert "amnesiac" not in path.read_text()
                assert "mine" not in path.read_text()

    def test_the_truth_says_what_was_done_and_what_to_look_for(self, case: Path):
        truth = json.loads((case / "truth.json").read_text())
        assert truth["break"].endswith("mine.yaml")
        assert [read(part) for part in truth["faults"]] == [Part("amnesiac-optimizer")]
        assert (truth["role"], truth["changes"]) == ("break", {"steps": 15})
        assert "--sealed" in truth["command"]
        assert set(truth["diagnosis"]) == {"en", "es"}
        assert truth["ladder"][0]["panel"] == 1
        assert truth["expect"]["tree"] == "phase-19"

    def test_it_is_taken_up_again_with_its_fault(self, case: Path, tmp_path: Path):
        manifest = case / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"steps": 15', '"steps": 30'))
        assert run_train(None, {}, resume=case) == 0
        open_ = recipe([Part("boilerplate", {"step": 25})], [Part("amnesiac-optimizer")])
        train(open_, out=tmp_path / "open")
        assert logged(case) == logged(tmp_path / "open")

    def test_without_a_break_one_is_drawn(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.chdir(tmp_path)
        assert run_train(None, {**TINY, "steps": 2}, sealed=True) == 0
        truth = json.loads((tmp_path / "runs/case-1/truth.json").read_text())
        assert truth["break"] in {card.asked_as for card in cards.all_cards()}


@pytest.mark.train
class TestPlanned:
    @pytest.mark.parametrize("fault", [Part("amnesiac-optimizer")], ids=str)
    def test_resumed_it_is_the_run_that_was_never_stopped(self, tmp_path: Path, fault: Part):
        train(recipe(faults=[fault]), out=tmp_path / "whole")
        train(recipe(faults=[fault], steps=17), out=tmp_path / "cut")
        assert resume(tmp_path / "cut", recipe(faults=[fault])) == 30
        assert logged(tmp_path / "cut") == logged(tmp_path / "whole")

    def test_an_amnesiac_optimizers_moments_are_those_of_one_gradient(self, tmp_path: Path):
        train(recipe(faults=[Part("amnesiac-optimizer")], grad_clip=None), out=tmp_path / "run")
        for row in rows_of(tmp_path / "run"):
            assert row["adam_m_norm"] == pytest.approx(0.1 * row["grad_norm"], rel=1e-3)


def logged(run: Path) -> list[dict]:
    """The rows without their clock, and without the names of checkpoints, which a killed run may keep."""
    rows = timeless(rows_of(run))
    return [{key: value for key, value in row.items() if key != "checkpoint"} for row in rows]
