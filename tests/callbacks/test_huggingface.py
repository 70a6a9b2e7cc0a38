"""The callback for Hugging Face's Trainer, on a small GPT-2 that the Trainer itself trains."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from tests.callbacks.checked import checked
from tests.conftest import ROOT
from tutor import readers
from tutor.callbacks.huggingface import TutorCallback

VOCAB, LENGTH = 61, 16


class Logged(TrainerCallback):
    """What the Trainer logs."""

    def __init__(self):
        self.rows: list[dict] = []

    def on_log(self, args, state, control, logs=None, **_):
        self.rows.append(logs)

    def __getitem__(self, name: str) -> list[float]:
        return [row[name] for row in self.rows if name in row]


class Stop(TrainerCallback):
    """Ends training after a step, as a machine that goes down does."""

    def __init__(self, after: int):
        self.after = after

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.after:
            raise KeyboardInterrupt


def model() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    tokens = {"bos_token_id": 0, "eos_token_id": 0}
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2, **tokens)
    )


def sentences(rows: int) -> list[dict[str, torch.Tensor]]:
    """Tokens that go up by a step of their own in each sentence, of which some are hidden from the loss."""
    rng = torch.Generator().manual_seed(1)
    first, by = (torch.randint(1, most, (rows, 1), generator=rng) for most in (VOCAB, 4))
    counted = (first + by * torch.arange(LENGTH)) % VOCAB
    hidden = torch.arange(LENGTH) < torch.randint(0, 8, (rows, 1), generator=rng)
    return [
        {"input_ids": ids, "labels": labels}
        for ids, labels in zip(counted, counted.masked_fill(hidden, -100), strict=True)
    ]


def trainer(tmp_path: Path, *callbacks: TrainerCallback, cls: type = Trainer, **options: object) -> Trainer:
    asked = {
        "output_dir": str(tmp_path / "out"),
        "max_steps": 12,
        "per_device_train_batch_size": 4,
        "learning_rate": 3e-3,
        "logging_steps": 1,
        "save_strategy": "no",
        "use_cpu": True,
        "report_to": [],
        "disable_tqdm": True,
    }
    rows = 8 * options.get("max_steps", 4)
    data, held_out = sentences(rows + 8)[:rows], sentences(rows + 8)[rows:]
    return cls(
        model=model(),
        args=TrainingArguments(**(asked | options)),
        train_dataset=data,
        eval_dataset=held_out if "eval_strategy" in options else None,
        callbacks=list(callbacks),
    )


@pytest.mark.parametrize("accumulation", [1, 3])
def test_a_row_holds_what_the_trainer_logs_of_every_step(tmp_path: Path, accumulation: int):
    logged = Logged()
    options = {"gradient_accumulation_steps": accumulation, "max_grad_norm": 0.5}
    trainer(tmp_path, TutorCallback(tmp_path / "mine"), logged, **options).train()
    run = readers.read(tmp_path / "mine")
    assert run.steps.to_list() == list(range(12))
    assert run["loss"].to_list() == pytest.approx(logged["loss"], rel=1e-4)
    assert run["grad_norm"].to_list() == pytest.approx(logged["grad_norm"], rel=1e-4)
    assert run["lr"].to_list() == pytest.approx(logged["learning_rate"], rel=1e-6)
    assert run["grad_norm_clipped"].to_list() == pytest.approx([0.5] * 12, rel=1e-3)
    assert min(run["grad_norm"]) > 0.6
    assert run.manifest.batch.accumulation == accumulation
    assert run.aggregation("loss").over == "instant"


def test_every_step_has_its_loss_where_the_trainer_logs_means(tmp_path: Path):
    logged = Logged()
    trainer(tmp_path, TutorCallback(tmp_path / "mine"), logged, logging_steps=4).train()
    losses = readers.read(tmp_path / "mine")["loss"].to_list()
    means = [sum(losses[at : at + 4]) / 4 for at in range(0, 12, 4)]
    assert means == pytest.approx(logged["loss"], rel=1e-4)


def test_the_manifest_says_what_the_trainer_was_told(tmp_path: Path):
    options = {
        "max_grad_norm": 0.7, "adam_beta2": 0.95, "warmup_steps": 3, "lr_scheduler_type": "cosine",
        "bf16": True, "seed": 11, "gradient_accumulation_steps": 2, "weight_decay": 0.1,
    }  # fmt: skip
    trainer(tmp_path, TutorCallback(tmp_path / "mine", data="counting"), **options).train()
    manifest = readers.read(tmp_path / "mine").manifest
    settings = manifest.settings
    assert (settings["grad_clip"], settings["beta2"], settings["data"]) == (0.7, 0.95, "counting")
    assert (manifest.precision, manifest.seed, manifest.vocab_size) == ("bf16", 11, VOCAB)
    assert (manifest.batch.rows, manifest.batch.tokens_per_row, manifest.batch.accumulation) == (4, LENGTH, 2)
    schedule = manifest.schedule
    assert (schedule.kind, schedule.warmup_steps, schedule.schedule_steps) == ("cosine", 3, 12)
    assert schedule.lr_max == pytest.approx(3e-3)
    assert [group.weight_decay for group in manifest.groups] == [0.1, 0.0]


def test_without_a_bound_nothing_is_said_to_be_clipped(tmp_path: Path):
    trainer(tmp_path, TutorCallback(tmp_path / "mine"), max_grad_norm=0.0).train()
    run = readers.read(tmp_path / "mine")
    assert run.manifest.settings["grad_clip"] is None
    assert run["clipped"].to_list() == [False] * 12


def test_a_schedule_of_ones_own_is_not_taken_for_the_trainers(tmp_path: Path):
    begun = trainer(tmp_path, TutorCallback(tmp_path / "mine"))
    optimizer = torch.optim.AdamW(begun.model.parameters(), lr=1e-3)
    begun.optimizer, begun.lr_scheduler = optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 4)
    begun.train()
    assert readers.read(tmp_path / "mine").manifest.schedule.kind is None


class TestLossOutsideOfTheModel:
    def test_the_trainers_mean_is_recorded_and_declared(self, tmp_path: Path):
        logged = Logged()
        options = {"label_smoothing_factor": 0.1, "logging_steps": 4}
        trainer(tmp_path, TutorCallback(tmp_path / "mine"), logged, **options).train()
        run = readers.read(tmp_path / "mine")
        assert len(run) == 12
        assert run.logged("loss").steps.to_list() == [3, 7, 11]
        assert run["loss"].drop_nulls().to_list() == pytest.approx(logged["loss"], rel=1e-4)
        assert (run.aggregation("loss").over, run.aggregation("loss").shows_nan) == ("window", False)


class TestEvaluation:
    def test_its_loss_belongs_to_the_step_before_it(self, tmp_path: Path):
        logged = Logged()
        options = {"eval_strategy": "steps", "eval_steps": 5}
        trainer(tmp_path, TutorCallback(tmp_path / "mine"), logged, **options).train()
        run = readers.read(tmp_path / "mine").logged("val_loss")
        assert run.steps.to_list() == [4, 9, 11]
        assert run["val_loss"].to_list() == pytest.approx(logged["eval_loss"], rel=1e-4)

    def test_of_several_sets_it_is_the_mean(self, tmp_path: Path):
        logged = Logged()
        begun = trainer(
            tmp_path, TutorCallback(tmp_path / "mine"), logged, eval_strategy="steps", eval_steps=12
        )
        begun.eval_dataset = {"one": sentences(4), "two": sentences(40)[32:]}
        begun.train()
        mean = (logged["eval_one_loss"][0] + logged["eval_two_loss"][0]) / 2
        assert readers.read(tmp_path / "mine")["val_loss"][11] == pytest.approx(mean, rel=1e-4)


class TestGoingOn:
    def test_from_a_checkpoint_in_the_same_folder(self, tmp_path: Path):
        options = {"save_strategy": "steps", "save_steps": 5}
        with pytest.raises(KeyboardInterrupt):
            trainer(tmp_path, TutorCallback(tmp_path / "mine"), Stop(after=8), **options).train()
        trainer(tmp_path, TutorCallback(tmp_path / "mine"), **options).train(resume_from_checkpoint=True)
        trainer(tmp_path / "other", TutorCallback(tmp_path / "whole")).train()
        run, whole = readers.read(tmp_path / "mine"), readers.read(tmp_path / "whole")
        assert run.steps.to_list() == list(range(12))
        assert run["loss"].to_list() == pytest.approx(whole["loss"].to_list(), rel=1e-4)
        assert [one.resumes_at for one in run.checkpoints or ()] == [5, 10, 12]

    def test_training_anew_takes_a_folder_of_its_own(self, tmp_path: Path, capsys: pytest.CaptureFixture):
        trainer(tmp_path, TutorCallback(tmp_path / "mine")).train()
        before = (tmp_path / "mine" / "metrics.jsonl").read_text()
        trainer(tmp_path, TutorCallback(tmp_path / "mine")).train()
        assert (tmp_path / "mine" / "metrics.jsonl").read_text() == before
        assert len(readers.read(tmp_path / "mine-2")) == 12
        assert capsys.readouterr().err.count("mine-2") == 1


def test_two_processes_write_one_run_of_the_whole_batch(tmp_path: Path):
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    code = [__file__, str(tmp_path)]
    done = subprocess.run(
        [*run, *code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    logged = json.loads((tmp_path / "logged.json").read_text())
    run = readers.read(tmp_path / "mine")
    assert [path.name for path in tmp_path.glob("mine*")] == ["mine"]
    assert run["loss"].to_list() == pytest.approx([row["loss"] for row in logged], rel=1e-4)
    assert run["grad_norm"].to_list() == pytest.approx([row["grad_norm"] for row in logged], rel=1e-4)
    assert run.manifest.batch.rows == 8


def test_training_goes_on_where_nothing_can_be_written(tmp_path: Path, capfd: pytest.CaptureFixture):
    (tmp_path / "file").write_text("no folder")
    begun = trainer(tmp_path, TutorCallback(tmp_path / "file" / "mine"))
    begun.train()
    assert begun.state.global_step == 12
    assert capfd.readouterr().err.count("tutor:") == 1


def test_accelerate_has_its_own_back_in_the_end(tmp_path: Path):
    from accelerate import Accelerator

    clip = Accelerator.clip_grad_norm_
    begun = trainer(tmp_path, TutorCallback(tmp_path / "mine"))
    begun.train()
    assert Accelerator.clip_grad_norm_ is clip
    assert not begun.model._forward_hooks


class TestVerdict:
    def test_a_sound_run_is_not_called_sick(self, tmp_path: Path):
        options = {"max_steps": 220, "warmup_steps": 25, "eval_strategy": "steps", "eval_steps": 40}
        trainer(tmp_path, TutorCallback(tmp_path / "mine"), per_device_train_batch_size=8, **options).train()
        code, told = checked(tmp_path / "mine")
        assert code == 0, told

    def test_a_learning_rate_far_too_high_is_seen(self, tmp_path: Path):
        options = {"max_steps": 150, "warmup_steps": 25, "learning_rate": 1.0}
        trainer(tmp_path, TutorCallback(tmp_path / "mine"), **options).train()
        code, told = checked(tmp_path / "mine")
        assert code == 1
        assert told["leaf"]["id"] == "always-clipping"

    def test_nan_is_seen_at_its_step_although_the_trainer_hides_it(self, tmp_path: Path):
        class Poisoned(Trainer):
            def training_step(self, model, inputs, *args):
                if self.state.global_step == 7:
                    with torch.no_grad():
                        model.transformer.ln_f.weight[0] = math.nan
                return super().training_step(model, inputs, *args)

        logged = Logged()
        trainer(tmp_path, TutorCallback(tmp_path / "mine"), logged, cls=Poisoned).train()
        assert all(math.isfinite(loss) for loss in logged["loss"])
        losses = readers.read(tmp_path / "mine")["loss"].to_list()
        assert [math.isnan(loss) for loss in losses] == [False] * 7 + [True] * 5
        assert checked(tmp_path / "mine")[0] == 1


def in_one_of_two(folder: Path):
    """What each of two processes does."""
    logged, callback = Logged(), TutorCallback(folder / "mine")
    options = {"save_strategy": "steps", "save_steps": 5, "gradient_accumulation_steps": 2}
    begun = trainer(folder, callback, logged, max_grad_norm=0.5, **options)
    begun.train()
    if begun.is_world_process_zero():
        (folder / "logged.json").write_text(json.dumps([row for row in logged.rows if "loss" in row]))


if __name__ == "__main__":
    in_one_of_two(Path(sys.argv[1]))
