"""Loss detectors on small arrays with known answers."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_run, numbers
from tutor.detectors import NO_DATA, NOT_YET, apply
from tutor.run import Aggregation, Counts

SPIKE, RECOVERY, RISING = numbers("spike"), numbers("recovery"), numbers("rising_loss")
SEVERITY = numbers("severity")


def wave(length: int, level: float = 1.0) -> list[float]:
    """level ± 0.1, alternating: mean `level`, population std 0.1."""
    return [level + (0.1 if i % 2 else -0.1) for i in range(length)]


class TestNonFinite:
    def test_finite(self):
        found = apply("non_finite_loss", make_run({"loss": wave(10)}), {})
        assert (found.outcome, found.facts["rows"]) == ("no", 10)

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_first_of_several(self, bad: float):
        found = apply("non_finite_loss", make_run({"loss": [1.0, 2.0, bad, 1.0, bad]}), {})
        assert (found.outcome, found.step, found.facts["count"], found.facts["last"]) == ("yes", 2, 2, 4)

    def test_a_gap_is_no_nan(self):
        assert apply("non_finite_loss", make_run({"loss": [1.0, None, 2.0]}), {}).outcome == "no"

    def test_rows_of_evaluation_are_not_counted(self):
        found = apply("non_finite_loss", make_run({"loss": [1.0, None] * 10}), {})
        assert (found.outcome, found.facts["rows"]) == ("no", 10)

    def test_a_loss_that_stops_before_the_log_does_may_be_a_nan(self):
        found = apply("non_finite_loss", make_run({"loss": [1.0] * 20 + [None] * 10}), {})
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["loss[20..29]"])
        found = apply("non_finite_loss", make_run({"loss": ([1.0] + [None] * 9) * 3}), {})
        assert found.outcome == "no"  # every tenth row, and the last nine are no more than that

    def test_no_loss_is_no_data(self):
        found = apply("non_finite_loss", make_run({"lr": [1.0]}), {})
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["loss"])


class TestClimbsIntoIt:
    """Two losses or more above all before them, the last over 3 times the highest of those: 1.1 in a wave."""

    @staticmethod
    def found(*last: float | None, **manifest: object):
        return apply(
            "climbs_into_it", make_run({"loss": [*wave(20), *last]}, manifest), numbers("climbs_into_it")
        )

    @pytest.mark.parametrize(
        ("last", "outcome"),
        [
            ([2.0, 3.4], "climbs"),
            ([2.0, 3.2], "no"),
            ([4.0, 3.4], "climbs"),
            ([4.0, 1.0], "no"),  # it comes down again
            ([1.0, 9.0], "no"),  # a single row, after one that fell
            ([1.2, 1e30], "climbs"),
            ([1.2 * 1.3**row for row in range(20)], "climbs"),  # no row is over 3 times the one two before
            ([1.7, 2.9, 6.0, 14.0, 12.0, 25.0, 38.0], "climbs"),  # with a row back
            ([9.0, *30 * [20.0, 18.0]], "climbs"),  # and stood there
            ([], "no"),
        ],
    )
    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_against_all_before(self, last: list[float], outcome: str, bad: float):
        found = self.found(*last, bad, None, bad)
        assert (found.outcome, found.facts["step"]) == (outcome, 20 + len(last))
        assert found.step == (20 if outcome == "climbs" else None)

    @pytest.mark.parametrize(
        ("climb", "outcome"),
        [
            ([2.0 + row / 40 for row in range(100)], "gives-back"),  # to a third of what it came down from
            ([2.0 + row / 100 for row in range(100)], "no"),
            ([2.0] * 98 + [7.0] * 2, "no"),  # two rows are no level
            ([2.0] * 95 + [3.0, 4.0, 5.0, 6.0, 7.0], "gives-back"),  # nor are five, but they climb straight
            ([2.0] * 95 + [2.1, 2.2, 2.3, 2.4, 2.5], "no"),
            ([2.0] * 90 + [7.0] * 9 + [2.0], "no"),  # it is back
        ],
    )
    def test_what_was_learned_is_lost_again(self, climb: list[float], outcome: str):
        """Below where it began it stays, which was untrained."""
        loss = [10.0 - 0.08 * row + 0.02 * (-1) ** row for row in range(100)]
        found = apply(
            "climbs_into_it", make_run({"loss": [*loss, *climb, math.nan]}), numbers("climbs_into_it")
        )
        assert (found.outcome, found.facts["step"]) == (outcome, 200)
        if outcome == "gives-back":
            assert found.facts["given"] > found.facts["bound"] == 20.0
            assert math.isnan(found.facts["end"])

    def test_a_leaf_has_the_best_loss_and_the_end(self):
        found = self.found(0.5, 2.0, 30.0, math.nan)
        assert (found.facts["best"], found.facts["best_step"], found.facts["last"]) == (0.5, 20, 30.0)
        assert math.isnan(found.facts["end"])
        assert found.margin == pytest.approx(30 / 1.1 / 3 - 1)

    @pytest.mark.parametrize("last", [[], [2.0, 30.0], [2.0, 30.0, math.nan, 1.0], [2.0, -math.inf, 1.0]])
    def test_what_doesnt_end_in_nan_has_nothing_to_climb_into(self, last: list[float]):
        assert self.found(*last).outcome == NO_DATA

    @pytest.mark.parametrize(
        "loss", [[math.nan], [1.0, math.nan], [1.0, 2.0, math.nan], [-1.0, -0.5, 9.0, math.nan]]
    )
    def test_too_little_to_compare_with(self, loss: list[float]):
        found = apply("climbs_into_it", make_run({"loss": loss}), numbers("climbs_into_it"))
        assert found.outcome == (NO_DATA if loss[0] < 0 else "at-first")

    def test_zeros_that_stand_for_nan(self):
        """Hugging Face's Trainer logs a NaN as 0."""
        run = make_run({"loss": [*wave(20), 5.0, 80.0, *5 * [0.0]]})
        hides = {"loss": Aggregation("window", shows_nan=False)}
        found = apply("climbs_into_it", replace(run, aggregations=hides), numbers("climbs_into_it"))
        assert (found.outcome, found.facts["step"]) == ("climbs", 22)


class TestSpike:
    def test_measured_against_the_100_rows_before(self):
        loss = wave(200)
        loss[150] = 2.0
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.outcome, found.step, found.others) == ("yes", 150, ())
        assert found.facts["mean"] == pytest.approx(1.0)
        assert found.facts["std"] == pytest.approx(0.1)
        assert found.level == pytest.approx(1.3)

    @pytest.mark.parametrize(
        ("loss", "step"),
        [
            ([-4.1, -4.5, -4.4, 4191.0, -2.4, -2.9, -4.0], 778),
            ([-4.1, -4.5, -4.4, 300.0, -2.4, -2.9, -4.0], None),
            ([0.09, 0.05, 50.0, 0.06, 0.05, 0.05, 0.05], 777),
        ],
    )
    def test_a_log_that_begins_mid_way_needs_no_window_for_a_row_that_towers_a_hundredfold(
        self, loss: list[float], step: int | None
    ):
        assert SPIKE["foremost"].alone == 100.0
        rows = {"step": [*range(775, 782)], "loss": loss}
        found = apply("spike", make_run(rows), SPIKE)
        assert (found.outcome, found.step) == ("yes" if step else "no", step)

    def test_rows_of_evaluation_hide_no_spike(self):
        loss = wave(200)
        loss[150] = 2.0
        with_evaluation = [
            x for i, value in enumerate(loss) for x in ([value, None] if i % 20 == 19 else [value])
        ]
        found = apply("spike", make_run({"loss": with_evaluation}), SPIKE)
        assert (found.outcome, found.facts["peak"]) == ("yes", 2.0)

    def test_just_under_the_bound_is_none(self):
        loss = wave(200)
        loss[150] = 1.299
        assert apply("spike", make_run({"loss": loss}), SPIKE).outcome == "no"

    def test_neighbours_are_one_spike_dated_at_its_beginning(self):
        loss = wave(300)
        loss[150:153] = [2.0, 5.0, 3.0]
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.step, found.facts["peak"], found.facts["peak_step"], found.facts["count"]) == (
            150,
            5.0,
            151,
            1,
        )

    def test_the_worst_first_and_the_others_kept(self):
        loss = wave(500)
        loss[150], loss[300], loss[450] = 2.0, 6.0, 1.5
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.step, found.others) == (300, (150, 450))

    @pytest.mark.parametrize(("second", "named"), [(9.0, 150), (30.0, 300)])
    def test_what_rises_while_an_earlier_spike_lasts_is_a_part_of_it(self, second: float, named: int):
        run = make_run({"loss": wave(150) + wave(150, level=4.0) + [second] * 4 + wave(20, level=4.0)})
        found = apply("spike", run, SPIKE)
        assert (found.step, found.facts["count"]) == (named, 1 if named == 150 else 2)

    @pytest.mark.parametrize(("dip", "count"), [(1.0, 1), (0.01, 1), (0.0005, 2)])
    def test_a_climb_that_goes_on_is_one_however_tall(self, dip: float, count: int):
        climb = [2.0 * 1.1**row for row in range(120)]
        climb[70] *= dip  # below the bound, where it came back in between
        found = apply("spike", make_run({"loss": wave(150) + climb}), SPIKE)
        assert found.facts["count"] == count
        assert (found.step == 150) == (count == 1)

    def test_a_run_that_never_comes_back_is_dated_where_it_left(self):
        """A row of noise before it, and the tallest far behind, are no beginning."""
        away = [3.0, 8.0, 5.0, 4.0] * 10 + [10.0**power for power in range(2, 32)]
        loss = wave(150)
        loss[130] = 1.5
        found = apply("spike", make_run({"loss": loss + away}), SPIKE)
        assert (found.step, found.facts["count"]) == (150, 1)

    @pytest.mark.parametrize(("part", "outcome"), [(4.0, "no"), (1.0, "yes")])
    def test_what_parts_that_are_added_explain_is_none(self, part: float, outcome: str):
        loss = [*wave(150), *[one + 5.0 for one in wave(50)]]
        columns = {"loss": loss, "aux_loss": [*[None] * 150, *[part] * 50]}
        assert apply("spike", make_run(columns), SPIKE).outcome == outcome

    def test_one_row_that_lasts_no_longer_takes_no_later_spike_for_its_part(self):
        run = make_run({"loss": wave(150) + [4.0] + wave(149) + [9.0] * 4 + wave(20)})
        assert apply("spike", run, SPIKE).step == 300

    def test_a_short_log_is_judged_with_half_of_its_rows(self):
        loss = wave(100)
        assert apply("spike", make_run({"loss": loss}), SPIKE).facts["rows"] == 50
        loss[70] = 2.0
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.outcome, found.step, found.window) == ("yes", 70, (20, 70))

    @pytest.mark.parametrize("rows", [100, 130, 199, 200, 600])
    def test_the_fast_fall_at_first_hides_no_spike(self, rows: int):
        loss = [3.0 + 7.0 * math.exp(-row / 20) + 0.01 * wave(200)[row % 200] for row in range(rows)]
        for after in range(60, min(90, rows)):
            loss[after] += 4.0 * math.exp(-(after - 60) / 6)
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.outcome, found.step) == ("yes", 60)
        assert found.facts["mean"] == pytest.approx(3.6, abs=0.1)
        assert apply("severity", make_run({"loss": loss}), SEVERITY, 60).outcome == "hurt"

    def test_an_easy_stretch_later_on_is_no_baseline(self):
        loss = [2.0 * (0.8 if 400 <= row < 430 else 1.0) + 0.1 * wave(400)[row % 400] for row in range(1000)]
        run = make_run({"loss": loss})
        found = apply("spike", run, SPIKE)
        assert found.outcome == "no" or apply("severity", run, SEVERITY, found.step).outcome == "blip"

    def test_too_short(self):
        found = apply("spike", make_run({"loss": wave(5)}), SPIKE)
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 5, "needed": 6})
        assert apply("spike", make_run({"loss": wave(6)}), SPIKE).outcome == "no"

    def test_the_first_rows_spike_above_so_many_times_where_the_log_began(self):
        assert SPIKE["early"] == 2.0
        for peak, outcome in ((2.0, "no"), (2.01, "yes")):
            loss = [1.0] * 300
            loss[10] = peak
            found = apply("spike", make_run({"loss": loss}), SPIKE)
            assert found.outcome == outcome
        assert (found.step, found.facts["mean"], found.level) == (10, 1.0, 2.0)

    def test_the_first_rows_of_a_noisy_run_spike_above_its_noise(self):
        rng = random.Random(0)
        loss = [0.58, 0.47, 1.37, *(abs(rng.gauss(0.7, 0.4)) for _ in range(70))]
        assert apply("spike", make_run({"loss": loss}), SPIKE).outcome == "no"
        found = apply("spike", make_run({"loss": [0.58, 0.47, 13.7, *loss[3:]]}), SPIKE)
        assert (found.outcome, found.step) == ("yes", 2)
        assert (found.facts["mean"], found.facts["std"]) == pytest.approx(
            (0.525, 0.055)
        )  # of the two before it

    def test_the_first_rows_with_nan_inf_and_gaps(self):
        loss: list[float | None] = [1.0] * 300
        loss[1], loss[5], loss[7], loss[10] = math.nan, math.inf, None, 4.0
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.outcome, found.step, found.facts["peak"]) == ("yes", 10, 4.0)

    def test_where_it_left_for_good_is_no_single_low_row(self):
        loss = [*[3.0] * 5, *[1.0] * 195, *[9.0] * 30, *[1.0] * 100, *[9.0] * 50, 1.0, *[9.0] * 20]
        found = apply("severity", make_run({"loss": loss}), SEVERITY, 200)
        assert (found.outcome, found.facts["kept"]) == ("lost", 2.0)
        assert found.facts["left"] == pytest.approx(330, abs=1)

    @pytest.mark.parametrize(("end", "outcome"), [(0.8, "lost"), (0.4, "hurt")])
    def test_of_two_networks_that_train_against_each_other_each_rises_as_the_other_learns(
        self, end: float, outcome: str
    ):
        loss = [0.39, 0.38, 0.41, 2.3, 1.3, 0.9, 1.2, *[end] * 20]
        beside = {"g_loss": [6.5 - row / 10 for row in range(27)]}
        assert apply("severity", make_run({"loss": loss} | beside), SEVERITY, 3).outcome == "opposed"
        assert apply("severity", make_run({"loss": loss}), SEVERITY, 3).outcome == outcome

    LEAP = (0.9, 390.0, 260.0, *[104.0 * 0.95**row for row in range(100)])

    def test_a_leap_in_the_second_row_is_one(self):
        run = make_run({"loss": list(self.LEAP)})
        found = apply("spike", run, SPIKE)
        assert (found.outcome, found.step, found.facts["peak"], found.facts["mean"]) == ("yes", 1, 390.0, 0.9)
        assert apply("recovery", run, RECOVERY, 1).outcome == "late"
        assert apply("severity", run, SEVERITY, 1).outcome == "hurt"
        assert (
            apply("severity", make_run({"loss": [*self.LEAP[:50], *[8.0] * 50]}), SEVERITY, 1).outcome
            == "lost"
        )

    @pytest.mark.parametrize(
        "loss",
        [
            (0.9, *[90.0 + row % 3 for row in range(100)]),  # the sums of so many batches
            (0.9, *[190.0 + row % 3 for row in range(100)]),
            (4.0, *LEAP[1:]),  # a learning rate that is far too high lifts it by less than a hundred times
            (0.9, 390.0, 1.2, *LEAP[3:]),  # one batch
            (-0.9, *LEAP[1:]),
        ],
    )
    def test_or_the_first_row_is_of_another_kind(self, loss: tuple[float, ...]):
        found = apply("spike", make_run({"loss": list(loss)}), SPIKE)
        assert found.outcome == "no" or found.step != 1

    @pytest.mark.parametrize("seed", range(12))
    def test_noise_that_shrinks_with_the_loss_makes_no_early_spike(self, seed: int):
        """Wide lognormal noise: four of twelve such logs begin so low that what follows is twice as high."""
        draw = random.Random(seed)
        loss = [(0.5 + 2 * math.exp(-row / 100)) * draw.lognormvariate(0, 0.45) for row in range(600)]
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert found.step is None or found.step >= 20

    def test_a_log_that_begins_with_its_highest_loss_has_no_early_spike(self):
        assert apply("spike", make_run({"loss": [9.0, 9.0, *[2.0] * 298]}), SPIKE).outcome == "no"

    def test_nor_has_one_that_begins_half_as_high_as_it_climbs_to(self):
        loss = [1.7, *[1.0] * 4, *[9.0] * 3, *[1.0] * 292]
        assert apply("spike", make_run({"loss": loss}), SPIKE).step != 0

    def test_a_loss_around_0_or_often_0_is_no_objective(self):
        for loss in ([-1.0, 1.0] * 150, [0.0] * 100 + [1.0] * 200):
            found = apply("spike", make_run({"loss": loss}), SPIKE)
            assert (found.outcome, found.facts) == (NO_DATA, {"missing": []})

    def test_a_flat_loss_never_spikes(self):
        assert apply("spike", make_run({"loss": [0.3] * 300}), SPIKE).outcome == "no"

    def test_a_row_every_50_steps_uses_20_rows(self):
        loss = wave(40)
        loss[30] = 9.0
        found = apply("spike", make_run({"loss": loss, "step": [50 * i for i in range(40)]}), SPIKE)
        assert (found.step, found.facts["rows"]) == (1500, 20)

    @given(
        st.lists(st.one_of(st.floats(width=32), st.none()), min_size=1, max_size=300),
        st.integers(1, 100),
    )
    def test_any_column_gives_one_of_the_outcomes(self, loss: list[float | None], cadence: int):
        run = make_run({"loss": loss, "step": [cadence * i for i in range(len(loss))]})
        assert apply("spike", run, SPIKE).outcome in ("yes", "no", NOT_YET, NO_DATA)
        for at in (0, cadence * len(loss) // 2, cadence * len(loss)):
            assert apply("recovery", run, RECOVERY, at).outcome in ("yes", "late", "no", NOT_YET, NO_DATA)
        assert apply("rising_loss", run, RISING).outcome in ("yes", "no", NOT_YET, NO_DATA)

    def test_an_early_one_after_a_first_row_as_high(self):
        loss = [6.9, 3.6, 3.3, 3.2, 4.1, 6.2, 4.2, 3.9, 3.7, 3.7, 3.6, 3.6, 4.0, 24.0, 19.4, 5.0, 5.1, 4.8]
        loss += [4.6 - 0.02 * row for row in range(14)]
        found = apply("spike", make_run({"loss": loss}), SPIKE)
        assert (found.outcome, found.step) == ("yes", 13)


class TestRecovery:
    def loss(self, lingering: int) -> list[float]:
        loss = wave(400)
        loss[200] = 8.0
        loss[201 : 201 + lingering] = [2.0] * lingering
        return loss

    def test_back_at_once(self):
        found = apply("recovery", make_run({"loss": self.loss(0)}), RECOVERY, 200)
        assert (found.outcome, found.facts["after"]) == ("yes", 1)
        assert found.level == pytest.approx(1.05)

    def test_back_after_30(self):
        found = apply("recovery", make_run({"loss": self.loss(30)}), RECOVERY, 200)
        assert (found.outcome, found.facts["after"]) == ("yes", 31)

    def test_not_inside_50(self):
        found = apply("recovery", make_run({"loss": self.loss(80)}), RECOVERY, 200)
        assert (found.outcome, found.step, found.facts["after"]) == ("late", 281, 81)
        lasting = make_run({"loss": self.loss(10_000)})
        found = apply("recovery", lasting, RECOVERY, 200)
        assert (found.outcome, found.step, found.facts["value"]) == ("no", 250, pytest.approx(2.0))

    @pytest.mark.parametrize("seed", range(8))
    def test_the_last_few_rows_of_a_run_that_is_back_are_above_by_chance(self, seed: int):
        draw = random.Random(seed)
        loss = [3.0 + 0.03 * draw.gauss(0, 1) for _ in range(2000)]
        for after in range(100):
            loss[1000 + after] += 4.0 * math.exp(-after / 15)
        assert apply("recovery", make_run({"loss": loss}), RECOVERY, 1000).outcome in ("late", "yes")

    @pytest.mark.parametrize("rows", [5, 40, 95])
    def test_what_was_before_it_came_back_does_not_count_at_the_end(self, rows: int):
        loss = [*wave(200), *[5.0] * 200, *wave(rows)]
        found = apply("recovery", make_run({"loss": loss}), RECOVERY, 200)
        assert (found.outcome, found.step) == ("late", 400)

    def test_one_lucky_batch_is_no_recovery(self):
        loss = self.loss(80)
        loss[230] = 0.5
        assert apply("recovery", make_run({"loss": loss}), RECOVERY, 200).outcome == "late"

    def test_the_calm_between_a_blip_and_the_rise_is_no_recovery(self):
        loss = wave(400)
        loss[200] = 1.5
        loss[230:] = [x + 2.0 for x in loss[230:]]
        found = apply("recovery", make_run({"loss": loss}), RECOVERY, 200)
        assert found.outcome == "no"
        assert found.step >= 280  # searched from the peak on

    def test_the_run_ends_too_soon_to_say(self):
        assert apply("recovery", make_run({"loss": self.loss(80)[:204]}), RECOVERY, 200).outcome == NOT_YET

    @pytest.mark.parametrize("end", [205, 240])
    def test_from_five_rows_on_none_of_which_is_back_it_has_not_come_back_so_far(self, end: int):
        assert RECOVERY["still"] == 5
        found = apply("recovery", make_run({"loss": self.loss(80)[:end]}), RECOVERY, 200)
        assert (found.outcome, found.step, found.level) == ("no", end - 5, pytest.approx(1.05))

    def test_one_row_that_is_back_leaves_it_open(self):
        loss = self.loss(80)[:240]
        loss[220] = 0.9
        assert apply("recovery", make_run({"loss": loss}), RECOVERY, 200).outcome == NOT_YET

    def test_what_is_no_number_is_no_row_that_was_seen(self):
        loss = [*self.loss(80)[:203], math.nan, None, math.inf]
        assert apply("recovery", make_run({"loss": loss}), RECOVERY, 200).outcome == NOT_YET

    def test_nan_after_the_spike_is_no_recovery(self):
        loss = self.loss(0)
        loss[201:] = [math.nan] * len(loss[201:])
        assert apply("recovery", make_run({"loss": loss}), RECOVERY, 200).outcome == "no"


class TestRising:
    def test_rows_of_evaluation_do_not_shorten_the_window(self):
        climbing = [1 + i / 100 for i in range(300)]
        rows = [x for value in climbing for x in (value, None)]
        found = apply("rising_loss", make_run({"loss": rows}), RISING)
        assert found.outcome == "yes"

    def test_a_steady_rise(self):
        loss = [value + 0.01 * i for i, value in enumerate(wave(200))]
        found = apply("rising_loss", make_run({"loss": loss}), RISING)
        assert (found.outcome, found.facts["rise"]) == ("yes", pytest.approx(1.5))

    def test_noise_is_no_rise(self):
        assert apply("rising_loss", make_run({"loss": wave(200)}), RISING).outcome == "no"

    def test_a_rise_smaller_than_the_noise(self):
        loss = [value + 1e-4 * i for i, value in enumerate(wave(200))]
        assert apply("rising_loss", make_run({"loss": loss}), RISING).outcome == "no"

    def test_up_and_down_again_is_no_rise(self):
        loss = [1.0] * 100 + [3.0] * 50 + [2.0] * 50
        assert apply("rising_loss", make_run({"loss": loss}), RISING).outcome == "no"

    def test_too_short(self):
        assert apply("rising_loss", make_run({"loss": wave(199)}), RISING).outcome == NOT_YET


class TestSeverity:
    """A log that gained one nat, then stood at 1.0; the spike begins at step 200."""

    def found(self, *spike: float | None, gained: float = 1.0):
        loss: list[float | None] = [*([1.0 + gained] * 20), *[1.0] * 280]
        loss[200 : 200 + len(spike)] = spike
        return apply("severity", make_run({"loss": loss}), SEVERITY, 200)

    def test_what_rounding_leaves_is_no_gain(self):
        loss = [0.1 + 0.2, *[0.3] * 9, *[2.0] * 4]
        found = apply("severity", make_run({"loss": loss}), SEVERITY, 10)
        assert (found.outcome, found.facts["gained"]) == ("hurt", 0.0)

    @pytest.mark.parametrize("odd", [math.nan, math.inf, None])
    def test_of_a_log_that_begins_without_a_finite_loss_no_gain_is_known(self, odd: float | None):
        loss = [*[odd] * 5, *[0.3, 0.31] * 6, *[2.0] * 4]
        found = apply("severity", make_run({"loss": loss}), SEVERITY, 17)
        assert (found.outcome, found.facts["gained"]) == ("hurt", 0.0)

    def test_two_rows_before_it_say_nothing_of_the_noise(self):
        loss = [0.058, 0.058, 0.163, 0.073, 0.068, 0.061, 0.052, 0.054, 0.06]
        assert apply("severity", make_run({"loss": loss}), SEVERITY, 2).outcome == "blip"
        loss[2:5] = [5.0, 4.5, 4.8]
        assert apply("severity", make_run({"loss": loss}), SEVERITY, 2).outcome == "hurt"

    def test_a_log_that_ends_too_soon_climbs_on(self):
        loss = [*[3.0] * 5, *[1.0] * 195]
        for end, outcome in [
            ([4.0, 20.0, 400.0], "lost"),
            ([4.0, 400.0, 20.0, 500.0], "lost"),
            ([4.0, 400.0, 20.0], "hurt"),
            ([1.5, 20.0, 400.0], "hurt"),
        ]:
            assert apply("severity", make_run({"loss": loss + end}), SEVERITY, 200).outcome == outcome

    def test_it_never_came_back_where_the_last_five_rows_give_back_half_of_the_gain(self):
        loss = [*[3.0] * 5, *[1.0] * 195]
        found = apply("severity", make_run({"loss": [*loss, 9.0, 3.0, 2.5, 2.4, 2.1]}), SEVERITY, 200)
        assert (found.outcome, found.facts["kept"], found.facts["end"]) == ("lost", 2.0, 2.5)
        assert (found.facts["best"], found.facts["best_step"]) == (1.0, 5)
        for end in ([9.0, 3.0, 2.5, 2.1], [9.0, 3.0, 1.9, 1.8, 1.9], [9.0, 3.0, 2.4, *[1.9] * 5]):
            assert apply("severity", make_run({"loss": loss + end}), SEVERITY, 200).outcome == "hurt"

    @pytest.mark.parametrize(
        ("lowest", "outcome"),
        [
            (8.0, "rewarded"),
            (1.0, "rewarded"),  # it keeps half of what it had risen
            (-4.0, "hurt"),
        ],
    )
    def test_beside_a_reward_that_rose_only_what_it_loses_counts(self, lowest: float, outcome: str):
        loss = [*[2.0] * 20, *[1.0] * 180, *[5.0] * 10, *[1.0] * 90]
        reward = [*(-8.0 + 16.0 * row / 199 for row in range(200)), *[lowest] * 40, *[8.0] * 60]
        found = apply("severity", make_run({"loss": loss, "ep_rew_mean": reward}), SEVERITY, 200)
        assert found.outcome == outcome
        if outcome == "rewarded":
            assert (found.facts["reward"], found.facts["after"]) == (
                "ep_rew_mean",
                pytest.approx(lowest, abs=1.1),
            )

    def test_nor_does_what_a_reward_loses_and_gains_more_than_it_had(self):
        loss = [*[2.0] * 20, *[1.0] * 180, *[5.0] * 10, *[1.0] * 90]
        reward = [*(-8.0 + 16.0 * row / 199 for row in range(200)), *[-4.0] * 40]
        found = apply(
            "severity", make_run({"loss": loss, "ep_rew_mean": reward + [20.0] * 60}), SEVERITY, 200
        )
        assert (found.outcome, found.facts["end"]) == ("rewarded", 20.0)
        assert found.facts["after"] == pytest.approx(-4.0)

    def test_it_lasts_and_is_more_than_a_fifth_of_the_gain(self):
        assert (SEVERITY["lasting"].rows, SEVERITY["of_gain"]) == (3, 0.2)
        found = self.found(1.26, 1.3, 1.26)
        assert (found.outcome, found.facts["lasted"], found.facts["gained"]) == ("hurt", 3, 1.0)
        assert (found.measured, found.bound) == (pytest.approx(0.3), 0.2)

    @pytest.mark.parametrize("spike", [(1.3, 1.3), (1.2, 1.2, 1.2), (1.3, 1.3, None)])
    def test_two_rows_or_a_height_at_the_bound_are_a_blip(self, spike: tuple[float | None, ...]):
        assert self.found(*spike).outcome == "blip"

    def test_where_nothing_was_gained_the_level_is_the_measure(self):
        assert self.found(1.19, 1.19, 1.19, gained=0.0).outcome == "blip"
        assert self.found(1.21, 1.21, 1.21, gained=0.0).outcome == "hurt"

    def test_one_row_hurts_only_where_it_towers(self):
        assert SEVERITY["tall"] == 10.0
        assert self.found(11.0).outcome == "blip"
        found = self.found(11.1)
        assert (found.outcome, found.bound) == ("towers", pytest.approx(10.0))

    @pytest.mark.parametrize(
        ("first", "peak", "counts", "outcome"),
        [
            ([0.74], 0.26, "epochs", "blip"),
            ([0.74], 0.26, "steps", "towers"),
            ([0.74], 0.8, "epochs", "towers"),  # it costs more than the first one did
            ([None, 0.74], 0.26, "epochs", "blip"),  # after an evaluation
        ],
    )
    def test_of_epochs_the_first_row_shows_what_was_gained(
        self, first: list[float | None], peak: float, counts: Counts, outcome: str
    ):
        loss = [*first, *[0.02] * 28, peak, *[0.02] * 5]
        run = replace(make_run({"loss": loss}), counts=counts)
        assert apply("severity", run, SEVERITY, 28 + len(first)).outcome == outcome

    def test_nor_there_where_a_generator_trains_against_a_discriminator(self):
        loss = [*[2.0] * 20, *[1.0] * 180, 30.0, *[1.0] * 20]
        for beside, outcome in (("Loss_G", "blip"), ("loss_ema", "towers")):
            run = make_run({"loss": loss, beside: [5.0] * len(loss)})
            assert apply("severity", run, SEVERITY, 200).outcome == outcome

    def test_a_wild_beginning_hides_no_spike_far_below_it(self):
        loss = [*[1e5] * 20, *[50.0] * 180]
        for spike, outcome in [
            ([600.0, 1500.0, 700.0], "hurt"),
            ([600.0, 1500.0], "blip"),
            ([400.0, 500.0, 400.0], "blip"),  # it rises by less than a two-hundredth of what had been gained
        ]:
            found = apply("severity", make_run({"loss": [*loss, *spike, *[50.0] * 20]}), SEVERITY, 200)
            assert (found.outcome, found.bound) == (outcome, 500.0)
        learned = [*[5.0] * 20, *[1e-4] * 180, *[2e-2] * 3, *[1e-4] * 20]
        assert apply("severity", make_run({"loss": learned}), SEVERITY, 200).outcome == "blip"

    @pytest.mark.parametrize(
        ("level", "row", "outcome"),
        [
            (0.02, 60.0, "towers"),
            (0.02, 19.0, "blip"),  # less than a thousand times the level
            (0.001, 12.0, "blip"),  # a guess among the tokens of a vocabulary costs as much
            (0.001, 13.0, "towers"),
        ],
    )
    def test_one_row_a_thousand_times_the_level_is_no_hard_batch(
        self, level: float, row: float, outcome: str
    ):
        loss = [*[1500.0] * 20, *[level] * 180, row, *[level] * 20]
        assert apply("severity", make_run({"loss": loss}), SEVERITY, 200).outcome == outcome

    @pytest.mark.parametrize(
        ("evaluated", "outcome"),
        [({200: 1.5}, "evaluated"), ({200: 1.1}, "blip"), ({199: 1.5}, "blip"), ({201: 1.5}, "blip")],
    )
    def test_one_row_is_enough_that_an_evaluation_shows_too(self, evaluated: dict[int, float], outcome: str):
        loss = [*[2.0] * 20, *[1.0] * 180, 1.5, *[1.0] * 20]
        every = {row: 2.0 if row < 20 else 1.0 for row in range(0, len(loss), 10) if row != 200}
        held_out = [(every | evaluated).get(row) for row in range(len(loss))]
        found = apply("severity", make_run({"loss": loss, "val_loss": held_out}), SEVERITY, 200)
        assert found.outcome == outcome
        few = [None if row < 180 else value for row, value in enumerate(held_out)]
        assert apply("severity", make_run({"loss": loss, "val_loss": few}), SEVERITY, 200).outcome == "blip"

    @pytest.mark.parametrize(("rows", "outcome"), [(19, "blip"), (20, "hurt")])
    def test_one_that_stays_needs_a_tenth_of_the_level_whatever_had_been_gained(
        self, rows: int, outcome: str
    ):
        found = self.found(*[1.11] * rows, gained=50.0)
        assert (found.outcome, found.facts["lasted"]) == (outcome, rows)
        assert found.facts["rows_bound"] == (20 if outcome == "hurt" else 3)
        assert self.found(*[1.09] * 30, gained=50.0).outcome == "blip"
        assert self.found(1.5, *[1.09] * 30, gained=50.0).outcome == "blip"  # it is back at once
        drift = [1.11 + 0.01 * row for row in range(30)]
        assert self.found(*drift, gained=50.0).outcome == "blip"

    def test_nan_and_inf_are_no_calm(self):
        found = self.found(1.3, math.nan, math.inf)
        assert (found.outcome, found.facts["lasted"], found.facts["peak"]) == ("hurt", 3, 1.3)

    def test_a_row_and_a_breath_before_the_burst_hide_nothing_of_it(self):
        found = self.found(1.3, 1.0, 1.2, 3.0, 4.0, 3.0, 2.0)
        assert (found.outcome, found.facts["lasted"], found.facts["peak"]) == ("hurt", 5, 4.0)
        assert self.found(1.3, 1.0, 1.3, 1.0, 1.3).outcome == "blip"

    def test_a_low_stretch_that_lasts_and_a_tall_row_elsewhere_are_a_blip(self):
        found = self.found(1.1, 1.1, 1.1, 1.0, 1.9)
        assert (found.outcome, found.facts["lasted"], found.facts["peak"]) == ("blip", 3, 1.1)

    def test_what_comes_half_a_window_later_is_another_spike(self):
        assert self.found(1.3, *[1.0] * 51, 4.0, 4.0, 4.0).outcome == "blip"

    def test_a_log_that_ends_in_the_spike(self):
        loss = [*([2.0] * 20), *[1.0] * 180, *[1.5] * 2]
        short = apply("severity", make_run({"loss": loss}), SEVERITY, 200)
        assert (short.outcome, short.facts) == (NOT_YET, {"rows": 202, "needed": 250})  # it may yet last
        assert apply("severity", make_run({"loss": [*loss, 1.0]}), SEVERITY, 200).outcome == "blip"
        evaluated = {
            "loss": [*loss, 1.0, None],
            "val_loss": [None] * 203 + [1.1],
        }  # as the last row of many is
        assert apply("severity", make_run(evaluated), SEVERITY, 200).outcome == "blip"
        assert apply("severity", make_run({"loss": [*loss, 1.5]}), SEVERITY, 200).outcome == "hurt"

    def test_nothing_before_it_is_not_there_yet(self):
        found = apply("severity", make_run({"loss": [1.0] * 300}), SEVERITY, 0)
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 0, "needed": 2})
