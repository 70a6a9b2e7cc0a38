"""Facts of a configuration: from a run's settings, from the files beside its log, from the user."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor import readers
from tutor.readers.common.beside import flat
from tutor.run import BadRunError
from tutor.run import given as user
from tutor.run.facts import FACTS, OFF, understood


def said(given: Mapping[str, object]) -> dict[str, Any]:
    return {name: fact.value for name, fact in understood(given).items()}


def written(folder: Path, name: str = "log.jsonl", length: int = 40) -> Path:
    rows = ({"step": step, "loss": 4.0 - step / 50} for step in range(length))
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / name


class TestUnderstood:
    @pytest.mark.parametrize(
        ("given", "facts"),
        [
            ({"max_grad_norm": "1.0", "bf16": "True", "fp16": "False"}, {"grad_clip": 1, "dtype": "bf16"}),
            ({"max_grad_norm": 0, "adam_beta2": 0.999}, {"grad_clip": OFF, "beta2": 0.999}),
            ({"gradient_clip_val": None, "precision": "16-mixed"}, {"grad_clip": OFF, "dtype": "fp16"}),
            ({"bf16": False, "fp16": False, "torch_dtype": "bfloat16"}, {"dtype": "bf16"}),
            ({"bf16": False, "fp16": False, "torch_dtype": "float32"}, {"dtype": "fp32"}),
            ({"torch_dtype": "float32"}, {}),
            ({"optimizer.betas.1": 0.95, "model/vocab-size": 512}, {"beta2": 0.95, "vocab_size": 512}),
            ({"encoder.vocab_size": 512, "decoder.vocab_size": 1024}, {}),
            ({"vocab_size": -1, "lr": "fast", "dtype": "int8", "beta2": 1.0, "warmup_steps": "soon"}, {}),
        ],
    )
    def test_by_the_names_of_trainers(self, given: dict, facts: dict):
        assert said(given) == facts

    def test_steps_count_only_where_the_log_counts_the_same_ones(self):
        plan = {"warmup_steps": 100, "max_steps": 2000}
        assert said(plan) == {}
        assert said(plan | {"grad_accum_steps": 8}) == {"accumulation": 8}
        known = {"warmup_steps": 100, "schedule_steps": 2000}
        assert said(plan | {"grad_accum_steps": 1}) == known | {"accumulation": 1}
        assert said(plan | {"num_train_epochs": 3}) == known

    def test_a_ratio_of_the_steps(self):
        plan = {"lr_scheduler_type": "SchedulerType.COSINE", "warmup_steps": 0, "warmup_ratio": 0.03}
        assert said(plan | {"max_steps": 1000}) == {
            "schedule": "cosine",
            "warmup_steps": 30,
            "schedule_steps": 1000,
        }
        assert said(plan) == {}, "of an unknown number of steps"


class TestBeside:
    def test_the_files_of_tools(self, tmp_path: Path):
        (tmp_path / "config.json").write_text(
            '{"model_type": "gpt2", "vocab_size": 50257, "dtype": "float32"}'
        )
        (tmp_path / "hparams.yaml").write_text(
            "precision: bf16-mixed\nbetas: !!python/tuple [0.9, 0.95]\ngradient_clip_val: 0.5\n"
        )
        run = readers.read(written(tmp_path))
        assert (run.manifest.vocab_size, run.manifest.precision) == (50257, "bf16")
        assert run.manifest.settings == {"beta2": 0.95, "grad_clip": 0.5}
        assert {name: fact.place for name, fact in run.origins.items()} == {
            "vocab_size": "config.json",
            "dtype": "hparams.yaml",
            "beta2": "hparams.yaml",
            "grad_clip": "hparams.yaml",
        }
        assert any(remark.key == "beside" for remark in run.remarks)

    def test_no_code_of_a_file_runs(self, tmp_path: Path):
        touched = tmp_path / "touched"
        (tmp_path / "hparams.yaml").write_text(
            f"a: !!python/object/apply:os.system ['touch {touched}']\nvocab_size: 64\n"
        )
        (tmp_path / "training_args.bin").write_bytes(
            b"cos\nsystem\n(S'touch " + str(touched).encode() + b"'\ntR."
        )
        assert readers.read(written(tmp_path)).manifest.vocab_size == 64
        assert not touched.exists()

    def test_above_a_checkpoint(self, tmp_path: Path):
        (tmp_path / "config.json").write_text('{"vocab_size": 512}')
        (tmp_path / "checkpoint-40").mkdir()
        history = [{"step": step, "loss": 2.0} for step in range(1, 5)]
        state = {"log_history": history, "max_steps": 40, "num_train_epochs": 1}
        (tmp_path / "checkpoint-40" / "trainer_state.json").write_text(json.dumps(state))
        run = readers.read(tmp_path / "checkpoint-40")
        assert (run.manifest.vocab_size, run.manifest.schedule.schedule_steps) == (512, 40)

    def test_parameters_of_mlflow(self, tmp_path: Path):
        run = tmp_path / "mlruns" / "0" / "run"
        for folder in ("metrics", "params"):
            (run / folder).mkdir(parents=True)
        (run / "meta.yaml").write_text("run_id: run\n")
        (run / "metrics" / "loss").write_text("1 2.0 0\n2 1.9 1\n")
        (run / "params" / "max_grad_norm").write_text("1.0")
        (run / "params" / "fp16").write_text("True")
        manifest = readers.read(run).manifest
        assert (manifest.settings["grad_clip"], manifest.precision) == (1.0, "fp16")

    def test_what_a_run_says_of_itself_stands(self, tmp_path: Path):
        (tmp_path / "config.json").write_text('{"vocab_size": 50257}')
        (tmp_path / "manifest.json").write_text('{"vocab_size": 64}')
        run = readers.read(written(tmp_path, "metrics.jsonl").parent)
        assert (run.manifest.vocab_size, run.origins) == (64, {})

    def test_the_answer_shows_where_its_facts_come_from(self, tmp_path: Path):
        from tests.conftest import numbers
        from tutor import detectors

        (tmp_path / "config.json").write_text('{"vocab_size": 50}')
        run = readers.read(written(tmp_path))
        found = detectors.apply("first_loss", run, numbers("first_loss"))
        assert (found.outcome, found.origins["vocab_size"].place) == ("untrained", "config.json")

    @given(data=st.binary(max_size=300) | st.text("[]{}&*!:-,\n 0a<", max_size=300).map(str.encode))
    def test_whatever_lies_beside_a_log_is_read(self, tmp_path: Path, data: bytes):
        log = written(tmp_path, length=3)
        for name in ("config.json", "hparams.yaml", "tutor-facts.json"):
            (tmp_path / name).write_bytes(data)
        assert len(readers.read(log)) == 3

    def test_aliases_that_multiply_end(self, tmp_path: Path):
        lines = ["a0: &a0 [1, 1]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
        (tmp_path / "hparams.yaml").write_text("\n".join(["vocab_size: 64", *lines]))
        assert len(readers.read(written(tmp_path))) == 40

    def test_nested_settings_are_named_by_their_way(self):
        assert flat({"a": {"b": [1, {"c": 2}]}, "lr": {"value": 3}}) == {"a.b.0": 1, "a.b.1.c": 2, "lr": 3}


class TestGiven:
    def test_over_what_was_found(self, tmp_path: Path):
        (tmp_path / "config.json").write_text('{"vocab_size": 50257}')
        log = written(tmp_path)
        with user.held(user.parsed(["vocab=64,grad_clip=none", "dtype=float16"])):
            run = readers.read(log)
        assert (run.manifest.vocab_size, run.manifest.precision) == (64, "fp16")
        assert run.manifest.settings == {"grad_clip": None}
        assert [remark.key for remark in run.remarks if remark.key in ("beside", "given")] == ["given"]

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("vocab", "isn't NAME=VALUE"),
            ("vocabulary=3", "there is no fact"),
            ("dtype=int8", "can't be dtype; for example: dtype=bf16"),
            ("beta2=2", "can't be beta2"),
            ("vocab=3,vocab_size=3", "given twice"),
        ],
    )
    def test_what_can_not_be_is_refused_with_a_way_on(self, text: str, why: str):
        with pytest.raises(ValueError, match=why):
            user.parsed([text])

    def test_every_example_can_be_given(self):
        assert set(user.parsed(f"{name}={fact.example}" for name, fact in FACTS.items())) == set(FACTS)

    def test_kept_beside_the_log(self, tmp_path: Path):
        log = written(tmp_path)
        user.keep(log, user.parsed(["vocab_size=64"]))
        user.keep(log, user.parsed(["warmup_steps=10,grad_clip=off"]))
        manifest = readers.read(log).manifest
        assert (manifest.vocab_size, manifest.schedule.warmup_steps) == (64, 10)
        assert manifest.settings == {"grad_clip": None}

    def test_what_is_broken_is_never_written_over(self, tmp_path: Path):
        (tmp_path / user.BESIDE).write_text("[")
        with pytest.raises(BadRunError, match="mend it, or delete it"):
            user.keep(written(tmp_path), user.parsed(["vocab_size=64"]))
        assert (tmp_path / user.BESIDE).read_text() == "["
