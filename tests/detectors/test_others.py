"""Detectors of the other signals, on small arrays with known answers."""

import math
from dataclasses import replace

import pytest

from tests.conftest import make_run, numbers
from tutor import detectors, readers
from tutor import tree as trees
from tutor.detectors import NO_DATA, NOT_YET, Finding, any_of, apply, detector, registry
from tutor.detectors.windows import Window
from tutor.run import Aggregation, Remark, Run

BAD_BATCH, HARM, JUMP = numbers("bad_batch"), numbers("lasting_harm"), numbers("lr_jump")
BATCH = {"batch": {"rows": 8, "tokens_per_row": 64, "accumulation": 1}}


def spiked(after: float, probe: float | None, norm: float = 50.0, rare: int = 0):
    """A run whose step 150 is bad; the 60 losses after it stand at `after`, the probe at `probe`."""
    length = 300
    columns = {
        "loss": [1.0 + (0.1 if i % 2 else -0.1) for i in range(length)],
        "grad_norm": [1.0] * length,
        "probe_loss": [1.0] * length,
        "rare_tokens": [["tten"] if i == 150 else [] for i in range(length)],
        "rare_counts": [[float(rare)] if i == 150 else [] for i in range(length)],
    }
    columns["loss"][150], columns["grad_norm"][150] = 8.0, norm
    columns["loss"][151:211] = [after] * 60
    columns["probe_loss"][151:211] = [probe if probe is not None else 1.0] * 60
    if probe is None:
        del columns["probe_loss"]
    return make_run(columns, BATCH)


def judged(run: Run) -> Finding:
    """What struck at step 150 and whether it did harm, as a question asks the two one after the other."""
    struck = apply("bad_batch", run, BAD_BATCH, 150)
    harm = apply("lasting_harm", run, HARM, 150, struck.facts)
    return replace(harm, facts={**struck.facts, **harm.facts})


class TestBadBatch:
    def test_harm(self):
        found = judged(spiked(after=2.0, probe=1.9))
        assert (found.outcome, found.facts["ratio"], found.facts["last_bad"]) == ("harmed", 50.0, 150)
        assert found.facts["probe_rise"] == pytest.approx(0.9)

    @pytest.mark.parametrize(("climb", "outcome"), [([1.6, 1.6, 8.0], "batch"), ([3.0, 6.0, 8.0], "no")])
    def test_a_norm_that_follows_most_of_the_climb_is_a_consequence(self, climb: list[float], outcome: str):
        columns = spiked(after=4.0, probe=4.0).frame.to_dict(as_series=False)
        columns["loss"][150:153] = climb
        columns["grad_norm"][150:153] = [5.0, 8.0, 50.0]
        assert apply("bad_batch", make_run(columns, BATCH), BAD_BATCH, 150).outcome == outcome

    def test_contained(self):
        found = judged(spiked(after=1.0, probe=1.02))
        assert (found.outcome, found.facts["back_in"]) == ("contained", 1)

    @pytest.mark.parametrize(("rows", "outcome"), [(9, "contained"), (12, "harmed")])
    def test_normal_batches_must_be_back_within_ten_steps(self, rows: int, outcome: str):
        run = spiked(after=1.0, probe=1.0)
        loss = run["loss"].to_list()
        loss[151 : 151 + rows] = [3.0] * rows
        run = make_run(run.frame.to_dict(as_series=False) | {"loss": loss}, BATCH)
        assert HARM["within"].steps == 10
        assert judged(run).outcome == outcome

    @pytest.mark.parametrize(("rows", "outcome"), [(0, "contained"), (1, "contained"), (4, "harmed")])
    def test_of_rows_far_apart_the_very_next_ones_are_past_those_steps(self, rows: int, outcome: str):
        run = spiked(after=1.0, probe=None)
        loss = run["loss"].to_list()
        loss[151 : 151 + rows] = [4.0, 3.0, 2.5, 2.0][:rows]
        steps = [10 * step for step in run.steps]
        run = make_run(run.frame.to_dict(as_series=False) | {"loss": loss, "step": steps}, BATCH)
        struck = apply("bad_batch", run, BAD_BATCH, 1500)
        assert apply("lasting_harm", run, HARM, 1500, struck.facts).outcome == outcome

    def test_lists_that_do_not_pair_name_no_token(self):
        run = spiked(after=2.0, probe=1.9)
        columns = run.frame.to_dict(as_series=False) | {"rare_counts": [[0.0, 400.0]] * len(run)}
        assert judged(make_run(columns, BATCH)).facts["token"] is None

    def test_the_probe_alone_shows_harm(self):
        assert judged(spiked(after=1.0, probe=1.7)).outcome == "harmed"

    def test_without_a_probe_the_loss_decides(self):
        assert judged(spiked(after=1.0, probe=None)).outcome == "contained"

    def test_an_ordinary_gradient_and_no_rare_token(self):
        assert judged(spiked(after=1.0, probe=1.0, norm=20.0)).outcome == "no"

    def test_rare_tokens_concentrated_are_enough(self):
        found = judged(spiked(after=2.0, probe=1.9, norm=2.0, rare=100))
        assert (found.outcome, found.facts["token"]) == ("harmed", "tten")
        assert found.facts["share"] == pytest.approx(100 * 100 / 512)

    def test_no_gradient_norm_is_no_data(self):
        run = make_run({"loss": [1.0] * 300})
        assert judged(run).facts["missing"] == ["grad_norm"]

    @pytest.mark.parametrize(("row", "outcome"), [(148, "batch"), (140, "batch"), (139, "no"), (154, "no")])
    def test_the_norm_may_lead_the_loss_by_what_m_remembers(self, row: int, outcome: str):
        run = spiked(after=2.0, probe=1.9, norm=1.0)
        norms = run["grad_norm"].to_list()
        norms[row] = 60.0
        run = make_run(run.frame.to_dict(as_series=False) | {"grad_norm": norms}, BATCH)
        found = apply("bad_batch", run, BAD_BATCH, 150)
        assert (BAD_BATCH["lead"].steps, found.outcome) == (10, outcome)

    def test_an_infinite_norm_elsewhere_does_not_count(self):
        run = spiked(after=2.0, probe=1.9)
        norms = run["grad_norm"].to_list()
        norms[100] = math.inf
        run = make_run(run.frame.to_dict(as_series=False) | {"grad_norm": norms}, BATCH)
        assert judged(run).facts["usual"] == pytest.approx(1.0)


class TestLearningRate:
    def test_a_restart(self):
        lr = [1e-3 - 2e-6 * i for i in range(200)]
        lr[150:] = [1e-3] * 50
        found = apply("lr_jump", make_run({"lr": lr}), JUMP, 150)
        assert (found.outcome, found.step) == ("schedule", 150)

    def test_a_jump_in_the_row_after_counts_and_no_later_one(self):
        for row, outcome in ((151, "schedule"), (152, "no")):
            lr = [5e-4] * row + [1e-3] * 50
            assert apply("lr_jump", make_run({"lr": lr}), JUMP, 150).outcome == outcome

    def test_one_between_a_row_of_noise_and_the_peak_that_follows_counts(self):
        for jump, peak, outcome in ((159, 190, "schedule"), (195, 190, "no"), (159, 205, "no")):
            loss = [1.0] * 150 + [1.3] + [1.0] * 99  # the peak has half a window
            loss[peak] = 97.0
            lr = [1e-3] * jump + [0.5] * (250 - jump)
            assert apply("lr_jump", make_run({"lr": lr, "loss": loss}), JUMP, 150).outcome == outcome

    def test_one_shortly_before_counts_and_an_older_one_has_been_survived(self):
        assert JUMP["recent"] == Window(steps=10, rows=5)
        for row, outcome in ((141, "schedule"), (140, "no")):
            lr = [5e-4] * row + [1e-3] * 60
            assert apply("lr_jump", make_run({"lr": lr}), JUMP, 150).outcome == outcome

    def test_in_a_sparse_log_it_lies_within_a_few_rows_of_the_spike(self):
        for row, outcome in ((26, "schedule"), (25, "schedule"), (24, "no")):
            run = make_run({"step": [50 * i for i in range(40)], "lr": [5e-4] * row + [1e-3] * (40 - row)})
            assert apply("lr_jump", run, JUMP, 50 * 29).outcome == outcome

    def test_a_warm_up_of_a_few_rows_is_no_jump(self):
        lr = [0.0, 5e-4, 1e-3, *[1e-3 - 1e-6 * i for i in range(9)]]
        run = make_run({"step": [25 * (i + 1) for i in range(12)], "lr": lr})
        for at in (75, 100, 125):
            assert apply("lr_jump", run, JUMP, at).outcome == "no"

    def test_a_jump_in_a_warm_up_of_many_rows_is_one(self):
        lr = [1e-6 * (i + 1) + (1e-3 if i >= 30 else 0.0) for i in range(60)]
        assert apply("lr_jump", make_run({"lr": lr}), JUMP, 31).outcome == "schedule"

    def test_a_rise_after_the_rate_has_fallen_is_no_warm_up(self):
        lr = [5e-4, 1e-3, 5e-4, 1e-3, 1e-3, 1e-3]
        assert apply("lr_jump", make_run({"lr": lr}), {**JUMP, "usual": 0.5}, 3).outcome == "schedule"

    def test_down_is_no_jump(self):
        for row in (149, 150, 151):
            lr = [1e-3] * row + [5e-4] * 60
            assert apply("lr_jump", make_run({"lr": lr}), JUMP, 150).outcome == "no"

    def test_a_jump_of_the_bound_is_none(self):
        assert JUMP["jump"] == 0.1
        for before, outcome in ((0.9, "no"), (0.89, "schedule")):
            lr = [before] * 150 + [1.0] * 50
            found = apply("lr_jump", make_run({"lr": lr}), JUMP, 150)
            assert (found.outcome, found.facts["jump"]) == (outcome, pytest.approx(100 * (1 - before)))

    @pytest.mark.parametrize(
        ("starts", "outcome"),
        [
            ((100, 200, 300), "planned"),
            ((100, 200, 310), "planned"),
            ((100, 200, 330), "schedule"),
            ((200, 300), "schedule"),
            ((200,), "schedule"),
            ((100, 200), "planned"),  # the run begins with a cycle of its own
        ],
    )
    def test_restarts_at_equal_distances_are_planned(self, starts: tuple[int, ...], outcome: str):
        lr, last = [], 0
        for i in range(400):
            last = i if i in starts else last
            lr.append(1e-3 - 2e-6 * (i - last))
        assert apply("lr_jump", make_run({"lr": lr}), JUMP, 200).outcome == outcome

    @pytest.mark.parametrize(
        ("lengths", "outcome"), [((67, 133, 200), "planned"), ((80, 120, 200), "schedule")]
    )
    def test_so_are_cycles_each_of_which_is_so_many_times_as_long(
        self, lengths: tuple[int, ...], outcome: str
    ):
        lr = [1e-3 * (1 - 0.9 * i / length) for length in lengths for i in range(length)]
        assert apply("lr_jump", make_run({"lr": lr}), JUMP, 200).outcome == outcome

    def test_a_run_that_begins_lower_than_it_jumps_begins_no_cycle(self):
        lr = [5e-4] * 100 + [1e-3 - 4e-6 * (i % 100) for i in range(200)]
        assert apply("lr_jump", make_run({"lr": lr}), JUMP, 200).outcome == "schedule"

    def test_a_rate_that_only_climbs_has_no_restarts(self):
        run = make_run({"lr": [1e-4 * 1.25**row for row in range(60)], "loss": [1.0] * 60})
        assert apply("lr_jump", run, numbers("lr_jump"), 55).outcome != "planned"

    def test_a_stair_of_jumps_is_a_warm_up_where_the_rate_only_falls_after_it(self):
        stairs = [1e-3 * (1 + row // 20) for row in range(100)]
        falls = [5e-3 * (1 - row / 100) for row in range(100)]
        for rates, planned in ((stairs + falls, True), (stairs + [5e-3] * 100, False)):
            run = make_run({"lr": rates, "loss": [1.0] * 200})
            assert (apply("lr_jump", run, numbers("lr_jump"), 81).outcome == "planned") is planned

    def test_a_schedule_that_is_configured_with_restarts_is_planned(self):
        lr = [5e-4] * 150 + [1e-3] * 50
        for name, outcome in (("cosine_with_restarts", "planned"), ("cosine", "schedule")):
            run = make_run({"lr": lr}, {"schedule": {"name": name}})
            assert apply("lr_jump", run, JUMP, 150).outcome == outcome

    def test_gaps_and_nan_are_no_jump(self):
        lr: list[float | None] = [1e-3] * 200
        lr[149], lr[150] = math.nan, None
        assert apply("lr_jump", make_run({"lr": lr}), JUMP, 150).outcome == "no"
        assert apply("lr_jump", make_run({"lr": [1e-3, 2e-3]}), JUMP, 0).outcome == NOT_YET

    def test_a_cosine_and_a_warm_up_are_smooth(self):
        cosine = [1e-3 * (1 + math.cos(math.pi * i / 400)) / 2 for i in range(400)]
        warm = [1e-3 * (i + 1) / 100 for i in range(100)]
        for at in (0, 5, 50, 99, 100, 101, 300, 499):
            assert apply("lr_jump", make_run({"lr": warm + cosine}), JUMP, at).outcome in ("no", NOT_YET)

    def test_an_old_jump_is_not_this_spikes(self):
        lr = [1e-3] * 80 + [5e-4] * 120
        assert apply("lr_jump", make_run({"lr": lr}), JUMP, 150).outcome == "no"

    def test_constant_and_zero(self):
        for value in (1e-3, 0.0):
            assert apply("lr_jump", make_run({"lr": [value] * 200}), JUMP, 150).outcome == "no"

    def test_rising(self):
        numbers = {"window": Window(200, rows=20), "growth": 1.01}
        upside_down = [1e-3 - 3e-6 * i for i in range(300)] + [1e-4 + 3e-6 * i for i in range(300)]
        assert apply("rising_lr", make_run({"lr": upside_down}), numbers).outcome == "yes"
        rising = {"lr": [1e-4 + 1e-6 * i for i in range(300)]}
        assert apply("rising_lr", make_run(rising), numbers).outcome == "yes"  # no warm-up is configured
        warmed_up = make_run(rising, {"schedule": {"warmup_steps": 50}})
        assert apply("rising_lr", warmed_up, numbers).outcome == "yes"
        constant = apply("rising_lr", make_run({"lr": [1e-4] * 300}), numbers)
        assert (constant.outcome, constant.margin) == ("no", 1.0), "no hair between it and rising"
        assert apply("rising_lr", make_run({"lr": [1e-4] * 30}), numbers).outcome == NOT_YET

    def test_rising_inside_the_warm_up_is_not_there_yet(self):
        numbers = {"window": Window(200, rows=20), "growth": 1.01}
        run = make_run({"lr": [1e-6 * i for i in range(300)]}, {"schedule": {"warmup_steps": 1000}})
        assert apply("rising_lr", run, numbers).outcome == NOT_YET

    def test_a_warm_up_as_long_as_the_schedule_never_ends(self):
        manifest = {"schedule": {"warmup_steps": 1000, "schedule_steps": 1000}}
        run = make_run({"lr": [1e-6 * i for i in range(300)]}, manifest)
        assert apply("rising_lr", run, numbers("rising_lr")).outcome == "yes"


class TestBatchHash:
    def test_twin(self):
        run = make_run({"batch_hash": ["a", "b", "c", "b"]})
        found = apply("repeated_batch", run, {"look_back": 20}, 3)
        assert (found.outcome, found.facts["twin"]) == ("loader", 1)

    def test_too_far_back(self):
        run = make_run({"batch_hash": ["b", "x", "y", "b"]})
        assert apply("repeated_batch", run, {"look_back": 2}, 3).outcome == "no"

    def test_a_pass_over_the_data_set_later_is_no_mistake(self):
        hashes, per_epoch = ["a", "b", "c"] * 9, {"batch": {"steps_per_epoch": 3}}
        found = apply("repeated_batch", make_run({"batch_hash": hashes}, per_epoch), {"look_back": 20}, 20)
        assert (found.outcome, found.facts["per_epoch"]) == ("epoch", 3)
        stuck = make_run({"batch_hash": [*hashes, "c"]}, per_epoch)
        assert apply("repeated_batch", stuck, {"look_back": 20}, 27).outcome == "loader"

    def test_one_batch_in_all_rows_may_be_the_whole_data_set(self):
        run = make_run({"batch_hash": ["a"] * 30})
        found = apply("repeated_batch", run, {"look_back": 20}, 25)
        assert (found.outcome, found.facts) == (NO_DATA, {"missing": ["steps_per_epoch"]})

    def test_unhashed_rows_are_no_twins(self):
        run = make_run({"batch_hash": [None, "x", None]})
        assert apply("repeated_batch", run, {"look_back": 20}, 2).outcome == "no"


class TestPrecision:
    @pytest.mark.parametrize(
        ("given", "outcome"), [("fp32", "fp32"), ("torch.bfloat16", "bf16"), ("half", "fp16")]
    )
    def test_names(self, given: str, outcome: str):
        assert apply("dtype", make_run({"loss": [1.0]}, {"dtype": given}), {}).outcome == outcome

    def test_an_unknown_dtype_is_no_data(self):
        assert apply("dtype", make_run({"loss": [1.0]}, {"dtype": "int4"}), {}).outcome == NO_DATA

    def gradient(self, *bad: int, length: int = 100, kind: str = "fp16", value: float = math.inf) -> Finding:
        norms = [value if i in bad else 1.0 for i in range(length)]
        run = make_run({"grad_norm": norms}, {"dtype": kind})
        return apply("non_finite_gradient", run, numbers("non_finite_gradient"))

    @pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
    def test_gradients(self, value: float):
        assert self.gradient(value=value).outcome == "no"
        assert self.gradient(*range(20), value=value).outcome == "skipped"  # a scaler searches
        found = self.gradient(30, 40, 50, 60, value=value)  # 4 rows of the 80 after the search: 5 %
        assert (found.outcome, found.facts["count"], found.step) == ("skipped", 4, 30)
        assert (found.facts["begun"], found.facts["later"], found.facts["last"]) == (20.0, 4, 3)
        found = self.gradient(30, 40, 50, 60, 70, value=value)
        assert (found.outcome, found.facts["share"], found.facts["bound"]) == ("yes", 5.0, 5.0)

    def test_gradients_non_finite_to_the_end(self):
        assert self.gradient(98, 99).outcome == "skipped"
        assert self.gradient(97, 98, 99).outcome == "yes"

    @pytest.mark.parametrize("kind", ["fp32", "bf16", "fp16", "fp8"])
    def test_in_any_dtype(self, kind: str):
        assert self.gradient(0, 1, 2, length=3, kind=kind).outcome == "yes"
        assert self.gradient(0, 1, length=3, kind=kind).outcome == "skipped"
        assert self.gradient(0, 1, length=2, kind=kind).outcome == "skipped"

    def test_a_gap_in_the_norm_is_not_infinite(self):
        run = make_run({"grad_norm": [1.0, None, None, None]})
        assert apply("non_finite_gradient", run, numbers("non_finite_gradient")).outcome == "no"

    def skipped(self, **columns: list) -> Finding:
        return apply("steps_skipped", make_run(columns), numbers("steps_skipped"))

    def test_steps_skipped(self):
        assert self.skipped(skipped=[0.0] * 10).outcome == "some"
        assert self.skipped(skipped=[1.0] * 10).facts == {"count": 10, "rows": 10}
        assert self.skipped(skipped=[1.0] * 10).outcome == "all"
        assert self.skipped(skipped=[True] * 3).outcome == "all"
        assert self.skipped(skipped=[True] * 2).outcome == "some"
        assert self.skipped(skipped=[1.0] * 9 + [0.0]).outcome == "some"
        assert self.skipped(skipped=[0.0] * 5 + [1.0] * 5).outcome == "some"  # half of the rows
        assert self.skipped(skipped=[0.0] * 4 + [1.0] * 5).outcome == "all"
        assert self.skipped(skipped=[0.0] * 4, loss_scale=[math.nan] * 4).outcome == "some"
        assert self.skipped(skipped=[1.0, None, 1.0, 1.0, 1.0]).outcome == "all"

    def test_a_scale_that_only_halves_skips_every_step(self):
        halving = [2.0**-i for i in range(8)]
        assert self.skipped(loss_scale=halving).facts == {"count": 7, "rows": 7}
        assert self.skipped(loss_scale=halving).outcome == "all"
        assert self.skipped(loss_scale=halving[:3]).outcome == "some"
        assert self.skipped(loss_scale=[*halving, halving[-1]]).outcome == "some"
        assert self.skipped(loss_scale=[1024.0] * 8).outcome == "some"
        assert self.skipped(loss_scale=[math.nan, math.inf, 4.0, 2.0]).outcome == "some"

    def test_a_scale_that_is_still_looked_for_is_told_apart(self):
        halving = [2.0 ** (32 - row) for row in range(16)]
        found = self.skipped(loss_scale=halving, skipped=[1.0] * 16)
        assert (found.outcome, found.facts["lowest"], found.facts["begins"]) == (
            "searching",
            2.0**17,
            2.0**16,
        )
        assert self.skipped(loss_scale=[*halving, 2.0**16, 2.0**15], skipped=[1.0] * 18).outcome == "all"

    def test_a_scale_on_its_floor(self):
        found = self.skipped(loss_scale=[32768.0, 32768.0, 1.0, 1.0, 1.0])
        assert (found.outcome, found.facts["highest"], found.facts["lowest"]) == ("floor", 32768.0, 1.0)
        assert self.skipped(loss_scale=[32768.0, 1.0, 1.0]).outcome == "some"  # for two rows only
        assert self.skipped(loss_scale=[32768.0, *[2.0] * 4]).outcome == "some"
        assert self.skipped(loss_scale=[4.0, 4.0, *[1.0] * 4]).outcome == "some"  # it found a scale
        assert self.skipped(loss_scale=[1.0] * 5).outcome == "some"  # no scaler at work

    def test_a_scale_that_goes_on_to_fall_far_below_it_tells_in_few_rows(self):
        found = self.skipped(loss_scale=[None] * 8 + [2.0**-16, 2.0**-17])
        assert (found.outcome, found.facts["highest"], found.facts["lowest"]) == ("floor", 2.0**-16, 2.0**-17)
        assert self.skipped(loss_scale=[None] * 8 + [2.0**-16] * 2).outcome == "some"  # it was set so
        assert self.skipped(loss_scale=[None] * 8 + [2.0**-8, 2.0**-9]).outcome == "some"

    @pytest.mark.parametrize(("taken", "outcome"), [(0, "all"), (3, "all"), (4, "floor"), (20, "floor")])
    def test_a_scale_that_fell_after_the_run_had_trained_is_no_run_that_never_stepped(
        self, taken: int, outcome: str
    ):
        falls = [65536.0 * 0.5**i for i in range(31)]
        assert self.skipped(loss_scale=[falls[0]] * taken + falls).outcome == outcome

    def test_where_no_skip_was_logged_a_loss_that_falls_says_that_steps_were_taken(self):
        loss = [3.0 - row / 40 for row in range(60)]
        found = self.skipped(loss=loss)
        assert (found.outcome, found.facts["start"] > found.facts["best"]) == ("learns", True)
        assert self.skipped(loss=[3.0] * 60).facts == {"missing": ["loss_scale"]}
        assert self.skipped(loss=loss, skipped=[1.0] * 60).outcome == "all"

    def test_without_a_scale_most_of_the_steps_decide(self):
        assert self.skipped(skipped=[0.0] * 9 + [1.0] * 11).outcome == "all"

    @pytest.mark.parametrize(
        ("scale", "outcome"),
        [
            ([1024.0] * 9, "constant"),
            ([4.0, 2.0, 1.0, 0.5], "below"),
            ([65536.0, 32768.0, 65536.0], "dynamic"),
            ([4.0, 2.0, 1.0, 2.0], "below"),  # it lifts nothing there
            ([4.0, 2.0, 1.01, 2.0], "dynamic"),
            ([1.0] * 9, "constant"),
        ],
    )
    def test_scale(self, scale: list[float], outcome: str):
        assert apply("loss_scale", make_run({"loss_scale": scale}), {"floor": 1.0}).outcome == outcome

    @pytest.mark.parametrize(
        ("scale", "step", "since"),
        [
            ([512.0, *[1024.0] * 9, *[1024.0 * 0.5**row for row in range(1, 14)], 0.125], 19, 10),
            (
                [
                    *[1024.0] * 5,
                    *[2.0**-row for row in range(-9, 2)],  # a dip that was survived
                    *[2.0**row for row in range(11)],
                    *[1024.0] * 9,
                    *[2.0**-row for row in range(-9, 2)],
                ],
                14,
                36,
            ),
            ([2.0 ** (10 - row // 4) for row in range(60)], 40, 4),  # with pauses
        ],
    )
    def test_it_is_told_from_where_a_scale_fell(self, scale: list[float], step: int, since: int):
        found = apply("loss_scale", make_run({"loss_scale": scale}), {"floor": 1.0})
        assert (found.outcome, found.step, found.since) == ("below", step, since)
        assert found.facts["step"] == since


class TestParameters:
    NUMBERS = {"window": Window(200, rows=20), "factor": 2.0}

    def outcome(self, last: float) -> str:
        norm = [10.0 + (last - 10.0) * i / 299 for i in range(300)]
        columns = {"param_norm": [10.0] * 300, "param_norm_decay": norm, "param_norm_no_decay": [1.0] * 300}
        return apply("norm_change", make_run(columns), self.NUMBERS).outcome

    def test_each_group_counts(self):
        assert self.outcome(60.0) == "climbing"
        assert self.outcome(0.1) == "collapsing"
        assert self.outcome(11.0) == "no"


class TestGradientTrend:
    NUMBERS = {"window": Window(200, rows=20), "pieces": 4, "growth": 1.2}

    def test_trend(self):
        rising = make_run({"grad_norm": [1.0 + i / 200 for i in range(200)]})
        assert apply("rising_gradient", rising, self.NUMBERS).outcome == "yes"
        assert apply("rising_gradient", make_run({"grad_norm": [1.0] * 200}), self.NUMBERS).outcome == "no"
        assert apply("rising_gradient", make_run({"grad_norm": [0.0] * 200}), self.NUMBERS).outcome == "no"


def tree_rules(tree: trees.Tree):
    """Every rule of the tree, those of checks included."""
    for question in tree.questions.values():
        yield from filter(None, (question.rule, *(check.rule for check in question.checks.values())))


def test_checkpoint_before():
    run = make_run({"loss": [1.0] * 500}, checkpoints=[200, 400])
    found = apply("checkpoint_before", run, {"margin": 1}, 312)
    assert (found.outcome, found.step, found.facts["before"]) == ("yes", 200, 112)
    assert apply("checkpoint_before", run, {"margin": 1}, 200).outcome == "no"
    silent = make_run({"loss": [1.0] * 500})
    assert apply("checkpoint_before", silent, {"margin": 1}, 312).outcome == NO_DATA


@pytest.mark.parametrize("name", registry())
def test_every_detector_says_what_it_is(name: str):
    found = registry()[name]
    assert found.doc.endswith(".")
    assert found.outcomes


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, found in registry().items()
        if found.manifest or any("step" not in one for one in found.signals)
    ],
)
def test_a_missing_signal_is_no_data(name: str):
    found = apply(name, make_run({"nothing": [1.0]}), {})
    assert found.outcome == NO_DATA
    needed = registry()[name].signals
    best = [signal if isinstance(signal, str) else signal[0] for signal in needed]
    assert found.facts["missing"] == [*best, *registry()[name].manifest]


def test_a_finding_gives_the_facts_that_are_declared_of_its_outcome():
    seen = set()
    for name in ("19-control", "19-break"):
        run, tree = readers.open_run(name), trees.find("phase-19")
        for rule in tree_rules(tree):
            found = apply(rule.detector, run, rule.numbers, 312)
            assert set(found.facts) == set(registry()[rule.detector].facts_of(found.outcome))
            seen.add((rule.detector, found.outcome))
    assert len(seen) > 12
    assert "step" not in registry()["spike"].facts_of("no")
    assert registry()["spike"].facts_of(NOT_YET) == ("rows", "needed")


def test_of_signals_that_stand_in_for_one_another_one_is_enough():
    @detector(signals=(any_of("val_loss", "probe_loss"),), outcomes=("seen",), facts=("rows",))
    def toy(run: Run, at: int | None) -> Finding:
        """The rows that recorded either."""
        return Finding("seen", facts={"rows": len(run)})

    try:
        assert apply("toy", make_run({"probe_loss": [1.0, None, 2.0]}), {}).facts == {"rows": 2}
        assert apply("toy", make_run({"loss": [1.0]}), {}).facts == {"missing": ["val_loss"]}
    finally:
        detectors._REGISTRY.pop("toy")


def test_no_detector_asks_for_more_than_five_numbers():
    assert max(len(found.numbers) for found in registry().values()) <= 5


class TestWindow:
    def test_by_steps_where_they_hold_enough_rows(self):
        run = make_run({"loss": [1.0] * 60, "step": [*range(0, 500, 10), *range(500, 510)]})
        assert (Window(100, rows=5).start(run, 50), Window(100, rows=20).start(run, 50)) == (40, 30)
        assert Window(100, rows=5).start(run, 59) == 41  # 409 to 508: nine rows of ten steps, nine of one

    def test_the_window_after_may_not_be_there_yet(self):
        run = make_run({"loss": [1.0] * 60})
        assert (Window(10, rows=3).end(run, 20), Window(10, rows=3).end(run, 55)) == (30, 65)
        assert Window(10, rows=20).end(run, 20) == 40

    def test_a_spike_is_told_by_steps_where_the_cadence_changes(self):
        steps = [*range(0, 400, 4), *range(400, 600)]
        loss = [1.0 + (0.1 if i % 2 else -0.1) for i in range(len(steps))]
        loss[200] = 2.0
        found = apply("spike", make_run({"loss": loss, "step": steps}), numbers("spike"))
        assert (found.outcome, found.step, found.window) == ("yes", 500, (400, 500))

    def test_an_average_over_many_rows_rules_no_spike_out(self):
        even = make_run({"loss": [2.0 + 0.01 * (i % 7) for i in range(300)]})
        averaged = replace(even, aggregations={"loss": Aggregation("running")})
        assert apply("spike", even, numbers("spike")).outcome == "no"
        assert apply("spike", averaged, numbers("spike")).outcome == NO_DATA


LOST = numbers("lost_state")


class TestLostState:
    @staticmethod
    def logged(v: list[float], remarks: tuple[Remark, ...] = ()) -> Run:
        return replace(make_run({"loss": [1.0] * len(v), "adam_v_norm": v}), remarks=remarks)

    @pytest.mark.parametrize(("spike", "outcome"), [(299, "no"), (303, "state"), (320, "state"), (321, "no")])
    def test_a_v_that_falls_in_the_middle_of_a_log_was_built_anew(self, spike: int, outcome: str):
        found = apply("lost_state", self.logged([4.0] * 300 + [0.01] * 100), LOST, spike)
        assert found.outcome == outcome
        if outcome == "state":
            assert (found.facts["first"], found.facts["after"]) == (300, spike - 300)

    @pytest.mark.parametrize(("length", "outcome"), [(11, NOT_YET), (19, NOT_YET), (20, "state")])
    def test_a_few_rows_around_a_spike_may_be_an_excerpt(self, length: int, outcome: str):
        run = make_run({"step": [31201 + i for i in range(length)], "loss": [2.2] * 5 + [5.0] * (length - 5)})
        assert apply("lost_state", run, LOST, 31206).outcome == outcome

    @pytest.mark.parametrize(
        ("first", "apart", "outcome"),
        [
            (31200, 1, "state"),
            (31214, 1, "unresumed"),
            (31210, 10, "state"),
            (31220, 10, "unresumed"),
            (31000, 500, "state"),
        ],
    )
    def test_a_log_goes_on_where_checkpoints_are_saved(self, first: int, apart: int, outcome: str):
        steps = [first + i * apart for i in range(40)]
        run = make_run({"step": steps, "loss": [2.2] * 5 + [5.0] * 35})
        assert apply("lost_state", run, LOST, steps[5]).outcome == outcome

    def test_a_v_that_fades_was_kept(self):
        fading = [4.0 * 0.95**i for i in range(400)]
        assert apply("lost_state", self.logged(fading), LOST, 303).outcome == "no"

    def test_a_log_that_goes_back_was_resumed_there(self):
        run = self.logged([4.0] * 400, (Remark("resumed", {"count": 7, "steps": [100, 300]}),))
        assert apply("lost_state", run, LOST, 305).facts["first"] == 300
        assert apply("lost_state", run, LOST, 305).outcome == "state"
        assert apply("lost_state", run, LOST, 350).outcome == "no"
