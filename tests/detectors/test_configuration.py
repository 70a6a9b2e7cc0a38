"""Detectors of tree phase-18, on small arrays with known answers."""

import math
import random
from collections.abc import Mapping
from typing import Any

import pytest

from tests.conftest import make_run, numbers
from tutor.detectors import NO_DATA, NOT_YET, Finding, apply
from tutor.lab.schedule import cosine
from tutor.settings import build

HOLES = [None, math.nan, math.inf]


def judged(name: str, manifest: Mapping[str, Any] | None = None, **columns: list) -> Finding:
    """What the detector finds, by the shipped tree's numbers."""
    return apply(name, make_run(columns, manifest), numbers(name, "phase-18"))


def falling(rows: int, top: float = 6.2, to: float = 2.0) -> list[float]:
    return [top + (to - top) * i / (rows - 1) for i in range(rows)]


class TestInitialLoss:
    """ln 512 is 6.238: within 0.5 of it is near, 1.76 above and 2.24 below are the bounds."""

    DRAWN = {
        "vocab_size": 512,
        "initial": {"w": {"kind": "linear", "shape": [4, 4], "mean": 0.0, "std": 0.02}},
    }

    @pytest.mark.parametrize(
        ("first", "outcome"),
        [(6.24, "near"), (6.73, "near"), (6.75, "off"), (7.99, "off"), (8.01, "above"), (5.7, "off"),
         (4.01, "off"), (3.98, "below"), (math.nan, "non-finite"), (math.inf, "non-finite")],
    )  # fmt: skip
    def test_against_what_knows_nothing(self, first: float, outcome: str):
        found = judged("initial_loss", self.DRAWN, loss=[first, 1.0])
        assert (found.outcome, found.step) == (outcome, 0)

    def test_for_another_vocabulary(self):
        assert judged("initial_loss", {"vocab_size": 50_257}, loss=[10.9, 9.0]).outcome == "near"
        assert judged("initial_loss", {"vocab_size": 50_257}, loss=[12.7, 9.0]).outcome == "above"

    def test_weights_that_the_manifest_does_not_hold_may_have_been_loaded_on_purpose(self):
        assert judged("initial_loss", {"vocab_size": 512}, loss=[2.0, 1.0]).outcome == "loaded"

    @pytest.mark.parametrize(
        ("manifest", "columns", "missing"),
        [
            ({}, {"loss": [6.2]}, "vocab_size"),
            ({"vocab_size": 1}, {"loss": [6.2]}, "vocab_size"),
            ({"vocab_size": 512}, {"loss": [6.2], "step": [2]}, "loss[0]"),
            ({"vocab_size": 512}, {"grad_norm": [6.2]}, "loss"),
        ],
    )
    def test_no_data(self, manifest: dict, columns: dict, missing: str):
        found = judged("initial_loss", manifest, **columns)
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, [missing])

    BELOW = (-0.002, -0.01, -0.05, -0.1, -0.11, -0.12)

    def test_a_cross_entropy_below_0(self):
        found = judged("initial_loss", {"vocab_size": 512}, loss=list(self.BELOW))
        assert (found.outcome, found.step, found.facts["lowest"], found.facts["count"]) == (
            "negative",
            5,
            -0.12,
            6,
        )
        deeper = [20 * one for one in self.BELOW]
        assert judged("initial_loss", {}, loss=deeper, accuracy=[0.1] * 6).outcome == "negative"
        right = [0.5 + row / 50 for row in range(20)]  # what brings it down tells classes apart
        field = [-71.8 - row / 40 for row in range(20)]
        assert judged("initial_loss", {}, loss=field, accuracy=right).outcome == NO_DATA
        falls = [-71.8 - 5 * row for row in range(20)]
        assert judged("initial_loss", {}, loss=falls, accuracy=right[::-1]).outcome == "negative"

    def test_one_beside_an_accuracy_that_comes_to_rest_is_another_loss(self):
        """A hinge with a Wasserstein distance, whose accuracy has nothing left to rise."""
        loss = [-1.15, -4.98, -5.37, -5.45, -5.51, -5.58, -5.63, -5.6, -5.7, -5.68]
        right = [0.918, 0.978, 0.984, 0.988, 0.987, 0.986, 0.984, 0.986, 0.986, 0.985]
        assert judged("initial_loss", {}, loss=loss, accuracy=right).outcome == NO_DATA
        wrong = [10.2 + row / 100 for row in range(10)]  # in percent, and hardly more than a guess among ten
        assert judged("initial_loss", {}, loss=loss, accuracy=wrong[::-1]).outcome == "negative"
        said = judged("initial_loss", {}, loss=loss, accuracy=right, f1=["n/a"] * 10)
        assert said.outcome == NO_DATA
        deeper = [*loss[:5], -7.0, -9.0, -12.0, -15.0, -20.0]
        assert judged("initial_loss", {}, loss=deeper, accuracy=right).outcome == "negative"

    @pytest.mark.parametrize(
        "columns",
        [
            {"loss": [-2.0] * 6},  # of densities, perhaps
            {"loss": [-0.9] * 6, "knn_accuracy": [0.1] * 6},  # minus a similarity, perhaps
            {"loss": [-2.0] * 4, "accuracy": [0.1] * 4},  # few
            {"loss": [*[-2.0] * 4, 0.1, 0.2], "accuracy": [0.1] * 6},
            {"loss": [-2.0] * 6, "accuracy": [0.1] * 6, "reward": [0.1] * 6},
            {"loss": [-2.0] * 6, "accuracy": [0.1] * 6, "policy_loss": [0.1] * 6},
        ],
    )
    def test_others_may_be_there(self, columns: dict):
        assert judged("initial_loss", {}, **columns).outcome == NO_DATA

    @pytest.mark.parametrize(
        ("loss", "outcome"),
        [
            ([-3e4 * 1.3**row for row in range(40)], "negative"),
            ([1e5 - 5e3 * row for row in range(40)], NO_DATA),  # it ends about as far from 0 as it began
            ([-1.0 - 20 * row for row in range(40)], NO_DATA),  # not so far
            ([-3e4 * 1.3**row for row in range(39)] + [2.0], NO_DATA),  # a spike downwards, and back
        ],
    )
    def test_a_loss_without_a_floor(self, loss: list[float], outcome: str):
        assert judged("initial_loss", {}, loss=loss).outcome == outcome

    def test_its_margin_is_that_of_the_distance(self):
        near, edge = (judged("initial_loss", self.DRAWN, loss=[first]) for first in (6.24, 6.73))
        assert near.margin is not None
        assert near.margin > 0.9
        assert edge.margin is not None
        assert edge.margin < 0.1


class TestFirstGradient:
    def found(self, norms: list, *, learns: bool = False, times: float | None = None, k: int = 1) -> Finding:
        rows = max(40, len(norms))
        norms = norms + [norms[-1]] * (rows - len(norms))
        loss = falling(rows) if learns else [6.2] * rows
        columns: dict[str, list] = {"grad_norm": norms, "loss": loss}
        if times is not None:
            columns["reduced_loss"] = [times * value for value in loss]
        return judged("first_gradient", {"batch": {"accumulation": k}}, **columns)

    @pytest.mark.parametrize(
        ("first", "outcome"),
        [(0.1, "usual"), (4.0, "usual"), (10.0, "usual"), (11.0, "off"), (99.0, "off"), (0.05, "off"),
         (0.002, "off"), (101.0, "above"), (0.0009, "below"), (0.0, "below")],
    )  # fmt: skip
    def test_bounds(self, first: float, outcome: str):
        assert self.found([first]).outcome == outcome

    def test_what_is_trained_on_names_a_sum(self):
        assert self.found([2000.0], times=512.0, learns=True).outcome == "summed"
        assert self.found([2000.0], times=1.0, learns=True).outcome == "above"

    def test_micro_batches_that_are_summed_are_another_question(self):
        assert self.found([130.0], times=32.0, k=32).outcome == "above"

    def test_a_run_that_learns_gets_a_remark_where_nothing_else_tells(self):
        assert self.found([2000.0], learns=True).outcome == "learns"
        assert self.found([0.0005], learns=True).outcome == "off"

    def test_a_norm_of_0_in_a_run_that_learns_was_not_computed(self):
        found = self.found([0.0], learns=True)
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["grad_norm"])

    @pytest.mark.parametrize("hole", HOLES)
    def test_the_first_finite_one_counts(self, hole: float | None):
        found = self.found([hole, 4.0])
        assert (found.outcome, found.step, found.facts["first"]) == ("usual", 1, 4.0)

    def test_none_is_finite(self):
        assert self.found([math.inf]).outcome == "off"

    @pytest.mark.parametrize("first", [2000.0, 0.0005, 0.0])
    def test_a_few_rows_do_not_say_whether_it_learns(self, first: float):
        assert judged("first_gradient", grad_norm=[first] * 9, loss=[6.2] * 9).outcome == NOT_YET
        assert judged("first_gradient", grad_norm=[first] * 9, loss=[6.2] * 8 + [math.nan]).outcome != NOT_YET
        assert judged("first_gradient", grad_norm=[first] * 9).facts == {"missing": ["loss"]}

    def test_a_log_that_begins_later_does_not_hold_the_first(self):
        columns = {"grad_norm": [2000.0] * 40, "loss": [6.2] * 40}
        late = judged("first_gradient", step=[5900 + 100 * i for i in range(40)], **columns)
        assert (late.outcome, late.facts) == (NO_DATA, {"missing": ["grad_norm[0]"]})
        sparse = judged("first_gradient", step=[100 + 100 * i for i in range(40)], **columns)
        assert sparse.outcome == "above"

    def test_a_loss_around_0_is_no_objective(self):
        assert judged("first_gradient", grad_norm=[0.0] * 9, loss=[0.0, 0.1, -0.1] * 3).outcome == NO_DATA


PLAN = {"kind": "cosine", "warmup_steps": 100, "schedule_steps": 2000, "lr_max": 1e-3, "lr_min": 1e-4}
RATE = cosine(build({}))


def rates(rows: int = 250) -> list[float]:
    """The lab's own schedule, which the manifest's plan is to give again."""
    return [RATE(step) for step in range(rows)]


class TestScheduleShape:
    def found(self, lr: list, plan: Mapping[str, Any] = PLAN, **columns: list) -> Finding:
        return judged("schedule_shape", {"schedule": plan}, lr=lr, **columns)

    def test_the_lab_follows_its_plan(self):
        found = self.found(rates(2500))
        assert found.outcome == "matches"
        assert found.facts["share"] == 0  # what a log rounds is no deviation

    def test_holes_are_left_out(self):
        lr: list[float | None] = [*rates()]
        lr[3:6] = HOLES
        assert self.found(lr).outcome == "matches"

    def test_sparse_rows(self):
        steps = [0, 50, 100, 150, 900, 1500]
        assert self.found([RATE(step) for step in steps], step=steps).outcome == "matches"

    def test_never_steps(self):
        assert self.found([1e-3] * 250).outcome == "constant"
        assert self.found([1e-5] * 250).outcome == "constant"

    def test_zero(self):
        assert self.found([0.0] * 250).outcome == "zero"
        assert self.found([0.0] * 250, plan={}).outcome == "zero"

    def test_a_fall_at_once(self):
        lr = [rate * 0.3 ** (step // 120) for step, rate in enumerate(rates())]
        found = self.found(lr)
        assert (found.outcome, found.step) == ("falls", 120)

    def test_a_rise_is_another_tree_s(self):
        assert self.found([*rates(110), *[1.3e-3] * 140]).outcome == "differs"

    def test_far_above_the_configured_peak(self):
        found = self.found([*rates(110), *[2e-3] * 140])
        assert (found.outcome, found.step, found.facts["times"]) == ("above", 110, pytest.approx(2.0))
        assert found.level == pytest.approx(1.5e-3)
        endless = self.found([1e-3 * (step + 1) / 100 for step in range(250)])
        assert (endless.outcome, endless.step) == ("above", 249)

    def test_a_warm_up_that_is_too_slow_differs(self):
        assert self.found([RATE(step // 4) for step in range(250)]).outcome == "differs"

    def test_a_constant_one_that_was_configured(self):
        plan = {"kind": "constant", "lr_max": 2e-4}
        assert self.found([2e-4] * 50, plan).outcome == "matches"

    def test_a_line_after_the_warm_up(self):
        plan = {"kind": "linear", "warmup_steps": 10, "schedule_steps": 110, "lr_max": 1.0, "lr_min": 0.0}
        lr = [(step + 1) / 10 if step < 10 else 1 - (step - 10) / 100 for step in range(60)]
        assert self.found(lr, plan).outcome == "matches"

    @pytest.mark.parametrize(
        ("plan", "missing"),
        [
            ({"kind": "cyclic", "lr_max": 1.0}, ["schedule"]),
            ({"kind": "cosine", "lr_max": 1.0}, ["schedule_steps"]),
            ({"kind": "cosine"}, ["lr_max", "schedule_steps"]),
            ({"kind": "constant"}, ["lr_max"]),
            ({"lr_max": 1}, ["schedule"]),
        ],
    )
    def test_a_plan_that_nobody_knows_names_what_it_takes(self, plan: dict, missing: list[str]):
        found = self.found([1e-3] * 9, plan)
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, missing)

    @pytest.mark.parametrize("first", [0, 1])
    @pytest.mark.parametrize("warmup", [2, 3, 10])
    def test_a_warm_up_may_begin_at_0_or_one_step_up(self, first: int, warmup: int):
        """Hugging Face's schedulers give t / W, others (t + 1) / W; in a short one that is far apart."""
        plan = {"kind": "linear", "warmup_steps": warmup, "schedule_steps": 110, "lr_max": 1.0, "lr_min": 0.0}
        lr = [min(1.0, (t + first) / warmup) for t in range(warmup)]
        lr += [1 - (t - warmup) / (110 - warmup) for t in range(warmup, 60)]
        assert self.found(lr, plan).outcome == "matches"
        late = [0.0] * 8 + lr
        assert self.found(late, plan).outcome != "matches"

    def test_too_short(self):
        assert self.found(rates(2)).outcome == NOT_YET

    def test_a_scheduler_that_waits_for_the_loss_scaler(self):
        assert self.found([0.0] * 9, skipped_steps=list(range(1, 10))).outcome == NOT_YET


class TestWarmupEnd:
    def found(self, lr: list, **columns: list) -> Finding:
        return judged("warmup_end", {"schedule": PLAN}, lr=lr, **columns)

    @pytest.mark.parametrize(
        ("share", "outcome"),
        [(1.0, "reached"), (0.96, "reached"), (0.94, "short"), (0.51, "short"), (0.49, "low")],
    )
    def test_shares_of_the_peak(self, share: float, outcome: str):
        found = self.found([share * rate for rate in rates()])
        assert found.outcome == outcome
        assert found.facts["share"] == pytest.approx(100 * share)

    def test_a_peak_that_is_reached_is_not_close(self):
        assert self.found(rates()).margin == pytest.approx(1.0)

    def test_a_quarter_by_a_scheduler_that_steps_once_in_four(self):
        assert self.found([RATE(step // 4) for step in range(250)]).outcome == "low"

    def test_sparse_rows(self):
        steps = [0, 60, 120, 180]
        assert self.found([RATE(step) for step in steps], step=steps).outcome == "reached"

    def test_still_warming_up(self):
        found = self.found(rates(50))
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 50, "needed": 100})

    def test_skipped_steps_do_not_count(self):
        lr = [RATE(max(0, step - 60)) for step in range(120)]
        skipped = [min(step + 1, 60) for step in range(120)]
        assert self.found(lr, skipped_steps=skipped).outcome == NOT_YET

    def never(self, lr: list[float], steps: int = 30, **schedule: float) -> str:
        return judged("warmup_end", {"settings": {"steps": steps}, "schedule": schedule}, lr=lr).outcome

    def test_it_outlasts_a_run_that_is_over(self):
        rising = [1e-6 * (step + 1) for step in range(30)]
        assert self.never(rising) == "never"
        assert self.never(rising, warmup_steps=500, lr_max=5e-4) == "never"
        assert self.never([round(rate, 6) for rate in rising]) == "never"  # as the log rounds it
        assert self.never(rising, schedule_steps=30) == "never"
        assert self.never(rising, schedule_steps=600) == NO_DATA  # a part of what the schedule was made for
        found = judged("warmup_end", {"settings": {"steps": 30}}, lr=rising)
        assert (found.step, found.facts["lr"], found.facts["rows"]) == (29, pytest.approx(3e-5), 30)

    @pytest.mark.parametrize(
        ("lr", "steps"),
        [
            ([1e-6 * (step + 1) for step in range(30)], 300),  # it goes on
            ([1e-6 * (step + 1) for step in range(4)], 4),  # too few
            ([1e-6 * min(20, step + 1) for step in range(30)], 30),  # it ends
            ([1e-6 * 1.3**step for step in range(30)], 30),  # a search for a rate
            ([*[1e-6 * (step + 1) for step in range(29)], math.nan], 30),
        ],
    )
    def test_else_it_does_not(self, lr: list[float], steps: int):
        assert self.never(lr, steps) == NO_DATA

    @pytest.mark.parametrize(
        "plan", [{"lr_max": 1e-3}, {"warmup_steps": 10}, {"warmup_steps": 10, "lr_max": 0.0}]
    )
    def test_no_data(self, plan: dict):
        assert judged("warmup_end", {"schedule": plan}, lr=rates()).outcome == NO_DATA


class TestGradientLevel:
    """A clip of 1.0 and a warm-up of 10; the loss falls or stands still."""

    def found(
        self, level: float | None, *, learns: bool, clip: float | None = 1.0, times: float = 1.0
    ) -> Finding:
        loss = falling(60) if learns else [6.2] * 60
        manifest = {"settings": {"grad_clip": clip}, "schedule": {"warmup_steps": 10}}
        columns = {
            "grad_norm": [50.0] * 10 + [level] * 50,
            "loss": loss,
            "reduced_loss": [times * x for x in loss],
        }
        return judged("gradient_level", manifest, **columns)

    @pytest.mark.parametrize(
        ("level", "learns", "outcome"),
        [(1.0, True, "sane"), (1.0, False, "sane"), (4.9, False, "sane"), (5.1, False, "clipping"),
         (5.1, True, "high"), (0.009, False, "dead"), (0.009, True, "low"), (0.011, False, "sane")],
    )  # fmt: skip
    def test_by_level_and_by_whether_it_learns(self, level: float, learns: bool, outcome: str):
        assert self.found(level, learns=learns).outcome == outcome

    def test_the_bound_goes_with_the_clip(self):
        assert self.found(8.0, learns=False, clip=2.0).outcome == "sane"
        assert self.found(11.0, learns=False, clip=2.0).outcome == "clipping"
        assert self.found(8.0, learns=False, clip=None).outcome == "unjudged"

    def test_a_loss_that_rises_again_diverges_with_a_clip_or_without(self):
        loss = [*falling(20, 6.0, 4.0), *falling(40, 4.0, 9.0)]
        for clip in (1.0, None):
            manifest = {"settings": {"grad_clip": clip}, "schedule": {"warmup_steps": 10}}
            found = judged("gradient_level", manifest, grad_norm=[12.0] * 60, loss=loss)
            assert (found.outcome, found.facts["best_step"]) == ("diverges", pytest.approx(20, abs=2))
            assert found.facts["best"] < 4.2 < 8.5 < found.facts["end"]

    @pytest.mark.parametrize("broken", [math.nan, math.inf])
    def test_a_loss_that_ends_broken_is_named_elsewhere(self, broken: float):
        manifest = {"settings": {"grad_clip": 1.0}, "schedule": {"warmup_steps": 10}}
        loss = [*falling(20, 6.0, 4.0), *falling(30, 4.0, 9.0), *[broken] * 10]
        assert judged("gradient_level", manifest, grad_norm=[12.0] * 60, loss=loss).outcome == "unjudged"

    def test_a_thin_mask_is_dead_though_the_loss_falls(self):
        assert self.found(0.009, learns=True, times=0.01).outcome == "dead"

    def test_a_norm_of_0_in_a_run_that_learns_was_not_computed(self):
        assert self.found(0.0, learns=True).outcome == NO_DATA

    @pytest.mark.parametrize("hole", HOLES)
    def test_no_finite_norm(self, hole: float | None):
        manifest = {"schedule": {"warmup_steps": 0}}
        norms = [1.0, *[hole] * 99] if hole is None else [hole] * 100
        assert judged("gradient_level", manifest, grad_norm=norms).outcome in (NO_DATA, NOT_YET)

    def test_too_short(self):
        found = judged("gradient_level", {"schedule": {"warmup_steps": 100}}, grad_norm=[1.0] * 110)
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 110, "needed": 120})


class TestTallGradients:
    def found(self, tall: list[int], height: float = 120.0, rows: int = 400, usual: float = 1.0) -> Finding:
        norms = [height if row in tall else usual for row in range(rows)]
        return judged("tall_gradients", grad_norm=norms, batch_hash=[f"h{row}" for row in range(rows)])

    def test_counts(self):
        assert self.found([]).outcome == "none"
        assert self.found([5], height=100.0).outcome == "none"
        few = self.found([5, 50, 90])
        assert (few.outcome, few.facts["named"], few.step) == ("few", "5 (h5), 50 (h50), 90 (h90)", 5)
        assert self.found([5, 50, 90, 204]).outcome == "many"
        assert self.found([5, 50, 90, 205]).outcome == "few"

    def test_a_run_that_always_lies_above(self):
        assert self.found([5, 50, 90, 120], height=5000.0, usual=900.0).outcome == "none"
        assert self.found([5, 50, 90, 120], height=10_000.0, usual=900.0).outcome == "many"

    @pytest.mark.parametrize(
        ("norms", "loss", "outcome"),
        [
            ([193.0, 585.0, 327.0, 115.0, 474.0, *[6.0] * 16], falling(21, 12.3, 7.3), "few"),
            ([193.0, 585.0, 327.0, 115.0, 474.0, *[6.0] * 16], [9.0] * 21, "many"),  # nothing falls
            ([6.0, 585.0, 327.0, 115.0, 474.0, *[6.0] * 16], falling(21, 12.3, 7.3), "many"),
            ([193.0, 585.0, *[6.0] * 9, *[327.0, 115.0, 474.0, 200.0], *[6.0] * 20], falling(35), "many"),
        ],
    )
    def test_those_with_which_a_run_begins_are_no_instability(self, norms, loss, outcome: str):
        assert judged("tall_gradients", grad_norm=norms, loss=loss).outcome == outcome

    def test_what_is_not_finite_is_not_counted(self):
        assert judged("tall_gradients", grad_norm=[1.0, math.inf, math.nan, None] * 30).outcome == "none"


class TestEarlyFall:
    def found(self, loss: list, **columns: list) -> Finding:
        return judged("early_fall", loss=loss, **columns)

    @pytest.mark.parametrize(("rests", "outcome"), [(0.69315, NO_DATA), (1.3863, NO_DATA), (0.72, "slow")])
    def test_one_that_comes_to_rest_where_a_guess_lies_is_not_slow(self, rests: float, outcome: str):
        assert self.found([rests + 0.0006 * 0.99**row for row in range(250)]).outcome == outcome

    def still(self, rows: int = 250) -> list[float]:
        return [6.24 + 0.01 * (-1) ** row for row in range(rows)]

    def moving(self, share: float) -> dict[str, list]:
        return {"update_norm": [share * 30.0] * 250, "param_norm": [30.0] * 250}

    def test_where_the_first_span_has_no_finite_loss_nothing_tells(self):
        assert self.found([*[math.inf] * 60, *falling(190)]).outcome == NO_DATA

    def test_it_falls(self):
        found = self.found(falling(250))
        assert (found.outcome, found.facts["begin"], found.facts["end"]) == ("falls", 50, 200)

    @pytest.mark.parametrize(("to", "outcome"), [(1.0, "falls"), (5.5195, "slow")])
    def test_rows_far_apart_need_not_fall_as_steeply(self, to: float, outcome: str):
        steps = [10_000 * row for row in range(100)]
        assert self.found(falling(100, 5.52, to), step=steps).outcome == outcome

    def test_it_rises_or_stands_still(self):
        assert self.found(falling(250, 2.0, 6.0)).outcome == "rises"
        assert self.found(self.still(), **self.moving(1e-3)).outcome == "static"

    @pytest.mark.parametrize(("to", "outcome"), [(6.27, "static"), (6.42, "rises")])
    def test_a_drift_is_no_rise_where_the_weights_move(self, to: float, outcome: str):
        loss = falling(250, 6.25, to)
        assert self.found(loss, **self.moving(1e-3)).outcome == outcome
        assert self.found(loss).outcome == "rises"  # of a trained model, it may be, whose weights are unknown

    def test_updates_tell_a_rate_that_is_too_low(self):
        assert self.found(self.still(), **self.moving(1e-6)).outcome == "slow"
        assert self.found(falling(250, 6.24, 6.2399), **self.moving(1e-6)).outcome == "slow"

    def test_without_them_a_fall_too_small_does(self):
        assert self.found(falling(250, 6.24, 6.2399)).outcome == "slow"

    def test_noise_is_no_fall(self):
        assert (
            self.found(
                [value - 1e-5 * i for i, value in enumerate(self.still())], **self.moving(1e-3)
            ).outcome
            == "static"
        )

    @pytest.mark.parametrize("seed", range(5))
    def test_what_noise_hides_only_updates_tell(self, seed: int):
        noise = random.Random(seed)
        loss = [5.6 - 0.002 * row + noise.gauss(0, 1.5) for row in range(250)]
        found = self.found(loss)
        assert (found.outcome, found.facts) == (NO_DATA, {"missing": ["update_norm"]})
        assert self.found(loss, **self.moving(1e-6)).outcome == "slow"

    def test_too_short(self):
        found = self.found(falling(150))
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 150, "needed": 201})

    def test_a_sparse_log_takes_rows(self):
        steps = [50 * row for row in range(30)]
        found = self.found(falling(30), step=steps)
        assert (found.outcome, found.facts["end"]) == ("falls", 1000)

    def test_still_warming_up(self):
        assert self.found(self.still(), lr=[1e-6 * step for step in range(250)]).outcome == NOT_YET

    def test_holes(self):
        loss: list[float | None] = [*falling(250)]
        loss[60:66] = HOLES * 2
        assert self.found(loss).outcome == "falls"
        assert self.found([*falling(40), *[math.nan] * 210]).outcome == NO_DATA

    def test_a_log_that_begins_mid_way(self):
        found = self.found(falling(250), step=list(range(500, 750)))
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["loss[0]"])


class TestRepeatsAtEvaluation:
    """Evaluated every 50 steps; the loader is stuck for some of them."""

    def found(self, *stuck: int, rows: int = 300) -> Finding:
        hashes = [f"b{stuck[0] if row in stuck else row}" for row in range(rows)]
        val = [None if row % 50 else 1.0 for row in range(rows)]
        return judged("repeats_at_evaluation", batch_hash=hashes, val_loss=val)

    def test_every_batch_is_new(self):
        found = self.found(rows=300)
        assert (found.outcome, found.facts["count"], found.facts["rows"]) == ("no", 0, 21)

    def test_stuck_where_the_last_evaluation_takes_its_training_loss(self):
        found = self.found(*range(240, 280))
        assert (found.outcome, found.step, found.facts["evaluated"]) == ("repeats", 260, 250)
        assert (found.facts["count"], found.facts["hash"]) == (20, "b240")

    def test_more_than_half_of_the_rows(self):
        assert self.found(*range(250, 261)).outcome == "no"  # 10 of 21 come again
        assert self.found(*range(249, 261)).outcome == "repeats"

    def test_elsewhere_it_is_no_matter_of_the_evaluation(self):
        assert self.found(*range(205, 238)).outcome == "no"

    def full_batch(self, per_epoch: int | None = None, **columns: list) -> Finding:
        """Every step sees the whole data set, as in a PINN: one hash in all rows."""
        val = [None if row % 50 else 1.0 for row in range(300)]
        manifest = {"batch": {"steps_per_epoch": per_epoch}} if per_epoch else {}
        return judged("repeats_at_evaluation", manifest, batch_hash=["b"] * 300, val_loss=val, **columns)

    def test_one_hash_in_all_rows_is_a_matter_of_how_long_a_pass_is(self):
        unknown = self.full_batch()
        assert (unknown.outcome, unknown.facts) == (NO_DATA, {"missing": ["steps_per_epoch"]})
        known = self.full_batch(1)
        assert (known.outcome, known.facts["per_epoch"]) == ("epoch", 1)
        assert self.full_batch(400).outcome == "repeats"

    def test_the_log_s_own_epochs_say_how_long_a_pass_is(self):
        assert self.full_batch(epoch=[float(row) for row in range(300)]).outcome == "epoch"
        assert self.full_batch(epoch=[row // 100 for row in range(300)]).outcome == "repeats"
        assert self.full_batch(epoch=[0.0] * 300).outcome == NO_DATA

    def test_batches_that_come_again_in_the_same_order(self):
        val = [None if row % 50 else 1.0 for row in range(300)]
        hashes = [f"b{row % 10}" for row in range(300)]
        epochs = [row // 10 for row in range(300)]
        found = judged("repeats_at_evaluation", batch_hash=hashes, val_loss=val, epoch=epochs)
        assert (found.outcome, found.facts["per_epoch"], found.facts["count"]) == ("epoch", 10, 21)
        twice = [f"b{row % 10 // 2}" for row in range(300)]
        again = judged("repeats_at_evaluation", batch_hash=twice, val_loss=val, epoch=epochs)
        assert again.outcome == "repeats"

    def test_only_up_to_step_500(self):
        assert self.found(*range(590, 630), rows=640).outcome == "no"

    def test_too_few_evaluations_and_no_hash(self):
        assert self.found(rows=60).outcome == NOT_YET
        assert judged("repeats_at_evaluation", val_loss=[1.0] * 9).facts == {"missing": ["batch_hash"]}

    def test_unhashed_rows_are_no_twins(self):
        val = [None if row % 50 else 1.0 for row in range(300)]
        found = judged("repeats_at_evaluation", val_loss=val, batch_hash=["a", *[None] * 299])
        assert found.outcome == "no"


def weights(
    kind: str = "linear", shape: tuple[int, ...] = (128, 128), std: float = 0.02, mean: float = 0.0
) -> dict:
    return {"kind": kind, "shape": list(shape), "std": std, "mean": mean}


class TestWeights:
    def found(self, **initial: dict) -> Finding:
        return judged("weights_as_designed", {"initial": initial}, loss=[1.0])

    def test_gpt(self):
        found = self.found(
            a=weights(), b=weights(), proj=weights(std=0.007), e=weights("embedding", (512, 128))
        )
        assert (found.outcome, found.facts["design"]) == ("designed", "GPT-2")

    def test_kaiming_is_a_design_too(self):
        found = self.found(a=weights(std=0.125), b=weights(shape=(512, 128), std=0.125), c=weights(std=0.12))
        assert (found.outcome, found.facts["design"]) == ("designed", "Kaiming")
        assert found.facts["kaiming"] == pytest.approx(0.125)

    def test_one_weight_that_is_far_too_wide(self):
        found = self.found(a=weights(), b=weights(), hot=weights(std=2.0))
        assert (found.outcome, found.facts["name"], found.facts["times"]) == (
            "hot",
            "hot",
            pytest.approx(100),
        )

    def test_all_of_them(self):
        assert self.found(a=weights(std=2.0), b=weights(std=2.0)).outcome == "hot"

    def test_the_default_embedding_of_torch_is_no_alarm(self):
        assert self.found(a=weights(), e=weights("embedding", (512, 128), 1.0)).outcome == "off"

    def test_off_centre(self):
        found = self.found(a=weights(), b=weights(mean=0.02))
        assert (found.outcome, found.facts["name"]) == ("biased", "b")
        assert self.found(a=weights(mean=0.009)).outcome == "designed"

    def test_a_small_weight_s_mean_may_be_chance(self):
        assert self.found(a=weights(), b=weights(shape=(2, 2), mean=0.02)).outcome == "designed"

    def test_biases_and_norms_are_not_drawn(self):
        found = self.found(n=weights("norm", (128,), 0.0, 1.0), b=weights("bias", (128,), 0.0))
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["initial"])

    def test_nothing_recorded(self):
        assert judged("weights_as_designed", loss=[1.0]).facts == {"missing": ["initial"]}


class TestActivationGrowth:
    def found(self, first: list, **columns: list) -> Finding:
        return judged("activation_growth", activation_norms=[first, [1.0, 99.0]], **columns)

    @pytest.mark.parametrize(
        ("norms", "outcome", "layer"),
        [([7.0, 8.5, 10.0], "gentle", 1), ([1.0, 1.4, 2.2], "steep", 2), ([1.0, 1.1, 11.2], "leaps", 2),
         ([1.0, math.inf], "leaps", 1), ([1.0, math.nan], "leaps", 1), ([0.0, 1.0], "leaps", 1)],
    )  # fmt: skip
    def test_the_steepest_layer_of_the_first_batch(self, norms: list, outcome: str, layer: int):
        found = self.found(norms)
        assert (found.outcome, found.facts["layer"], found.step) == (outcome, layer, 0)

    def test_no_data(self):
        assert self.found([5.0]).outcome == NO_DATA
        assert self.found([1.0, 2.0], step=[50, 51]).facts == {"missing": ["activation_norms[0]"]}
        assert judged("activation_growth", loss=[1.0]).facts == {"missing": ["activation_norms"]}


class TestDecayGroups:
    def found(self, *groups: dict, initial: dict | None = None) -> Finding:
        return judged("decay_groups", {"groups": list(groups), "initial": initial or {}}, loss=[1.0])

    def test_split(self):
        found = self.found({"name": "decay", "weight_decay": 0.1}, {"name": "rest", "weight_decay": 0.0})
        assert (found.outcome, found.facts) == ("split", {"count": 2, "decays": "0.1, 0"})

    def test_one_group_for_all(self):
        assert self.found({"name": "all", "weight_decay": 0.1}).outcome == "together"
        assert self.found({"name": "all", "weight_decay": 0.0}).outcome == "split"

    @pytest.mark.parametrize(("decay", "outcome"), [(0.01, "slight"), (0.02, "slight"), (0.021, "together")])
    def test_the_default_of_a_common_optimizer_hardly_moves_a_gain(self, decay: float, outcome: str):
        assert self.found({"name": "0", "weight_decay": decay}).outcome == outcome

    def test_a_bias_among_the_matrices(self):
        initial = {"w": weights(), "b": weights("bias", (128,))}
        decay = {"name": "decay", "weight_decay": 0.1, "names": ["w", "b"]}
        rest = {"name": "rest", "weight_decay": 0.0, "names": []}
        found = self.found(decay, rest, initial=initial)
        assert (found.outcome, found.facts["name"], found.facts["flat"]) == ("together", "decay", 1)

    def test_no_data(self):
        assert judged("decay_groups", loss=[1.0]).facts == {"missing": ["groups"]}
        assert self.found({"name": "all"}).facts == {"missing": ["groups"]}


class TestMoments:
    """Norms of m and v for gradients that keep one direction and wander in size."""

    def found(
        self, rebuilt: bool = False, beta1: float = 0.9, beta2: float = 0.95, rows: int = 120, **drop: bool
    ) -> Finding:
        norms = [1.0 + 0.5 * math.sin(row) for row in range(rows)]
        m = v = 0.0
        columns: dict[str, list] = {"grad_norm_clipped": norms, "adam_m_norm": [], "adam_v_norm": []}
        for norm in norms:
            m = (0.0 if rebuilt else beta1 * m) + (1 - beta1) * norm
            v = (0.0 if rebuilt else beta2 * v) + (1 - beta2) * norm**2 / 30
            columns["adam_m_norm"].append(m)
            columns["adam_v_norm"].append(v)
        columns = {name: values for name, values in columns.items() if not drop.get(name)}
        settings = {} if drop.get("beta2") else {"beta1": beta1, "beta2": beta2}
        return judged("moments", {"settings": settings}, **columns)

    def test_they_accumulate(self):
        found = self.found()
        assert (found.outcome, found.facts["step"]) == ("averages", 99)
        assert found.facts["v_share"] == pytest.approx(100)

    def test_state_that_is_lost(self):
        assert self.found(rebuilt=True).outcome == "rebuilt"
        assert self.found(rebuilt=True, adam_m_norm=True).outcome == "rebuilt"
        assert self.found(rebuilt=True, adam_v_norm=True, beta2=True).outcome == "rebuilt"

    @pytest.mark.parametrize(
        ("m", "settings", "outcome"),
        [
            (0.35, {"beta1": 0.9, "beta2": 0.95}, "averages"),
            (0.35, {"beta2": 0.95}, "rebuilt"),  # what it would be isn't known
            (0.14, {"beta1": 0.9, "beta2": 0.95}, "rebuilt"),
        ],
    )
    def test_a_v_that_falls_where_gradients_move_to_other_weights(
        self, m: float, settings: dict[str, float], outcome: str
    ):
        """A recurrent network's come to lie in other weights; m, which is kept, tells."""
        v = [0.05 * max(0.06, 1 - row / 50) for row in range(120)]
        norms = [1 + row % 2 / 9 for row in range(120)]
        columns = {
            "grad_norm_clipped": norms,
            "adam_m_norm": [m + row % 3 / 90 for row in range(120)],
            "adam_v_norm": v,
        }
        assert judged("moments", {"settings": settings}, **columns).outcome == outcome

    def test_state_that_is_lost_every_five_steps(self):
        """Its m is more of the gradient in the median; but it is begun anew again and again."""
        m = [0.1 if row % 5 == 0 else 0.1 + 0.06 * (row % 5) for row in range(120)]
        columns = {
            "grad_norm_clipped": [1.0] * 120,
            "adam_m_norm": m,
            "adam_v_norm": [0.05] * 10 + [0.002] * 110,
        }
        settings = {"beta1": 0.9, "beta2": 0.95}
        assert judged("moments", {"settings": settings}, **columns).outcome == "rebuilt"

    def test_m_that_is_the_gradient(self):
        found = self.found(beta1=0.0)
        assert (found.outcome, found.facts["m_share"]) == ("none", pytest.approx(100))

    def test_too_short(self):
        found = self.found(rows=99)
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 99, "needed": 100})

    def test_no_data(self):
        assert judged("moments", grad_norm=[1.0] * 120).facts == {"missing": ["adam_m_norm"]}
        assert self.found(adam_m_norm=True, beta2=True).facts == {"missing": ["adam_v_norm"]}

    def test_holes(self):
        norms: list[float | None] = [1.0 + 0.5 * math.sin(row) for row in range(120)]
        norms[40:43] = HOLES
        found = judged("moments", {}, grad_norm_clipped=norms, adam_m_norm=[0.5] * 120)
        assert found.outcome == "averages"


class TestAccumulation:
    def found(self, k: int | None, times: float = 1.0) -> Finding:
        manifest = {"batch": {"accumulation": k}} if k else {}
        return judged("accumulation", manifest, loss=[math.nan, 3.0], reduced_loss=[math.nan, 3.0 * times])

    @pytest.mark.parametrize(
        ("k", "times", "outcome"),
        [
            (1, 1.0, "single"),
            (4, 1.0, "averages"),
            (4, 4.0, "sums"),
            (4, 2.4, "averages"),
            (4, 2.6, "sums"),
            (None, 1.0, NO_DATA),
        ],
    )
    def test_against_the_mean_loss(self, k: int | None, times: float, outcome: str):
        assert self.found(k, times).outcome == outcome

    def test_no_data(self):
        found = judged("accumulation", {"batch": {"accumulation": 4}}, loss=[3.0])
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["reduced_loss"])


class TestSeesTheAnswer:
    """A validation loss under a twenty-fifth of ln 512, 0.2495, from a first loss of above 3.119."""

    def judged(self, val: list, first: float = 6.2, **manifest: object) -> Finding:
        columns = {"loss": [first, *[1.0] * (len(val) - 1)], "val_loss": val}
        return judged("sees_the_answer", {"vocab_size": 512} | manifest, **columns)

    @pytest.mark.parametrize(
        ("lowest", "first", "outcome"),
        [
            (0.26, 6.2, "no"),
            (0.24, 6.2, "sees"),
            (0.24, 3.2, "sees"),
            (0.24, 3.1, "tuned"),
            (0.0, 6.2, "sees"),
        ],
    )
    def test_against_ln_v(self, lowest: float, first: float, outcome: str):
        found = self.judged([6.2, None, 1.0, lowest, 0.9], first)
        assert (found.outcome, found.step, found.facts["val"]) == (outcome, 3, lowest)

    def test_it_shows_where_it_first_falls_under_the_bound(self):
        found = self.judged([6.2, 0.2, 0.1])
        assert (found.step, found.facts["first"], found.measured) == (1, 6.2, 0.1)

    def test_a_log_that_begins_later_is_that_of_a_trained_model(self):
        found = judged(
            "sees_the_answer", {"vocab_size": 512}, step=[90, 91], loss=[6.2, 0.1], val_loss=[6.2, 0.1]
        )
        assert found.outcome == "tuned"

    @pytest.mark.parametrize(
        ("manifest", "val"), [({"vocab_size": 1}, [0.1]), ({"vocab_size": 512}, [math.nan]), ({}, [0.1])]
    )
    def test_no_data(self, manifest: dict, val: list):
        assert judged("sees_the_answer", manifest, loss=[6.2], val_loss=val).outcome == NO_DATA


class TestReachedWeights:
    """The square of the RMS of g / sqrt(v) at step 0, held against 90 %."""

    TIED = {"tokens.weight": {"kind": "embedding", "shape": [512, 8], "mean": 0.0, "std": 0.02}}
    HEAD = {"head.weight": {"kind": "linear", "shape": [512, 8], "mean": 0.0, "std": 0.02}}

    @pytest.mark.parametrize(
        ("ratio", "more", "outcome"),
        [
            (1.0, {}, "all"),
            (0.95, {}, "all"),
            (0.9, {}, "part"),
            (0.9, {"dtype": "fp16"}, "rounded"),
            (0.9, {"initial": TIED | HEAD}, "rows"),
        ],
    )
    def test_against_the_share(self, ratio: float, more: dict, outcome: str):
        manifest = {"vocab_size": 512, "dtype": "fp32", "initial": self.TIED} | more
        found = judged("reached_weights", manifest, adam_ratio_rms=[ratio, 0.1])
        assert (found.outcome, found.step) == (outcome, 0)
        assert found.facts["reached"] == pytest.approx(100 * ratio**2)

    @pytest.mark.parametrize(("clipped", "outcome"), [(1e-6, "swallowed"), (1e-5, "part"), (None, "part")])
    def test_a_gradient_clipped_to_next_to_nothing(self, clipped: float | None, outcome: str):
        """Over 4,096 weights eps outweighs a norm under 6.4e-6."""
        columns = {"adam_ratio_rms": [0.01, 0.1], "grad_norm_clipped": [clipped, 1.0]}
        assert judged("reached_weights", {"initial": self.TIED}, **columns).outcome == outcome

    @pytest.mark.parametrize(
        ("manifest", "columns"),
        [
            ({}, {"adam_ratio_rms": [0.1]}),
            ({"initial": TIED}, {"adam_ratio_rms": [0.1], "step": [1]}),
            ({"initial": TIED}, {"adam_ratio_rms": [math.nan, 0.1]}),
            ({"initial": TIED}, {"adam_ratio_rms": [0.0, 0.1]}),
            ({"initial": TIED}, {"adam_ratio_rms": [0.5, 0.1], "grad_norm": [math.nan, 1.0]}),
            ({"initial": TIED}, {"loss": [1.0]}),
        ],
    )
    def test_no_data(self, manifest: dict, columns: dict):
        assert judged("reached_weights", manifest, **columns).outcome == NO_DATA
