"""The registry of faults and triggers, and runs that keep theirs when they are taken up again."""

import json
import math
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from tests.lab.small import TINY, boilerplate, recipe, rows_of, timeless
from tests.lab.test_faults_of_configuration import FAULTS
from tests.test_card import changed
from tutor import card as cards
from tutor.lab import checkpoint, faults
from tutor.lab.assembly import recipe_of
from tutor.lab.command import run_train, too_short
from tutor.lab.loop import resume, train
from tutor.lab.trainer import Trainer
from tutor.parts import Part, read

PLANNED = (
    Part("amnesiac-optimizer"),
    Part("bare-probabilities"),
    Part("drifting-data", {"step": 8, "over": 40}),
    Part("empty-evaluation"),
    Part("empty-mask", {"step": 8}),
    Part("empty-mask", {"step": 20, "steps": None}),
    Part("endless-warmup"),
    Part("frozen"),
    Part("heavy-decay", {"step": 8, "weight_decay": 5.0}),
    Part("ignored-targets"),
    Part("inf-embedding"),
    Part("log-of-softmax"),
    Part("lr-restart", {"step": 12}),
    Part("moments-not-restored", {"step": 12}),
    Part("no-eps-norm", {"outside": 1e-6}),
    Part("no-eval-mode"),
    Part("no-final-norm"),
    Part("one-group"),
    Part("repeated-batch", {"step": 8, "steps": 5}),
    Part("repeated-batch", {"step": 14, "steps": 8}),  # stuck when the run is cut
    Part("rotten-subset", {"step": 8, "every": 10, "documents": 12}),
    Part("softmax-twice"),
    Part("stale-copy"),
    Part("stray-shard"),
    Part("stray-shard", {"shards": 1}),
    Part("summed-loss"),
)
IN_FP16 = (Part("hot-activations", {"gain": 200.0}), Part("no-scaler"), Part("static-scale"))
TRIGGERS = (
    Part("boilerplate", {"step": 16, "batches": 3}),
    Part("dropout", {"rate": 0.3}),
    Part("skips-non-finite"),
)


class TestRegistry:
    def test_every_file_registers_what_it_is_named_after(self):
        files = {path.stem for path in Path(faults.__file__).parent.glob("*.py")} - {"__init__"}
        names = [name for kind in ("fault", "trigger", "action") for name in faults.registry(kind)]
        assert sorted(name.replace("-", "_") for name in names) == sorted(files)

    def test_each_is_resumed_in_a_test(self):
        resumed = {part.name for part in (*PLANNED, *IN_FP16, *FAULTS)}
        assert set(faults.registry("fault")) == resumed
        assert set(faults.registry("trigger")) == {part.name for part in TRIGGERS}

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

    @pytest.mark.parametrize("name", sorted(cards.available()))
    def test_the_parts_of_every_card_are_registered(self, name: str):
        card = cards.find(name)
        assert faults.checked("trigger", card.trigger) == card.trigger
        faults.checked("fault", card.faults)


CODE_FAULT = {"change": None, "faults": [{"name": "amnesiac-optimizer"}]}
SETTING = {"change": {"grad_clip": "none"}}
STEPS = 200
"""Enough to be killed before the end, long after the second checkpoint."""


def own_card(folder: Path, **keys: object) -> Path:
    """A card of a tiny break that meets the boilerplate at step 25."""
    trigger = [{"name": "boilerplate", "step": 25, "batches": 3}]
    return changed(folder, settings={**TINY, "steps": STEPS}, trigger=trigger, **keys)


@pytest.mark.train
class TestManifest:
    def test_it_records_what_was_done_and_what_was_asked_for(self, tmp_path: Path):
        card = cards.load(own_card(tmp_path, **CODE_FAULT))
        assert run_train(card, {"steps": 2, "grad_clip": "0.5"}, out=tmp_path / "run") == 0
        manifest = json.loads((tmp_path / "run/manifest.json").read_text())
        assert manifest["trigger"] == [{"name": "boilerplate", "step": 25, "batches": 3}]
        assert manifest["faults"] == [{"name": "amnesiac-optimizer"}]
        assert manifest["changes"] == {"steps": 2, "grad_clip": "0.5"}
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

    @pytest.mark.parametrize("sealed", [False, True])
    def test_a_run_that_ends_before_its_trigger_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture, sealed: bool
    ):
        card = cards.load(own_card(tmp_path, **SETTING))
        assert run_train(card, {"steps": 2}, out=tmp_path / "run", sealed=sealed) == 0
        said = capsys.readouterr().out
        assert ("boilerplate at step 25" in said) is not sealed
        assert ("are too few" in said) is sealed

    def test_a_run_that_reaches_its_trigger_says_nothing_of_it(self):
        assert too_short(recipe(boilerplate(5), [Part("empty-mask", {"step": 6})], steps=7)) is None
        assert "empty-mask at step 7" in (
            too_short(recipe((), [Part("empty-mask", {"step": 7})], steps=7)) or ""
        )

    def test_a_control_takes_no_fault(self, tmp_path: Path, capsys: pytest.CaptureFixture):
        card = cards.find("no-clip")
        assert run_train(card, {}, control=True, faults=[Part("frozen")], out=tmp_path / "run") == 2
        assert "--control is healthy" in capsys.readouterr().err


@pytest.mark.slow
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
        assert [row["step"] for row in rows_of(cut)] == list(range(STEPS))
        assert logged(cut) == logged(tmp_path / "whole")
        healthy = tmp_path / "healthy"
        assert run_train(cards.load(path), {}, control=True, out=healthy) == 0
        assert rows_of(cut)[-1]["loss"] != rows_of(healthy)[-1]["loss"]

    def test_a_folder_that_is_no_run_is_told(self, tmp_path: Path):
        with pytest.raises(ValueError, match="isn't a run that tutor train began"):
            recipe_of(tmp_path)

    def test_a_run_of_an_early_tutor_is_told_what_it_is_and_kept(
        self, tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture
    ):
        run = tmp_path / "early"
        shutil.copytree(tiny_run, run)
        manifest = json.loads((run / "manifest.json").read_text())
        for key in ("trigger", "faults", "changes"):
            del manifest[key]
        manifest["settings"] |= {"steps": 40, "boilerplate_step": None, "boilerplate_batches": 3}
        (run / "manifest.json").write_text(json.dumps(manifest))
        before = {path: path.read_bytes() for path in run.rglob("*.*")}
        assert run_train(None, {}, resume=run) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith(f"tutor: {run} was begun by an early tutor")
        assert "can be walked and compared, but not resumed; train it anew" in said
        assert {path: path.read_bytes() for path in run.rglob("*.*")} == before

    @pytest.mark.parametrize("bad", [None, 1, ["frozen"]])
    def test_a_manifest_with_no_list_of_parts_is_told(self, tiny_run: Path, tmp_path: Path, bad: object):
        manifest = json.loads((tiny_run / "manifest.json").read_text()) | {"faults": bad}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
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
        return tmp_path / "runs/sealed-1"

    def test_nothing_but_the_truth_tells(self, case: Path):
        manifest = json.loads((case / "manifest.json").read_text())
        assert manifest["sealed"] is True
        assert (manifest["name"], manifest["command"]) == ("sealed-1", "tutor train --sealed")
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
        assert [rung["panel"] for rung in truth["ladder"].values()][:3] == [1, 1, 3]
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
        truth = json.loads((tmp_path / "runs/sealed-1/truth.json").read_text())
        assert truth["break"] in {card.asked_as for card in cards.all_cards()}


@pytest.mark.train
@pytest.mark.slow
class TestPlanned:
    @staticmethod
    def resumed(
        folder: Path, faults: Sequence[Part], trigger: Sequence[Part] = (), **changes: object
    ) -> None:
        """A run that is cut at step 17 and taken up again logs what the run that was never stopped logs."""
        assert train(recipe(trigger, faults, **changes), out=folder / "whole") == 30
        train(recipe(trigger, faults, steps=17, **changes), out=folder / "cut")
        assert resume(folder / "cut", recipe_of(folder / "whole")) == 30
        assert logged(folder / "cut") == logged(folder / "whole")

    @pytest.mark.parametrize("fault", PLANNED, ids=str)
    def test_it_trains_and_logs_and_resumed_it_is_the_run_that_was_never_stopped(
        self, tmp_path: Path, fault: Part
    ):
        self.resumed(tmp_path, [fault])

    @pytest.mark.parametrize("fault", IN_FP16, ids=str)
    def test_so_it_is_in_fp16(self, tmp_path: Path, fault: Part):
        self.resumed(tmp_path, [fault], dtype="fp16")

    @pytest.mark.parametrize("trigger", TRIGGERS, ids=str)
    def test_so_is_what_befalls_break_and_control_alike(self, tmp_path: Path, trigger: Part):
        self.resumed(tmp_path, [Part("inf-embedding")], [trigger])

    @staticmethod
    def rows(folder: Path, *faults: Part, **changes: object) -> list[dict]:
        train(recipe(faults=faults, steps=12, **changes), out=folder)
        return rows_of(folder)

    def test_one_group_holds_every_parameter_and_decays(self, tmp_path: Path):
        rows = self.rows(tmp_path / "run", Part("one-group"))
        manifest = json.loads((tmp_path / "run/manifest.json").read_text())
        (group,) = manifest["groups"]
        assert (group["weight_decay"], group["parameters"]) == (0.1, manifest["parameters"])
        assert rows[-1]["loss"] != self.rows(tmp_path / "healthy")[-1]["loss"]

    def test_what_is_frozen_has_no_gradient_and_stays_where_it_is(self, tmp_path: Path):
        rows = self.rows(tmp_path / "run", Part("frozen"))
        assert {row["grad_norm"] for row in rows} == {0.0}
        assert len({row["param_norm"] for row in rows}) == 1
        assert {row["update_norm"] for row in rows} == {0.0}
        probed = [row["probe_loss"] for row in rows if row["probe_loss"] is not None]
        assert len(probed) == 3 and len(set(probed)) == 1  # every fifth of 12 steps

    def test_dropout_left_on_makes_two_numbers_of_the_same_weights_and_validation_set(self):
        for faulty, equal in (([], True), ([Part("no-eval-mode")], False)):
            trainer = Trainer(recipe([Part("dropout", {"rate": 0.3})], faulty))
            assert (trainer.validate(0) == trainer.validate(0)) is equal
            assert trainer.model.training

    def test_one_shard_in_turn_is_text_of_another_tokenizer(self):
        trainer = Trainer(recipe([], [Part("stray-shard", {"shards": 2})]))
        rows, every = trainer.held_out.x_BT, trainer.settings.val_every
        plain, strange = (trainer.recipe.shard(trainer.held_out, step) for step in (0, every))
        assert torch.equal(plain.x_BT, rows[0::2]) and torch.equal(plain.y_BT[:, :-1], plain.x_BT[:, 1:])
        assert strange.x_BT.shape == rows[1::2].shape and not torch.equal(strange.x_BT, rows[1::2])
        assert torch.equal(strange.y_BT[:, :-1], strange.x_BT[:, 1:])  # the same garbled ids
        assert torch.equal(trainer.recipe.shard(trainer.held_out, 2 * every).x_BT, plain.x_BT)

    def test_a_single_shard_is_all_that_is_held_out_garbled_each_time(self):
        trainer = Trainer(recipe([], [Part("stray-shard", {"shards": 1})]))
        first, later = (
            trainer.recipe.shard(trainer.held_out, step) for step in (0, 7 * trainer.settings.val_every)
        )
        assert first.x_BT.shape == trainer.held_out.x_BT.shape and torch.equal(first.x_BT, later.x_BT)
        assert not torch.equal(first.x_BT, trainer.held_out.x_BT)

    def test_a_stale_copy_is_evaluated_while_the_weights_that_train_move(self, tmp_path: Path):
        rows, healthy = self.rows(tmp_path / "run", Part("stale-copy")), self.rows(tmp_path / "healthy")
        assert [row["loss"] for row in rows] == [row["loss"] for row in healthy]  # training isn't touched
        for name in ("probe_loss", "val_loss"):
            evaluated = [row[name] for row in rows if row.get(name) is not None]
            assert set(evaluated) == {next(row[name] for row in healthy if row.get(name) is not None)}

    def test_dropout_is_on_in_training(self, tmp_path: Path):
        train(recipe([Part("dropout", {"rate": 0.3})], steps=12), out=tmp_path / "run")
        assert rows_of(tmp_path / "run")[0]["loss"] != self.rows(tmp_path / "healthy")[0]["loss"]

    def test_an_empty_mask_trains_on_nan_while_the_mean_over_tokens_is_finite(self, tmp_path: Path):
        rows = self.rows(tmp_path / "run", Part("empty-mask", {"step": 5}))
        assert all(math.isfinite(row["loss"]) for row in rows[:6])
        assert [row["reduced_loss"] == "NaN" for row in rows[:6]] == [False] * 5 + [True]
        assert rows[5]["grad_norm"] == "NaN"
        assert rows[6]["loss"] == "NaN"

    def test_an_empty_mask_ends_when_it_is_told_to(self):
        source = Trainer(recipe(faults=[Part("empty-mask", {"step": 2, "steps": 3})])).loader
        masked = [source.step(step)[0].mask_BT is not None for step in range(8)]
        assert masked == [False, False, True, True, True, False, False, False]

    def test_a_summed_loss_has_gradients_of_every_token_while_the_mean_is_logged(self, tmp_path: Path):
        (summed,), (mean,) = (
            self.rows(tmp_path / str(len(faults)), *faults)[:1] for faults in ([Part("summed-loss")], [])
        )
        assert summed["loss"] == mean["loss"]
        assert summed["reduced_loss"] == pytest.approx(2 * 16 * mean["loss"], rel=1e-5)
        assert summed["grad_norm"] == pytest.approx(2 * 16 * mean["grad_norm"], rel=1e-4)

    @pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
    def test_a_summed_loss_counts_what_the_mask_counts_as_the_mean_does(self, dtype: torch.dtype):
        losses, mask = torch.tensor([[1.0, 2.0], [4.0, 8.0]]), torch.tensor([[1, 0], [1, 0]]).to(dtype)
        summed, mean = recipe(faults=[Part("summed-loss")]).reduce, recipe().reduce
        assert (summed(losses, mask).item(), mean(losses, mask).item()) == (5.0, 2.5)

    def test_an_amnesiac_optimizers_moments_are_those_of_one_gradient(self, tmp_path: Path):
        rows = self.rows(tmp_path / "run", Part("amnesiac-optimizer"), grad_clip=None)
        for row in rows:
            assert row["adam_m_norm"] == pytest.approx(0.1 * row["grad_norm"], rel=1e-3)

    def test_two_faults_at_once_are_both_there(self, tmp_path: Path):
        rows = self.rows(tmp_path / "run", Part("one-group"), Part("amnesiac-optimizer"), grad_clip=None)
        assert len(json.loads((tmp_path / "run/manifest.json").read_text())["groups"]) == 1
        assert rows[-1]["adam_m_norm"] == pytest.approx(0.1 * rows[-1]["grad_norm"], rel=1e-3)


def test_a_fault_is_added_by_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "flat_schedule.py").write_text(
        "from dataclasses import replace\n"
        "from tutor.lab.faults import fault\n"
        "@fault\n"
        "def flat_schedule(recipe, *, lr: float):\n"
        "    'The learning rate never moves.'\n"
        "    return replace(recipe, schedule=lambda step: lr)\n"
    )
    assert "flat-schedule" not in faults.registry("fault")
    monkeypatch.setattr(faults, "__path__", [*faults.__path__, str(tmp_path)])
    monkeypatch.setattr(faults, "_REGISTRY", dict(faults._REGISTRY))
    faults._load.cache_clear()
    made = recipe(faults=[Part("flat-schedule", {"lr": "0.5"})])
    assert [made.schedule(step) for step in (0, 500)] == [0.5, 0.5]


def logged(run: Path) -> list[dict]:
    """The rows without their clock, and without the names of checkpoints, which a killed run may keep."""
    rows = timeless(rows_of(run))
    return [{key: value for key, value in row.items() if key != "checkpoint"} for row in rows]
