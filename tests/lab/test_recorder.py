"""The recorder: anyone's loop into a run folder."""

# ruff: noqa: N803 (capitals name the axes of a tensor)

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from tests.bench.kernels import of_bare, of_recorded
from tests.lab.small import rows_of, tiny
from tutor import readers
from tutor import tree as trees
from tutor.detectors import NO_DATA
from tutor.lab import Recorder
from tutor.lab.assembly import assemble
from tutor.lab.instruments import Meter
from tutor.lab.loop import train
from tutor.lab.model import DESIGN, GPT, build_model
from tutor.lab.recorder import described
from tutor.lab.trainer import Trainer
from tutor.run import Aggregation
from tutor.walk.chain import chain

pytestmark = pytest.mark.train


class TestOurOwnTraining:
    """Our network, trained by a loop that a person wrote, beside the lab's own training of it."""

    def by_hand(self, folder: Path, **changes: Any) -> None:
        recipe = assemble(tiny(**changes))
        settings, lab = recipe.settings, Trainer(recipe)  # for its batches, its probe and its validation
        model = lab.model = build_model(settings, recipe.tokenizer.size)
        named = list(model.named_parameters())
        optimizer = torch.optim.AdamW(
            [
                {"params": [p for _, p in named if p.ndim >= 2], "weight_decay": 0.1, "name": "decay"},
                {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0, "name": "no_decay"},
            ],
            betas=(settings.beta1, settings.beta2),
        )
        told = settings.model_dump() | {"schedule": "cosine"} | DESIGN
        with Recorder(folder, model, optimizer, settings=told, probe=lab.probe_loss) as recorder:
            for step in range(settings.steps):
                validated = lab.validate(step) if step % settings.val_every == 0 else None
                for group in optimizer.param_groups:
                    group["lr"] = recipe.schedule(step)
                total, token_losses, targets = 0.0, [], []
                for batch in lab.loader.step(step):
                    losses = lab.losses(batch)[0]
                    loss = losses.mean() / settings.accumulation
                    loss.backward()
                    total += loss.detach()
                    token_losses.append(losses)
                    targets.append(batch.y_BT)
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                recorder.step(
                    total, grad_norm=norm, token_losses=token_losses, targets=targets, val_loss=validated
                )

    @pytest.mark.parametrize("accumulation", [1, 2])
    def test_its_columns_are_the_labs(self, tmp_path: Path, accumulation: int):
        self.by_hand(tmp_path / "mine", accumulation=accumulation)
        train(assemble(tiny(accumulation=accumulation)), out=tmp_path / "lab")
        mine, labs = rows_of(tmp_path / "mine"), rows_of(tmp_path / "lab")
        alike = [
            "loss", "loss_ema", "reduced_loss", "lr", "grad_norm", "grad_norm_clipped", "grad_norm_rest",
            "param_norm", "param_norm_decay", "param_norm_no_decay", "update_norm", "adam_m_norm",
            "adam_v_norm", "adam_ratio_rms", "activation_norms", "worst_token_losses", "probe_loss",
            "val_loss",
        ]  # fmt: skip
        for one, other in zip(mine, labs, strict=True):
            for column in [column for column in alike if column in other]:
                was = other[column]
                assert one.get(column) == (was and pytest.approx(was, rel=2e-3)), (one["step"], column)
            for column in ("step", "clipped", "token_loss_hist", "skipped_steps"):
                assert one[column] == other[column], (one["step"], column)

    def test_its_manifest_is_the_labs(self, tmp_path: Path, tiny_run: Path):
        self.by_hand(tmp_path / "mine")
        mine, labs = (
            json.loads((folder / "manifest.json").read_text()) for folder in (tmp_path / "mine", tiny_run)
        )
        for key in ("dtype", "device", "vocab_size", "parameters", "groups", "initial", "batch", "schedule"):
            assert mine[key] == labs[key], key
        for setting in ("beta1", "beta2", "eps", "weight_decay", "grad_clip"):
            assert mine["settings"][setting] == labs["settings"][setting]
        run = readers.open_run(str(tmp_path / "mine"))
        assert run.remarks == ()

    def test_the_trees_answer_as_they_do_of_the_labs(self, tmp_path: Path):
        longer = {"steps": 120, "val_every": 20, "warmup_steps": 20}
        self.by_hand(tmp_path / "mine", **longer)
        train(assemble(tiny(**longer)), out=tmp_path / "lab")
        said = [
            {
                (tree, look.question): look.outcome
                for tree in ("phase-18", "phase-19")
                for stage in chain(readers.open_run(str(tmp_path / name)), trees.find(tree, checked=False))
                for look in stage.looks
            }
            for name in ("mine", "lab")
        ]
        assert said[0] == said[1]
        assert NO_DATA not in said[0].values()


VOCAB, LENGTH = 100, 16


class Loop:
    """A small loop such as people write; each part of it can be another."""

    def __init__(self, folder: Path, model: nn.Module | None = None, **more: Any):
        torch.manual_seed(0)
        self.model = model or GPT(VOCAB, LENGTH, 2, 16, 2)
        self.optimizer = more.pop("optimizer", torch.optim.AdamW)(self.model.parameters())
        self.forward = more.pop("forward", self.model)
        self.folder, self.scaler = folder, more.get("scaler")
        self.recorder = Recorder(folder, self.forward, self.optimizer, **more)

    def batch(self) -> torch.Tensor:
        return torch.randint(VOCAB, (2, LENGTH + 1))

    def losses(self) -> torch.Tensor:
        batch = self.batch()
        logits = self.forward(batch[:, :-1])[0].float()
        return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), reduction="none")

    def train(self, steps: int = 3, spoil: Callable[[int], float] = lambda step: 1.0) -> None:
        for step in range(steps):
            losses = self.losses() * spoil(step)
            loss = losses.mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.recorder.step(loss)

    def rows(self) -> list[dict]:
        self.recorder.close()
        return rows_of(self.folder)


class TestWhatIsGiven:
    def test_a_loss_alone(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        loop.train()
        for row in loop.rows():
            assert row.keys() >= {"loss", "lr", "grad_norm", "update_norm", "adam_m_norm", "activation_norms"}
            assert row.keys().isdisjoint({"token_loss_hist", "reduced_loss", "worst_tokens", "val_loss"})
            assert row["grad_norm"] == row["grad_norm_clipped"]
            assert row["clipped"] is False
            assert row["tokens_per_second"] > 0

    def test_without_the_norm_before_clipping_what_was_clipped_is_not_guessed(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", settings={"grad_clip": 0.5})
        for bound in (0.5, 1e9):
            loss = loop.losses().mean() * 0.01 if bound > 1 else loop.losses().mean()
            loss.backward()
            nn.utils.clip_grad_norm_(loop.model.parameters(), bound)
            loop.optimizer.step()
            loop.optimizer.zero_grad()
            loop.recorder.step(loss)
        clipped, whole = loop.rows()
        assert clipped["clipped"]
        assert clipped["grad_norm_clipped"] == pytest.approx(0.5, rel=1e-4)
        assert clipped.keys().isdisjoint({"grad_norm", "grad_norm_rest"})
        assert not whole["clipped"]
        assert whole["grad_norm"] < 0.5

    def test_numbers_of_its_own_and_plain_ones(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        loop.losses().mean().backward()
        loop.optimizer.step()
        loop.recorder.step(2.5, grad_norm=1e6, accuracy=0.5, perplexity=torch.tensor(12.0))
        (row,) = loop.rows()
        assert (row["loss"], row["accuracy"], row["perplexity"], row["grad_norm"]) == (2.5, 0.5, 12.0, 1e6)
        assert row["clipped"]

    def test_what_a_value_stands_for_is_declared(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        loop.recorder.declare(loss={"over": "window", "shows_nan": False})
        loop.train()
        loop.recorder.close()
        assert readers.read(tmp_path / "run").aggregation("loss") == Aggregation("window", shows_nan=False)

    def test_a_validation_goes_into_the_row_just_taken(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", flush_rows=1)
        loop.recorder.measure(val_loss=9.0)
        for step in range(4):
            loop.train(1)
            if step:
                loop.recorder.measure(val_loss=torch.tensor(float(step)))
        assert [row["val_loss"] for row in loop.rows()] == [9, 1, 2, 3]

    def test_a_number_that_changes_in_place_is_kept_as_it_was(self, tmp_path: Path):
        loop, total = Loop(tmp_path / "run"), torch.zeros(())
        for _ in range(3):
            total += 1
            loop.losses().mean().backward()
            loop.optimizer.step()
            loop.recorder.step(total, seen=total)
        assert [(row["loss"], row["seen"]) for row in loop.rows()] == [(1, 1), (2, 2), (3, 3)]

    def test_a_probe_is_measured_before_the_update_and_in_evaluation(self, tmp_path: Path):
        model = GPT(VOCAB, LENGTH, 2, 16, 2)
        modes = []

        def probe() -> torch.Tensor:
            modes.append((model.training, torch.is_grad_enabled()))
            return model(torch.zeros(1, 4, dtype=torch.long))[0].mean()

        loop = Loop(tmp_path / "run", model, probe=probe, probe_every=2)
        before = float(probe().detach())
        modes.clear()
        loop.train(5)
        rows = loop.rows()
        assert ["probe_loss" in row for row in rows] == [True, False, True, False, True]
        assert rows[0]["probe_loss"] == pytest.approx(before, rel=1e-6)
        assert modes == [(False, False)] * 3
        assert model.training
        assert rows[0]["activation_norms"] == pytest.approx(rows[1]["activation_norms"], rel=0.2)

    def test_the_same_batch_has_the_same_hash(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        batches = [torch.randint(VOCAB, (2, LENGTH + 1)) for _ in range(2)]
        for number in (0, 1, 0):
            loop.batch = lambda number=number: batches[number]
            loop.train(1)
        first, second, third = (row["batch_hash"] for row in loop.rows())
        assert first == third != second
        assert len(first) == 12


class TestModels:
    def test_one_without_layers_of_a_kind_and_without_tokens(self, tmp_path: Path):
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        with Recorder(tmp_path / "run", model, optimizer) as recorder:
            for _ in range(3):
                loss = model(torch.randn(5, 4)).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                recorder.step(loss)
        for row in rows_of(tmp_path / "run"):
            assert row["update_norm"] > 0
            assert row.keys().isdisjoint({"activation_norms", "adam_m_norm", "grad_norm_rest"})
            assert "tokens_per_second" not in row
        run = readers.open_run(str(tmp_path / "run"))
        assert run.manifest.vocab_size is None
        assert run.manifest.batch.rows == 5

    def test_layers_by_name(self, tmp_path: Path):
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with Recorder(tmp_path / "run", model, optimizer, layers=["0", "2"]) as recorder:
            given = torch.randn(5, 4)
            out = model(given)
            out.sum().backward()
            optimizer.step()
            recorder.step(1.0)
        (row,) = rows_of(tmp_path / "run")
        assert len(row["activation_norms"]) == 3
        assert row["activation_norms"][::2] == pytest.approx([float(given.norm()), float(out.norm())])
        with pytest.raises(ValueError, match="no module '7'"):
            Recorder(tmp_path / "other", model, optimizer, layers=["7"])

    def test_frozen_parameters(self, tmp_path: Path):
        model = GPT(VOCAB, LENGTH, 2, 16, 2)
        model.tokens.requires_grad_(False)
        loop = Loop(tmp_path / "run", model)
        loop.train()
        for row in loop.rows():
            assert row["grad_norm_rest"] == pytest.approx(row["grad_norm"])
            assert row["adam_ratio_rms"] < 1.5

    def test_validation_in_between_does_not_count(self, tmp_path: Path):
        norms = []
        for validates in (False, True):
            loop = Loop(tmp_path / str(validates))
            for _ in range(3):
                loop.train(1)
                for training in (True, False) if validates else ():  # some forget to say that they evaluate
                    loop.model.train(training)
                    with torch.no_grad():
                        loop.model(torch.zeros(8, LENGTH, dtype=torch.long))
                loop.model.train()
            norms.append([row["activation_norms"] for row in loop.rows()])
        assert norms[0] == norms[1]

    def test_layers_that_are_computed_again_in_backward(self, tmp_path: Path):
        from torch.utils.checkpoint import checkpoint

        class Checkpointed(GPT):
            reentrant = True

            def forward(self, x_BT: torch.Tensor) -> tuple[torch.Tensor, list]:
                stream = self.tokens(x_BT)
                for block in self.blocks:
                    stream = checkpoint(block, stream, use_reentrant=self.reentrant)
                return F.linear(self.norm(stream), self.tokens.weight), []

        norms = []
        for reentrant in (True, False):
            torch.manual_seed(0)
            model = Checkpointed(VOCAB, LENGTH, 2, 16, 2)
            model.reentrant = reentrant
            loop = Loop(tmp_path / str(reentrant), model)
            loop.train(2)
            norms.append([row["activation_norms"] for row in loop.rows()])
        assert norms[0] == norms[1]
        assert len(norms[0][0]) == 3

    @pytest.mark.slow
    @pytest.mark.parametrize("outside", [True, False])
    def test_compiled(self, tmp_path: Path, outside: bool):
        plain = Loop(tmp_path / "plain")
        plain.train(4)
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = GPT(VOCAB, LENGTH, 2, 16, 2)
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        drawn = torch.get_rng_state()
        loop = Loop(tmp_path / "run", model, forward=compiled if outside else model)
        loop.forward = compiled
        torch.set_rng_state(drawn)
        loop.train(4)
        for ours, one in zip(loop.rows(), plain.rows(), strict=True):
            assert ours.keys() == one.keys()
            assert ours["activation_norms"] == pytest.approx(one["activation_norms"], rel=1e-3)
            assert ours["batch_hash"] == one["batch_hash"]

    def test_nothing_waits_for_the_device(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """On the meta device a value can't be had: whatever asks for one fails."""
        monkeypatch.setattr(described, "initial_weights", lambda model: {})
        with torch.device("meta"):
            loop = Loop(tmp_path / "run", settings={"grad_clip": 1.0}, flush_rows=1000)
            loop.recorder._open["flush_seconds"] = math.inf
            for _ in range(3):
                losses = loop.losses()
                losses.mean().backward()
                norm = nn.utils.clip_grad_norm_(loop.model.parameters(), 1.0)
                loop.optimizer.step()
                loop.recorder.step(
                    losses.mean(), token_losses=losses, targets=losses.long(), grad_norm=norm, val_loss=2.0
                )
            with pytest.raises(NotImplementedError):
                loop.recorder._meter.read()
        monkeypatch.setattr(Meter, "read", lambda meter: [])
        loop.recorder.close()


class TestOptimizers:
    @pytest.mark.parametrize(
        "options", [{"foreach": False}, {"foreach": True}, {"fused": True}, {"lr": torch.tensor(1e-2)}]
    )
    def test_each_way_to_step_measures_alike(self, tmp_path: Path, options: dict[str, Any]):
        loops = [
            Loop(tmp_path / name, optimizer=lambda p, more=more: torch.optim.AdamW(p, **{"lr": 1e-2, **more}))
            for name, more in (("plain", {}), ("other", options))
        ]
        rows = []
        for loop in loops:
            torch.manual_seed(0)
            loop.train()
            rows.append(loop.rows())
        for one, other in zip(*rows, strict=True):
            for column in one.keys() - {"tokens_per_second"}:
                assert other[column] == pytest.approx(one[column], rel=1e-3), column

    def test_several(self, tmp_path: Path):
        model = GPT(VOCAB, LENGTH, 2, 16, 2)
        matrices = torch.optim.SGD([p for p in model.parameters() if p.ndim > 1], lr=0.1)
        vectors = torch.optim.AdamW(
            [{"params": [p for p in model.parameters() if p.ndim < 2], "name": "vectors"}], lr=0.01
        )
        with Recorder(tmp_path / "run", model, [matrices, vectors]) as recorder:
            for step in range(3):
                loss = model(torch.randint(VOCAB, (2, LENGTH)))[0].square().mean()
                loss.backward()
                gradient = math.hypot(*(float(p.grad.norm()) for p in model.parameters()))
                matrices.step()
                if step < 2:
                    vectors.step()
                recorder.step(loss)
                model.zero_grad()
        rows = rows_of(tmp_path / "run")
        for row in rows:
            assert row["lr"] == 0.1
            assert row["param_norm"] == pytest.approx(
                math.hypot(row["param_norm_0"], row["param_norm_vectors"])
            )
            assert row["adam_m_norm"] > 0
        assert rows[-1]["grad_norm"] == pytest.approx(gradient, rel=1e-4)

    def test_groups_of_one_name_are_told_apart(self, tmp_path: Path):
        one, two = nn.Linear(2, 2), nn.Linear(2, 2)
        optimizers = [torch.optim.SGD([{"params": m.parameters(), "name": "a"}], lr=1.0) for m in (one, two)]
        model = nn.ModuleList([one, two])
        with Recorder(tmp_path / "run", model, optimizers) as recorder:
            for optimizer in optimizers:
                optimizer.step()
            recorder.step(1.0)
        (row,) = rows_of(tmp_path / "run")
        assert row["param_norm"] == pytest.approx(math.hypot(row["param_norm_a"], row["param_norm_a_1"]))

    def test_the_rate_is_the_one_that_the_update_took(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", optimizer=lambda p: torch.optim.SGD(p, lr=1.0))
        schedule = torch.optim.lr_scheduler.ExponentialLR(loop.optimizer, 0.5)
        for _ in range(3):
            loop.losses().mean().backward()
            loop.optimizer.step()
            schedule.step()
            loop.recorder.step(1.0)
        assert [row["lr"] for row in loop.rows()] == [1.0, 0.5, 0.25]

    def test_a_row_for_many_updates_is_that_of_the_last(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", optimizer=lambda p: torch.optim.SGD(p, lr=0.1))
        for step in range(6):
            loop.optimizer.zero_grad()
            loss = loop.losses().mean()
            loss.backward()
            before = [weight.detach().clone() for weight in loop.model.parameters()]
            loop.optimizer.step()
            if step % 3 == 2:
                loop.recorder.step(loss, step=step)
        moved = math.hypot(
            *(float((w - b).norm()) for w, b in zip(loop.model.parameters(), before, strict=True))
        )
        rows = loop.rows()
        assert [row["step"] for row in rows] == [2, 5]
        assert rows[1]["update_norm"] == pytest.approx(moved, rel=1e-4)
        assert readers.open_run(str(loop.folder)).manifest.batch.accumulation == 1


class TestScaler:
    """fp16: a step is skipped as its gradient isn't finite."""

    def rows(self, folder: Path, *, fused: bool, unscale: bool) -> list[dict]:
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        loop = Loop(folder, scaler=scaler, optimizer=lambda p: torch.optim.AdamW(p, lr=1e-2, fused=fused))
        for step in range(4):
            with torch.autocast("cpu", torch.float16):
                loss = loop.losses().mean()
            scaler.scale(loss * (math.inf if step == 2 else 1.0)).backward()
            norm = None
            if unscale:
                scaler.unscale_(loop.optimizer)
                norm = nn.utils.clip_grad_norm_(loop.model.parameters(), 1.0)
            scaler.step(loop.optimizer)
            scaler.update()
            loop.recorder.step(loss, grad_norm=norm)
            loop.optimizer.zero_grad()
        assert readers.open_run(str(folder)).manifest.precision == "fp16" if loop.rows() else None
        return rows_of(folder)

    @pytest.mark.parametrize("unscale", [True, False])
    @pytest.mark.parametrize("fused", [True, False])
    def test_a_skipped_step_is_a_row(self, tmp_path: Path, fused: bool, unscale: bool):
        rows = self.rows(tmp_path / "run", fused=fused, unscale=unscale)
        assert [row["loss_scale"] for row in rows] == [1024, 1024, 1024, 512]
        assert [row["skipped_steps"] for row in rows] == [0, 0, 1, 1]
        assert rows[2]["update_norm"] == 0
        assert not math.isfinite(float(rows[2]["grad_norm"]))
        assert all(row["update_norm"] > 0 for row in (rows[0], rows[1], rows[3]))
        assert all(0 < row["grad_norm"] < 50 for row in (rows[0], rows[1], rows[3]))  # not times the scale
        assert rows[0]["adam_m_norm"] == pytest.approx(0.1 * rows[0]["grad_norm_clipped"], rel=1e-3)


class TestDtype:
    @pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
    def test_autocast_is_seen(self, tmp_path: Path, dtype: str):
        loop = Loop(tmp_path / "run")
        kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
        with torch.autocast("cpu", kind, enabled=dtype != "fp32"):
            loop.train(1)
        assert ("skipped_steps" in loop.rows()[0]) == (dtype != "fp16")
        assert readers.open_run(str(loop.folder)).manifest.precision == dtype

    def test_that_of_the_parameters(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", GPT(VOCAB, LENGTH, 2, 16, 2).bfloat16())
        loop.train(2)
        assert loop.rows()[0]["activation_norms"][0] > 0
        assert readers.open_run(str(loop.folder)).manifest.precision == "bf16"

    def test_what_is_given_wins(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", dtype="bf16", vocab_size=7, name="mine")
        loop.train(1)
        loop.rows()
        run = readers.open_run(str(loop.folder))
        assert (run.manifest.precision, run.manifest.vocab_size, run.name) == ("bf16", 7, "mine")


class TestEndings:
    def test_a_nan_is_logged_and_training_goes_on(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        loop.train(4, spoil=lambda step: math.nan if step == 2 else 1.0)
        rows = loop.rows()
        assert [row["loss"] for row in rows[2:]] == ["NaN", "NaN"]  # the weights are NaN from there on
        assert rows[2]["grad_norm"] == "NaN"
        assert rows[3]["loss_ema"] == rows[1]["loss_ema"]

    def test_closing_twice(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        loop.train()
        assert len(loop.rows()) == len(loop.rows()) == 3

    def test_hooks_are_gone_once_it_is_closed(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        loop.recorder.close()
        assert not loop.model._forward_hooks
        assert not loop.model.blocks[0]._forward_hooks
        assert not loop.optimizer._optimizer_step_pre_hooks
        assert not (tmp_path / "run").exists()

    def test_what_waits_is_written_when_it_is_asked_for(self, tmp_path: Path):
        loop = Loop(tmp_path / "run", flush_rows=100)
        loop.recorder.flush()
        loop.train(3)
        loop.recorder.flush()
        assert [row["step"] for row in rows_of(tmp_path / "run")] == [0, 1, 2]

    def test_a_crash_in_the_loop_leaves_whole_rows(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")

        def crash() -> None:
            with loop.recorder:
                loop.train(3)
                raise RuntimeError("out of memory")

        with pytest.raises(RuntimeError, match="out of memory"):
            crash()
        assert [row["step"] for row in rows_of(tmp_path / "run")] == [0, 1, 2]

    def test_a_folder_that_is_there_is_refused_before_training(self, tmp_path: Path):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "notes.txt").touch()
        with pytest.raises(ValueError, match="never overwritten"):
            Loop(tmp_path / "run")

    def test_what_is_no_number_and_a_probe_that_is_no_function_are_refused_in_words(self, tmp_path: Path):
        loop = Loop(tmp_path / "run")
        losses = loop.losses()
        losses.mean().backward()
        loop.optimizer.step()
        with pytest.raises(ValueError, match=r"loss: one number is wanted, .* take its mean"):
            loop.recorder.step(torch.ones(2, 3))
        with pytest.raises(ValueError, match="grad_norm: a number is wanted"):
            loop.recorder.step(1.0, grad_norm="x")
        loop.recorder.step(1.0)
        loop.recorder.close()
        with pytest.raises(TypeError, match="probe: a function"):
            Loop(tmp_path / "other", probe=torch.ones(2))

    def test_settings_of_any_kind_are_kept_and_never_end_training(self, tmp_path: Path):
        around: dict[str, Any] = {"depth": 2}
        around["itself"] = around
        odd = {("block", 0): 0.1, 3: {None: [1, (2,)]}, "path": Path("data"), "around": around}
        loop = Loop(tmp_path / "run", settings=odd)
        loop.train(1)
        loop.recorder.close()
        kept = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
        assert (kept["('block', 0)"], kept["3"], kept["path"]) == (0.1, {"None": [1, [2]]}, "data")
        assert kept["around"] == {"depth": 2, "itself": "..."}

    def test_going_on(self, tmp_path: Path):
        first = Loop(tmp_path / "run")
        first.train(5)
        first.recorder.close()
        second = Loop(tmp_path / "run", resume=True)
        second.losses().mean().backward()
        second.optimizer.step()
        second.recorder.step(1.0, step=3)
        second.train(2)
        assert [row["step"] for row in second.rows()] == [0, 1, 2, 3, 4, 5]


def test_a_gpu_is_asked_for_little_more_than_the_bare_step():
    """Each kernel takes the host longer to ask for than a GPU to do, where a step is as short as here; what
    is copied together to have few of them is read and written again."""
    recorded, bare = of_recorded(), of_bare()
    assert bare.kernels < recorded.kernels < 1.2 * bare.kernels
    assert bare.size < recorded.size < 1.4 * bare.size
