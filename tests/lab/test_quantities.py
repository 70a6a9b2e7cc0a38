"""Quantities on small arrays, over any model and optimizer, and under recipes that are hard to measure."""

# ruff: noqa: N803, N806 (capitals name the axes of a tensor)

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.lab.small import tiny
from tutor.lab import quantities as room
from tutor.lab.assembly import assemble
from tutor.lab.instruments import BeforeUpdate, Instruments, groups_of
from tutor.lab.model import build_model
from tutor.lab.optimizer import Named, Optimizer
from tutor.lab.quantities import quantities
from tutor.lab.quantities.activation_norms import activation_norms
from tutor.lab.quantities.adam_moments import adam_moments
from tutor.lab.quantities.gradient_norm import clipped_gradient_norm
from tutor.lab.quantities.group import Group, Moments
from tutor.lab.quantities.initial_weights import initial_weights
from tutor.lab.quantities.norms import norm
from tutor.lab.quantities.observation import Observation
from tutor.lab.quantities.parameter_norm import parameter_norm
from tutor.lab.quantities.token_histogram import token_histogram
from tutor.lab.quantities.update_norm import update_norm
from tutor.lab.quantities.worst_tokens import worst_tokens
from tutor.lab.recipe import THREADS, Recipe, masked_mean
from tutor.lab.trainer import Trainer
from tutor.settings import Settings


def group(name: str, before: list[Tensor], **parts: Any) -> Group:
    return Group(name, before, **({"after": before, "gradients": [], "moments": None} | parts))


class TestKnownAnswers:
    def test_norms_by_group_and_over_all(self):
        seen = Observation(groups=[group("a", [torch.tensor([3.0])]), group("b", [torch.full((4, 4), 1.0)])])
        norms = {name: value.item() for name, value in parameter_norm(seen).items()}
        assert norms == {"param_norm": 5.0, "param_norm_a": 3.0, "param_norm_b": 4.0}

    def test_the_update_is_what_moved(self):
        before, after = (
            [torch.zeros(2), torch.ones(2, 2)],
            [torch.tensor([3.0, 0.0]), torch.full((2, 2), 3.0)],
        )
        seen = Observation(groups=[group("a", before, after=after)])
        assert update_norm(seen)["update_norm"].item() == 5.0

    def test_moments_and_their_ratio(self):
        # after one update m = 0.1 g and v = 0.05 g^2, corrected to g^2: each coordinate has the ratio 1
        g = torch.tensor([[2.0, -1.0], [0.5, 0.0]])
        one = Moments([0.1 * g], [0.05 * g.square()], [torch.tensor(1.0)], [1], beta2=0.95, eps=1e-8)
        found = adam_moments(Observation(groups=[group("a", [g], gradients=[g], moments=one)]))
        assert found["adam_m_norm"].item() == pytest.approx(0.1 * math.sqrt(5.25))
        assert found["adam_v_norm"].item() == pytest.approx(0.05 * math.sqrt(16 + 1 + 0.0625))
        assert found["adam_ratio_rms"].item() == pytest.approx(math.sqrt(3 / 4))

    def test_activations_are_over_micro_batches(self):
        streams = [[torch.tensor(9.0), torch.tensor(16.0)], [torch.zeros(())] * 2]
        assert activation_norms(Observation(streams=streams))["activation_norms"].tolist() == [5.0, 0.0]

    def test_the_histogram_ends_at_twelve_nats(self):
        losses = torch.tensor([0.0, 0.4, 0.5, 11.9, 12.5, math.inf, math.nan])
        counts = token_histogram(Observation(losses=losses))["token_loss_hist"].tolist()
        assert (counts[0], counts[1], counts[-1], sum(counts)) == (2, 1, 4, 7)

    def test_fewer_tokens_than_five(self):
        worst = worst_tokens(Observation(losses=torch.tensor([1.0, 2.0]), targets=torch.tensor([7, 9])))
        assert worst["worst_tokens"].tolist() == [9, 7]

    def test_nothing_has_the_norm_zero(self):
        assert norm([]).item() == 0
        assert clipped_gradient_norm(Observation(groups=[group("a", [])]))["grad_norm_clipped"].item() == 0

    def test_norms_of_half_precision_are_summed_in_fp32(self):
        assert norm([torch.full((70_000,), 1.0, dtype=torch.float16)]).item() == pytest.approx(
            264.575, rel=1e-4
        )

    def test_masked_mean(self):
        losses, mask = torch.tensor([[1.0, 2.0, 6.0]]), torch.tensor([[1, 1, 0]])
        assert masked_mean(losses, None).item() == 3.0
        assert masked_mean(losses, mask).item() == 1.5
        assert math.isnan(masked_mean(losses, torch.zeros_like(mask)).item())

    def test_initial_weights_name_shape_and_kind(self):
        found = initial_weights(build_model(tiny(), 300))
        assert found["tokens.weight"]["kind"] == "embedding"
        assert found["tokens.weight"]["std"] == pytest.approx(0.02, rel=0.05)
        assert found["blocks.0.widen.weight"] | {"mean": 0, "std": 0} == {
            "shape": [64, 16], "mean": 0, "std": 0, "kind": "linear",
        }  # fmt: skip
        assert found["blocks.0.widen.bias"]["kind"] == "bias"
        assert found["norm.weight"] == {"shape": [16], "mean": 1.0, "std": 0.0, "kind": "norm"}
        assert list(found) == [name for name, _ in build_model(tiny(), 300).named_parameters()]


class TestRegistry:
    def test_each_measures_the_columns_it_declares(self):
        trainer = Trainer(assemble(tiny(dtype="fp16")))
        trainer.step(0)
        (row,) = trainer.instruments.read()
        groups = [group(one.name, []) for one in trainer.optimizer.groups]
        declared = [column for one in quantities() for column in one.columns_of(Observation(groups=groups))]
        assert len(declared) == len(set(declared))
        assert set(row) == set(declared)
        assert all(one.doc for one in quantities())

    def test_a_new_quantity_is_one_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "largest_loss.py").write_text(
            "from tutor.lab.quantities import quantity\n"
            "@quantity(needs=('losses',), columns=('largest_loss',))\n"
            "def largest_loss(seen):\n"
            "    '''The largest loss.'''\n"
            "    return {'largest_loss': seen.losses.max()}\n"
        )
        monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
        monkeypatch.setattr(room, "_REGISTRY", dict(room._REGISTRY))
        room.quantities.cache_clear()
        try:
            trainer = Trainer(assemble(tiny()))
            trainer.step(0)
            (row,) = trainer.instruments.read()
        finally:
            room.quantities.cache_clear()
        assert row["largest_loss"] == row["worst_token_losses"][0]

    def test_what_a_step_does_not_show_is_null(self):
        parameter = nn.Parameter(torch.tensor([3.0]))
        parameter.grad = torch.tensor([4.0])
        (row,) = watch(torch.optim.SGD([parameter], lr=0.5), steps=1)
        assert (row["param_norm"], row["grad_norm_clipped"], row["update_norm"]) == (3.0, 4.0, 2.0)
        assert row["adam_ratio_rms"] is None
        assert row["loss"] is None
        assert row["loss_scale"] is None


def watch(optimizer: torch.optim.Optimizer, steps: int) -> list[dict]:
    """The rows of a stranger's loop that shows its optimizer and nothing of its losses."""
    instruments, one = Instruments(), torch.ones(())
    for _ in range(steps):
        instruments.before_update(
            BeforeUpdate(optimizer, grad_norm=one, clipped=one < 1, probe=lambda: torch.zeros(()))
        )
        optimizer.step()
        instruments.updated(None)
    return instruments.read()


class TestAnyModel:
    """A stranger's loop: ordinary parameters, torch's AdamW, its own model."""

    def loop(self, groups: Callable[[nn.Module], list[dict]], steps: int = 3) -> tuple[list[dict], nn.Module]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        optimizer = torch.optim.AdamW(groups(model), lr=0.1, betas=(0.9, 0.95))
        instruments = Instruments()
        for _ in range(steps):
            x_BTC, y_BT = torch.randn(2, 5, 4), torch.randint(3, (2, 5))
            hidden = [x_BTC, model(x_BTC)]
            losses = nn.functional.cross_entropy(hidden[-1].flatten(0, 1), y_BT.flatten(), reduction="none")
            loss = losses.mean()
            loss.backward()
            before = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            instruments.forward(hidden, losses, y_BT, loss)
            instruments.before_update(
                BeforeUpdate(optimizer, grad_norm=before, clipped=before > 0.1, probe=lambda loss=loss: loss)
            )
            optimizer.step()
            instruments.updated(None)
            optimizer.zero_grad()
        return instruments.read(), model

    def test_many_tensors_a_group(self):
        rows, model = self.loop(
            lambda model: [
                {"params": [p for p in model.parameters() if p.ndim == 2], "name": "matrices"},
                {"params": [p for p in model.parameters() if p.ndim == 1], "weight_decay": 0.0},
            ]
        )
        assert len(rows) == 3
        for row in rows:
            assert row["loss"] == pytest.approx(row["reduced_loss"])
            assert row["param_norm"] == pytest.approx(
                math.hypot(row["param_norm_matrices"], row["param_norm_1"])
            )
            assert row["grad_norm_clipped"] <= 0.1001
            assert len(row["activation_norms"]) == 2
        assert rows[0]["adam_ratio_rms"] == pytest.approx(1.0, abs=0.02)  # v is g^2 after one update
        assert rows[0]["adam_m_norm"] == pytest.approx(0.1 * rows[0]["grad_norm_clipped"], rel=1e-4)
        assert rows[1]["param_norm"] != rows[0]["param_norm"]
        kinds = [weights["kind"] for weights in initial_weights(model).values()]
        assert kinds == ["linear", "bias", "linear", "bias"]

    def test_flat_and_plain_parameters_measure_alike(self):
        model, other = build_model(tiny(), 300), build_model(tiny(), 300)
        flat = Optimizer(model, tiny())
        by_group = [
            [p for p in other.parameters() if p.ndim >= 2],
            [p for p in other.parameters() if p.ndim < 2],
        ]
        plain = torch.optim.AdamW(
            [
                {"params": by_group[0], "weight_decay": 0.1, "name": "decay"},
                {"params": by_group[1], "weight_decay": 0.0, "name": "no_decay"},
            ],
            lr=1e-3,
            betas=(0.9, 0.95),
        )
        for network in (model, other):
            logits, _ = network(torch.arange(32).view(2, 16))
            nn.functional.cross_entropy(logits.flatten(0, 1), torch.arange(32)).backward()
        (ours,), (theirs,) = watch(flat.adam, 1), watch(plain, 1)
        for column, value in theirs.items():
            assert ours[column] == (None if value is None else pytest.approx(value, rel=1e-3)), column

    def test_five_groups(self):
        rows, _ = self.loop(lambda model: [{"params": [p]} for p in model.parameters()] + [{"params": []}])
        norms = [rows[0][f"param_norm_{number}"] for number in range(5)]
        assert norms[4] == 0
        assert rows[0]["param_norm"] == pytest.approx(math.hypot(*norms))


class Amnesiac(Optimizer):
    """An optimizer that is built anew for every step."""

    def set_lr(self, lr: float) -> None:
        self.adam = self.fresh_adam()
        super().set_lr(lr)


def one_group(named: Named, settings: Settings) -> list[tuple[str, float, Named]]:
    return [("all", settings.weight_decay, named)]


def trained(recipe: Recipe, steps: int = 3) -> tuple[Trainer, list[dict]]:
    trainer = Trainer(recipe)
    for step in range(steps):
        trainer.step(step)
    return trainer, trainer.instruments.read()


@pytest.fixture(params=["fp32", "fp16"])
def healthy(request: pytest.FixtureRequest) -> Recipe:
    return assemble(tiny(dtype=request.param, accumulation=2))


class TestRecipesThatAreHardToMeasure:
    def test_one_group(self, healthy: Recipe):
        _, rows = trained(replace(healthy, optimizer=lambda m, s: Optimizer(m, s, one_group)))
        assert rows[1]["param_norm"] == rows[1]["param_norm_all"]
        assert "param_norm_decay" not in rows[1]

    def test_a_frozen_model_stays_as_it_is_and_has_no_gradient(self, healthy: Recipe):
        def frozen(settings: Settings, vocab: int) -> nn.Module:
            return healthy.model(settings, vocab).requires_grad_(False)

        trainer, rows = trained(replace(healthy, model=frozen))
        untouched = build_model(healthy.settings, healthy.tokenizer.size)
        for ours, other in zip(trainer.model.parameters(), untouched.parameters(), strict=True):
            assert torch.equal(ours, other)
        for row in rows:
            assert row["grad_norm"] == row["grad_norm_clipped"] == row["update_norm"] == 0
            assert row["adam_m_norm"] is None
            assert row["loss"] > 0

    def test_an_optimizer_rebuilt_every_step_has_a_first_steps_moments(self, healthy: Recipe):
        _, rows = trained(replace(healthy, optimizer=Amnesiac))
        beta1 = healthy.settings.beta1
        for row in rows:
            assert row["adam_m_norm"] == pytest.approx((1 - beta1) * row["grad_norm_clipped"], rel=1e-3)

    def test_an_empty_mask_shows_in_what_was_trained_on_alone(self):
        healthy = assemble(tiny())

        def empty(losses_BT: Tensor, mask_BT: Tensor | None) -> Tensor:
            return masked_mean(losses_BT, torch.zeros_like(losses_BT))

        _, rows = trained(replace(healthy, reduce=empty), steps=1)
        assert math.isnan(rows[0]["reduced_loss"])
        assert math.isnan(rows[0]["grad_norm"])
        assert rows[0]["loss"] == pytest.approx(math.log(512), abs=0.5)

    def test_a_summed_loss_is_the_mean_times_the_tokens(self):
        summed = replace(assemble(tiny()), reduce=lambda losses_BT, mask_BT: losses_BT.sum())
        _, rows = trained(summed, steps=1)
        assert rows[0]["reduced_loss"] == pytest.approx(2 * 16 * rows[0]["loss"], rel=1e-5)

    def test_accumulation_without_its_division_trains_on_the_sum(self):
        healthy = assemble(tiny(accumulation=3))
        _, (right,) = trained(healthy, steps=1)
        _, (wrong,) = trained(replace(healthy, accumulate=lambda scalar, count: scalar), steps=1)
        assert right["reduced_loss"] == pytest.approx(right["loss"], rel=1e-5)
        assert wrong["reduced_loss"] == pytest.approx(3 * wrong["loss"], rel=1e-5)
        assert wrong["grad_norm"] == pytest.approx(3 * right["grad_norm"], rel=1e-4)


class TestThreads:
    def test_the_number_is_settled_before_the_run(self):
        assert assemble(tiny(threads=None)).settings.threads == THREADS
        assert assemble(tiny(threads=3)).settings.threads == 3

    def test_two_threads_give_the_same_bits_twice(self):
        rows = [trained(assemble(tiny(threads=2, n_embd=64)))[1] for _ in range(2)]
        assert rows[0] == rows[1]


def test_an_optimizer_that_never_stepped_has_no_moments():
    optimizer = Optimizer(build_model(tiny(), 300), tiny())
    assert not any(
        group.moments or group.with_moments for group in groups_of(optimizer.adam, optimizer.flats)
    )
