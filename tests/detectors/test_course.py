"""Detectors of the whole run, on small arrays with known answers."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest

from tests.conftest import make_run, numbers
from tutor.detectors import NO_DATA, NOT_YET, Finding, apply
from tutor.detectors.beginning import begins_late
from tutor.detectors.courses import BEGINNING, course_of
from tutor.run import Aggregation


def judged(name: str, manifest: dict | None = None, **columns: list) -> Finding:
    """What the detector finds, by the shipped tree's numbers."""
    return apply(name, make_run(columns, manifest), numbers(name))


def noise(rows: int) -> list[float]:
    """1.0, with a standard deviation of 0.3."""
    rng = random.Random(0)
    return [max(0.1, rng.gauss(1.0, 0.3)) for _ in range(rows)]


def falling(rows: int, top: float = 4.0, to: float = 2.0) -> list[float]:
    return [top + (to - top) * i / (rows - 1) for i in range(rows)]


class TestCourse:
    def test_of_a_long_log_every_so_many_th_row_tells_as_much_as_all(self, monkeypatch: pytest.MonkeyPatch):
        """Batches of two kinds in turn, 0.1 apart: were all of one kind taken, the levels would tell."""
        rng, count = random.Random(0), 40_000
        loss = [4 - 2 * row / count + 0.05 * (-1) ** row + rng.gauss(0, 0.05) for row in range(count)]
        whole = course_of(pl.Series([None, *loss, math.nan]), 0.05)
        monkeypatch.setattr("tutor.detectors.courses.LONG", count // 4)
        thin = course_of(pl.Series([None, *loss, math.nan]), 0.05)
        assert whole
        assert thin
        assert (len(thin.levels), thin.rows[-1]) == (
            pytest.approx(len(whole.levels) / 5, abs=2),
            whole.rows[-1],
        )
        for level in ("start", "top", "best", "end"):
            assert getattr(thin, level) == pytest.approx(getattr(whole, level), abs=0.02)
        assert abs(thin.best_row - whole.best_row) < 50

    def test_levels_are_medians(self):
        loss = [4.0] * 10 + [1.0] * 80 + [2.0] * 10
        loss[50] = -90.0
        found = course_of(pl.Series(loss), 0.05)
        assert found is not None
        assert (found.span, found.start, found.top, found.best, found.end) == (5, 4.0, 4.0, 1.0, 2.0)
        assert (found.improvement, found.rise, found.noise) == (3.0, 1.0, 0.0)

    def test_what_isnt_finite_is_left_out(self):
        found = course_of(pl.Series([4.0, math.nan, None, 1.0, math.inf, 2.0]), 0.05)
        assert found is not None
        assert (found.best, found.best_row, found.end) == (1.0, 3, 2.0)
        assert course_of(pl.Series([4.0, None, 1.0]), 0.05) is None

    def test_a_long_log_began_where_its_first_rows_stood(self):
        loss = pl.Series([4.0] * BEGINNING + [1.0] * 99 * BEGINNING)
        found = course_of(loss, 0.05)
        assert found is not None
        assert (found.span, found.levels[0], found.start, found.top) == (5 * BEGINNING, 1.0, 4.0, 4.0)
        assert (found.best, found.end, found.improvement) == (1.0, 1.0, 3.0)

    def test_first_rows_that_differ_by_chance_are_no_beginning(self):
        rng = random.Random(0)
        drawn = [rng.gauss(2, 0.1) for _ in range(40 * BEGINNING)]
        wander = pl.Series(drawn).ewm_mean(span=5000)  # neighbours hardly differ, and thousands of rows do
        lucky = [value + 0.01 * (row < BEGINNING) for row, value in enumerate(drawn)]  # 3 standard errors
        for loss in (pl.Series(drawn), wander, pl.Series(lucky)):
            found = course_of(loss, 0.05)
            assert found is not None
            assert found.start == found.levels[0]


class TestFirstLoss:
    """ln 512 is 6.238; the bounds lie 1.76 above and 2.24 below."""

    @pytest.mark.parametrize(
        ("first", "outcome"),
        [(6.24, "untrained"), (7.99, "untrained"), (8.01, "high"), (4.0, "untrained"), (3.99, "low")],
    )
    def test_against_what_knows_nothing(self, first: float, outcome: str):
        found = judged("first_loss", {"vocab_size": 512}, loss=[first, 1.0])
        assert (found.outcome, found.step) == (outcome, 0)
        assert found.facts["expected"] == pytest.approx(math.log(512))

    @pytest.mark.parametrize("vocab", [None, 0, 1])
    def test_without_a_vocabulary_nobody_knows(self, vocab: int | None):
        manifest = {} if vocab is None else {"vocab_size": vocab}
        assert judged("first_loss", manifest, loss=[6.2]).outcome == "unknown"

    def test_a_log_that_begins_later(self):
        assert judged("first_loss", {"vocab_size": 512}, loss=[6.2], step=[1]).outcome == "untrained"
        found = judged("first_loss", {"vocab_size": 512}, loss=[6.2], step=[2])
        assert (found.outcome, found.facts["step"]) == ("late", 2)

    @pytest.mark.parametrize("first", [math.nan, math.inf])
    def test_one_that_isnt_finite(self, first: float):
        assert judged("first_loss", {"vocab_size": 512}, loss=[first, 6.2]).outcome == "unknown"


class TestBeginsLate:
    """Rows that say no step, as a trainer prints them."""

    @pytest.mark.parametrize(
        ("epochs", "late"),
        [
            ([0.42, 0.42, 0.43, 0.43, 0.44], True),
            ([0.0, 0.01, 0.01, 0.02, 0.02], False),
            ([0.01, 0.01, 0.02, 0.02, 0.03], False),  # rounded
            ([0.03, 0.04, 0.05, 0.06, 0.07], False),
            ([0.04, 0.05, 0.06, 0.07, 0.08], True),
            ([0.5, 1.0, 1.5, 2.0, 2.5], False),
            ([0.5, 0.5, 1.0, 1.0, 1.5], False),  # each printed twice
            ([1.0, 1.0, 2.0, 2.0, 3.0], False),  # counted from 1
            ([1.0, 1.01, 1.02, 1.03, 1.04], False),  # so are these
            ([3.42, 3.43, 3.44, 3.45, 3.46], True),
            ([None, None, None, None, 0.5], False),
            ([0.42, 0.43, 0.44, 0.42, 0.43], False),  # two runs
        ],
    )
    def test_by_its_epoch(self, epochs: list[float | None], late: bool):
        run = make_run({"step": [1, 2, 3, 4, 5], "loss": falling(5), "epoch": epochs})
        assert begins_late(run) == late
        assert not begins_late(make_run({"step": [0, 1, 2, 3, 4], "loss": falling(5), "epoch": epochs}))


class TestEndsHigh:
    """A run that fell from 4 to 2, and ends at a level of its own for the last 20 of 200 rows."""

    @pytest.mark.parametrize(
        ("loss", "outcome"),
        [
            ([310.3, 223.4, 2.8e10, 6.0e45], "yes"),
            ([310.3, 223.4, 2.8e10], NOT_YET),  # one tall row may be a spike
            ([310.3, 223.4, 3.0e4, 3.2e4], "no"),  # a hundredfold of the highest before is the bound
        ],
    )
    def test_two_rows_that_tower_over_all_before_ran_away(self, loss: list[float], outcome: str):
        assert judged("ends_high", loss=loss).outcome == outcome

    @pytest.mark.parametrize(
        ("val_loss", "outcome"),
        [
            ([3.32, 3.54, 4.65, 112.6], "yes"),
            ([3.32, 3.54, 4.65, 46.0], "no"),  # tenfold is the bound of both
            ([3.32, 3.54, 112.6, 4.65], "no"),
            ([3.32, 112.6], "no"),
        ],
    )
    def test_one_row_is_enough_where_validation_towers_too(self, val_loss: list[float], outcome: str):
        val = [*[None] * (4 - len(val_loss)), *val_loss]
        assert judged("ends_high", loss=[1.13, 0.917, 2.3, 95.8], val_loss=val).outcome == outcome
        assert judged("ends_high", loss=[1.13, 0.917, 2.3, 22.0], val_loss=val).outcome != "yes"

    @pytest.mark.parametrize(
        ("loss", "grad_norm", "outcome"),
        [
            ([12.0, 11.7, 10.9, 15.0, 20.1], [3.5, 3.6, 5.8, 94.0, 70.0], "yes"),
            ([12.0, 11.7, 10.9, 15.0, 20.1], [3.5, 3.6, 5.8, 94.0, 57.0], NOT_YET),  # tenfold is the bound
            ([12.0, 11.7, 10.9, 11.9, 20.1], [3.5, 3.6, 5.8, 94.0, 70.0], "no"),  # below the first
            ([12.0, 11.7, 20.1], [3.5, 36.0, 70.0], NOT_YET),
            ([12.0, 10.9, 15.0, 20.1], [3.5, 5.8, 94.0, 70.0], "yes"),
            ([12.0, 11.7, 10.9, 13.1, 13.3], [3.5, 3.6, 5.8, 94.0, 70.0], "no"),  # by less than a tenth
            ([12.0, 11.7, 10.9, 15.0, 20.1], [None, 3.6, 5.8, math.inf, 70.0], NOT_YET),
            ([12.0, 13.0, 15.0, 9.0, 8.0], [3.5, 40.0, 70.0, None, None], "no"),  # the norms end sooner
        ],
    )
    def test_two_rows_above_all_before_are_enough_where_the_gradient_towers(
        self, loss: list[float], grad_norm: list[float | None], outcome: str
    ):
        assert judged("ends_high", loss=loss, grad_norm=grad_norm).outcome == outcome

    @pytest.mark.parametrize(("again", "outcome"), [(0.04, "no"), (0.84, "yes")])
    def test_what_a_run_cost_on_other_data_is_no_measure(self, again: float, outcome: str):
        """Resumed on other data its epoch begins anew; one that goes on with the same data diverged."""
        loss = [2.12, 2.13, 2.16, *[2.49 - 0.01 * (row // 5) for row in range(60)]]
        epoch = [0.21, 0.42, 0.63, *[again + 0.01 * row for row in range(60)]]
        steps = [500 * row for row in range(1, 64)]
        assert judged("ends_high", loss=loss, step=steps, epoch=epoch).outcome == outcome
        learned = judged("learned", loss=loss, step=steps, epoch=epoch).outcome
        assert learned == ("yes" if outcome == "no" else "no")

    def test_of_a_log_that_begins_mid_way_the_lowest_row_may_be_a_lucky_one(self):
        """Nineteen rows of a flat loss, the seventh of which is the lowest by chance."""
        loss = [0.124, 0.104, 0.11, 0.109, 0.098, 0.095, 0.088, 0.089, 0.098, 0.09]
        loss += [0.1, 0.094, 0.099, 0.103, 0.109, 0.115, 0.119, 0.105, 0.112]
        assert judged("ends_high", loss=loss).outcome == "yes"
        mid_way = {"step": [*range(1, 20)], "epoch": [0.42 + row / 600 for row in range(19)]}
        assert judged("ends_high", loss=loss, **mid_way).outcome == "no"

    @pytest.mark.parametrize(("first", "outcome"), [(0, "yes"), (5000, "no")])
    def test_nor_are_the_first_batches_of_an_epoch_over_which_a_mean_begins_anew(
        self, first: int, outcome: str
    ):
        loss = [1.59, 1.54, *[1.45 + 0.005 * (row % 3) for row in range(47)], 0.98, 1.33]
        loss += [1.45, 1.46, 1.49, 1.47]
        steps = [first + 10 * row for row in range(len(loss))]
        assert judged("ends_high", loss=loss, step=steps).outcome == outcome
        comes_down = [2.0 - 0.03 * row for row in range(20)]
        vee = [*comes_down, *[1.74 + 0.005 * (row % 3) for row in range(30)]]
        assert judged("ends_high", loss=vee, step=steps[:50]).outcome == "yes"
        lost = [*loss[:45], 2.4, 2.5, 2.5, 2.6]
        assert judged("ends_high", loss=lost, step=steps[:49]).outcome == "yes"

    @pytest.mark.parametrize(
        ("loss", "outcome"),
        [
            ([1.44, 2.97, 212.2, 41.2, 4422.0], "yes"),
            ([1.44, 2.97, 212.2, 29.0, 4422.0], NOT_YET),  # tenfold is the bound of three
            ([0.144, 2e4, 7e4, 3e4, 1e5], "yes"),
        ],
    )
    def test_so_did_three_that_stand_tenfold(self, loss: list[float], outcome: str):
        assert judged("ends_high", loss=loss).outcome == outcome

    @pytest.mark.parametrize(
        ("first", "then", "outcome"),
        [
            ([1.79, 18.3, 31.0], [15.3, 8.2, 19.1, 14.0, 20.4, 12.2, 17.2, 16.0], "yes"),
            ([1.79, 18.3, 31.0], [15.3, 2.6, 19.1, 14.0, 20.4, 12.2, 17.2, 16.0], "no"),  # it comes back
            ([1.79, 18.3, 19.0], [15.3, 8.2, 19.1, 14.0, 20.4, 12.2, 17.2, 16.0], "no"),  # one leap
            ([1.79, 18.3, 31.0], [15.3, 8.2, 19.1, 14.0], "no"),  # too few
        ],
    )
    def test_first_rows_that_climb_and_never_come_back(
        self, first: list[float], then: list[float], outcome: str
    ):
        assert judged("ends_high", loss=[*first, *then]).outcome == outcome

    @pytest.mark.parametrize(
        ("loss", "outcome"),
        [
            ([15.5, 13.0, 3.8, 2.39, 1.43, 5.82, 7.05, 10.03], "yes"),
            ([15.5, 13.0, 3.8, 2.39, 1.43, 5.82, 10.03, 7.05], "no"),  # not in order
            ([15.5, 13.0, 3.8, 2.39, 1.43, 1.9, 2.2, 2.8], "no"),  # less than a tenth of the gain
            ([1.587, 1.23, 1.13, 1.093, 1.104, 1.14, 1.186, 1.214, 1.237], "yes"),
            ([2.0, 1.0, 3.0, 0.9, 1.0, 1.1, 1.3], "no"),  # it jumps as far at other rows
            ([11.4, 10.7, 13.2, 14.4, 16.0, 16.6, 10.5, 18.5, 12.4, 20.0, 20.1, 34.5], "yes"),
            ([11.4, 16.6, 13.2, 14.4, 16.0, 10.7, 10.5, 18.5, 12.4, 20.1, 12.0, 34.5], "no"),
            ([11.4, 10.7, 13.2, 14.4, 16.0, 16.6, 10.5, 18.5, 12.4, 20.1, 34.5, 11.1], "no"),
        ],
    )
    def test_a_few_rows_in_order_say_enough(self, loss: list[float], outcome: str):
        assert judged("ends_high", loss=loss).outcome == outcome

    @pytest.mark.parametrize(("end", "outcome"), [([9.0], NOT_YET), ([9.0] * 2, NOT_YET), ([9.0] * 3, "yes")])
    def test_a_row_or_two_at_the_end_of_a_short_log_may_be_a_spike(self, end: list[float], outcome: str):
        assert judged("ends_high", loss=[3.0, 2.8, 2.6, 2.5, 2.4, 2.35, 2.3, *end]).outcome == outcome

    def ending(self, end: float | None, rows: int = 180) -> Finding:
        return judged("ends_high", loss=[*falling(rows), *[end] * (rows // 9)])

    def test_a_tenth_of_the_gain_is_the_bound(self):
        assert numbers("ends_high")["of_improvement"] == 0.1
        found = self.ending(3.0)
        assert (found.outcome, found.facts["end"]) == ("yes", 3.0)
        assert found.facts["improvement"] == pytest.approx(1.9, abs=0.01)
        assert self.ending(2.15).outcome == "no"
        assert self.ending(2.35).outcome == "yes"

    def test_a_healthy_end_and_a_hole_there(self):
        for end in (2.0, 1.9, None, math.nan, math.inf):
            assert self.ending(end).outcome == "no"

    def test_a_spike_is_no_end(self):
        loss = falling(200)
        loss[195:198] = [90.0] * 3
        assert judged("ends_high", loss=loss).outcome == "no"

    @pytest.mark.parametrize("rows", [5, 10, 19])
    def test_flat_noise_seldom_rises_in_order(self, rows: int):
        """The tree's source `few-in-order` says how often, measured over thousands."""
        rng = random.Random(rows)
        logs = [[rng.lognormvariate(0.0, 0.3) for _ in range(rows)] for _ in range(60)]
        assert sum(judged("ends_high", loss=log).outcome == "yes" for log in logs) <= 4

    def test_a_rise_within_the_noise(self):
        noisy = noise(100)
        assert course_of(pl.Series(noisy), 0.05).rise > 0.05
        assert judged("ends_high", loss=noisy).outcome == "no"

    def test_the_level_of_a_run_that_never_improved(self):
        assert judged("ends_high", loss=[1.0] * 100 + [1.049] * 20).outcome == "no"
        assert judged("ends_high", loss=[1.0] * 100 + [1.051] * 20).outcome == "yes"

    def test_eleven_rows_of_a_blow_up_are_enough(self):
        loss = [4.0, 3.5, 3.0, 2.8, 2.6, 2.5, 2.4, 3.0, 4.0, 8.0, 20.0]
        assert judged("ends_high", loss=loss).outcome == "yes"

    def test_too_short_and_no_objective(self):
        assert judged("ends_high", loss=[1.0, 9.0]).facts == {"rows": 2, "needed": 3}
        assert judged("ends_high", loss=[1.0, -9.0, 9.0]).outcome == NO_DATA

    def test_a_log_likelihood_that_spikes_once_across_0_is_an_objective_still(self):
        assert judged("ends_high", loss=[-4.0, -4.2, 9.0, -4.1, -4.3]).outcome == "no"
        assert judged("ends_high", loss=[-4.0, 9.0, -4.2, 9.0, -4.1]).outcome == NO_DATA

    def test_a_log_likelihood_may_lie_below_0(self):
        loss = [2.0 - 0.05 * i for i in range(150)]
        assert judged("ends_high", loss=loss).outcome == "no"
        assert judged("ends_high", loss=[*loss, *[-1.0] * 20]).outcome == "yes"

    @pytest.mark.parametrize(
        ("last", "lost"),
        [
            ([0.75, 4.0, 4.1, 0.67, 2.6], True),
            ([0.75, 4.0, 4.1, 0.5, 2.6], False),  # one is no higher than before
            ([0.75, 1.0, 1.0, 0.67, 0.9], False),  # not all that was gained is lost
        ],
    )
    def test_rows_that_each_stand_above_twice_as_many_lost_all_that_was_gained(
        self, last: list[float], lost: bool
    ):
        """However much the last rows differ; the ten before them lie at 0.52 or lower."""
        before = [1.15 * 0.9**row + (0.45 if row % 9 == 4 else 0) for row in range(45)]
        before[38] = 0.52
        assert (judged("ends_high", loss=before + last).outcome == "yes") is lost

    def test_a_critic_beside_a_generator_is_no_objective(self):
        loss = [4.4, 0.2, -4.0, -6.4, -6.3, -6.2, *[-4.6 + 0.1 * (row % 3) for row in range(30)]]
        other = [float(row) for row in range(36)]
        assert judged("ends_high", loss=loss).outcome == "yes"
        assert judged("ends_high", loss=loss, G_loss=other).outcome == NO_DATA


class TestLearned:
    def test_it_came_down(self):
        found = judged("learned", loss=falling(100))
        assert (found.outcome, found.facts["rows"]) == ("yes", 100)

    @pytest.mark.parametrize(("last", "outcome"), [(0.97, "no"), (0.969, "yes")])
    def test_three_per_cent_is_the_bound(self, last: float, outcome: str):
        assert numbers("learned")["gain"] == 0.03
        assert judged("learned", loss=[1.0] * 50 + [last] * 50).outcome == outcome

    def test_a_flat_or_rising_one(self):
        assert judged("learned", loss=[6.2] * 100).outcome == "no"
        assert judged("learned", loss=[6.2 + 0.01 * i for i in range(100)]).outcome == "no"

    def test_from_the_highest_level_on(self):
        assert judged("learned", loss=[*([2.0] * 20), *([4.0] * 20), *([1.9] * 60)]).outcome == "yes"

    @pytest.mark.parametrize(
        ("loss", "outcome"),
        [
            ([0.0] * 30, "zero"),
            ([0.0] * 4, NOT_YET),
            ([0.23, *[0.0] * 12], "zero"),
            ([0.23, 0.01, 0.0002, *[0.0] * 12], NO_DATA),  # by degrees
            ([*[0.5] * 5, *[0.0] * 10], NO_DATA),  # under four fifths of the rows
            ([*[0.0] * 10, 0.4], NO_DATA),
            ([*falling(40), *[0.0] * 5], "zero"),  # in one row, for a tenth of the log
            ([*falling(50), *[0.0] * 5], "yes"),  # under a tenth
            ([*falling(40), 0.001, *[0.0] * 30], NO_DATA),
            ([*[round(0.5 / (1 + row) ** 2, 1) for row in range(9)], *[0.0] * 30], "zero"),
            ([1.0, 0.5, 0.3, 0.2, *[0.1] * 6, *[0.0] * 6], NO_DATA),  # no more than the last digit
            ([1.0, 0.53, 0.32, 0.13, *[0.12] * 6, *[0.0] * 6], "zero"),
        ],
    )
    def test_a_loss_of_exactly_0_is_nothing_to_learn_from(self, loss: list[float], outcome: str):
        assert judged("learned", loss=loss).outcome == outcome

    @pytest.mark.parametrize(
        ("change", "outcome"),
        [
            ({}, "only-at-first"),
            ({"val_loss": [2.8, *[2.85] * 5, 2.79, *[2.85] * 5]}, "yes"),  # as low again
            ({"loss": [3.1, *[2.8 - 0.01 * row for row in range(11)]]}, "yes"),  # training goes on to gain
            ({"step": [*range(30, 42)]}, "yes"),  # a log that begins mid-way
            ({"val_loss": [math.inf] * 12}, "yes"),
            ({"val_loss": [math.nan, 2.8, *[2.85] * 10]}, "only-at-first"),
            ({"val_loss": [2.8, *[None] * 11]}, "yes"),
        ],
    )
    def test_what_was_learned_before_the_first_evaluation_alone(self, change: dict, outcome: str):
        trained = [2.8 - 0.002 * row for row in range(11)]  # it doesn't stand still either
        run = {"step": [*range(12)], "loss": [3.1, *trained], "val_loss": [2.8, *[2.85] * 11]}
        assert judged("learned", **(run | change)).outcome == outcome
        short = {name: values[:9] for name, values in run.items()}
        assert judged("learned", **short).outcome == NOT_YET

    @pytest.mark.parametrize(("beside", "won"), [("G Loss", True), ("L1 Loss", False)])
    def test_a_discriminator_that_has_won_is_at_zero_at_most_rows(self, beside: str, won: bool):
        loss = [1.35, *[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0129] * 4]
        found = judged("learned", loss=loss, **{beside: [0.4] * len(loss)})
        assert (found.outcome == "zero") is won
        assert not won or (found.facts["step"], found.facts["count"]) == (1, 36)

    @pytest.mark.parametrize(("rows", "won"), [(30, True), (20, False)])
    def test_or_was_for_a_quarter_of_them_in_a_row(self, rows: int, won: bool):
        loss = [*[1.35, 0.8] * 20, *[0.0] * rows, *[0.02, 0.01] * 20]
        found = judged("learned", loss=loss, **{"G Loss": [0.4] * len(loss)})
        assert (found.outcome == "zero") is won
        back = [*loss[:-40], *[0.8, 0.4] * 20]
        assert judged("learned", loss=back, **{"G Loss": [0.4] * len(loss)}).outcome != "zero"
        assert not won or (found.facts["step"], found.facts["count"]) == (40, 30)

    def test_zeros_that_a_reward_or_a_cut_explains(self):
        assert judged("learned", loss=[0.0] * 30, reward=[1.0] * 30).outcome == NO_DATA
        assert judged("learned", step=[*range(400, 430)], loss=[0.0] * 30).outcome == NO_DATA

    def test_nan_and_gaps_are_left_out(self):
        loss = [value for x in falling(50) for value in (x, math.nan, None)]
        assert judged("learned", loss=loss).outcome == "yes"

    def test_its_sentence_names_the_level_that_it_compares_with(self):
        found = judged("learned", loss=[2.0] * 20 + [4.0] * 20 + [1.9] * 60)
        assert (found.facts["top"], found.facts["best"], found.facts["gain"]) == (4.0, 1.9, 52.5)

    def test_too_short(self):
        assert judged("learned", loss=[6.2] * 9).facts == {"rows": 9, "needed": 10}
        assert judged("learned", loss=[6.2] * 10).outcome == "no"
        assert judged("learned", loss=[math.nan] * 8 + [6.2] * 2).outcome == NOT_YET

    @pytest.mark.parametrize("rows", [2_000, 200_000])
    def test_however_long_the_log_goes_on(self, rows: int):
        rng = random.Random(0)
        fell = pl.Series([2 + 8 / (1 + row / 1000) + rng.gauss(0, 0.05) for row in range(2000)])
        stayed = pl.Series([rng.gauss(6.2, 0.05) for _ in range(2000)])
        flat = pl.Series([rng.gauss(2, 0.05) for _ in range(rows - 2000)], dtype=pl.Float64)
        assert judged("learned", loss=[*fell, *flat]).outcome == "yes"
        assert judged("learned", loss=[*stayed, *(flat + 4.2)]).outcome == "no"

    def test_noise_that_would_hide_the_gain(self):
        assert judged("learned", loss=noise(12)).outcome == NOT_YET

    def test_while_the_rate_warms_up(self):
        warming = [1e-6 * i for i in range(100)]
        assert judged("learned", loss=[6.2] * 100, lr=warming).outcome == NOT_YET
        assert judged("learned", loss=[6.2] * 101, lr=[*warming, warming[-1]]).outcome == "no"


class TestGradientCourse:
    def test_it_grows(self):
        found = judged("gradient_course", grad_norm=[1.0] * 30 + [6.0] * 10)
        assert (found.outcome, found.facts["growth"]) == ("grows", 6.0)
        assert (found.step, found.since, found.facts["begin"]) == (39, 30, 30)  # as a median of 3 rows

    def test_it_is_told_from_where_it_left_its_lowest_level_for_good(self):
        rng = random.Random(5)
        norms = [1 + rng.gauss(0, 0.05) for _ in range(300)] + [1.03**row for row in range(100)]
        assert 310 <= (judged("gradient_course", grad_norm=norms).since or 0) <= 335

    @pytest.mark.parametrize(("last", "outcome"), [(5.0, "no"), (5.01, "grows")])
    def test_five_times_the_lowest_is_the_bound(self, last: float, outcome: str):
        assert numbers("gradient_course")["growth"] == 5.0
        assert judged("gradient_course", grad_norm=[1.0] * 30 + [last] * 10).outcome == outcome

    def test_a_hump_that_came_down_by_half_is_over(self):
        norms = [1.0] * 10 + [6.0] * 10 + [20.0] * 10
        assert judged("gradient_course", grad_norm=[*norms, *[9.0] * 10]).outcome == "no"
        assert judged("gradient_course", grad_norm=[*norms, *[10.0] * 10]).outcome == "grows"

    def test_large_from_the_beginning_or_falling_is_healthy(self):
        assert judged("gradient_course", grad_norm=[900.0] * 40).outcome == "no"
        assert judged("gradient_course", grad_norm=[50.0] * 10 + [1.0] * 30).outcome == "no"

    def test_spikes_nan_and_gaps_move_no_median(self):
        norms: list[float | None] = [1.0] * 41
        norms[35], norms[36], norms[37], norms[38] = 1e6, math.inf, math.nan, None
        assert judged("gradient_course", grad_norm=norms).outcome == "no"

    def test_too_short(self):
        found = judged("gradient_course", grad_norm=[1.0] * 39)
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 39, "needed": 40})

    @pytest.mark.parametrize("rows", [8, 10, 39])
    def test_a_short_log_that_grows_at_every_row(self, rows: int):
        norms = [1.5**i for i in range(rows)]
        found = judged("gradient_course", grad_norm=norms)
        assert (found.outcome, found.facts["lowest"], found.facts["last"]) == ("grows", 1.5, norms[-2])
        assert judged("gradient_course", grad_norm=norms[::-1]).outcome == NOT_YET

    def test_a_short_log_that_does_not_grow_for_good(self):
        assert numbers("gradient_course")["few"] == 8
        grows = [1.5**i for i in range(20)]
        assert judged("gradient_course", grad_norm=grows[:7]).outcome == NOT_YET
        slows_down = [0.1 * (1 - 0.7**i) for i in range(1, 20)]  # as the norm of an adapter that begins at 0
        assert judged("gradient_course", grad_norm=slows_down).outcome == NOT_YET
        by_chance = [1.0, 9.0, 0.8, 7.0, 1.2, 8.0, 0.9, 9.5, 8.1, 9.9]
        assert judged("gradient_course", grad_norm=by_chance).outcome == NOT_YET
        warming = [1e-6 * i for i in range(20)]
        assert judged("gradient_course", grad_norm=grows, lr=warming).outcome == NOT_YET

    def test_nan_and_gaps_in_a_short_log(self):
        norms = [value for i in range(8) for value in (1.5**i, math.nan, None)]
        assert judged("gradient_course", grad_norm=norms).outcome == "grows"
        assert judged("gradient_course", grad_norm=[math.nan] * 20).outcome == NOT_YET

    @pytest.mark.parametrize(("rate", "outcome"), [(0.015, "no"), (0.04, "grows")])
    def test_one_that_grows_on_is_measured_where_it_has_come_to(self, rate: float, outcome: str):
        norms = [1.0 + 0.05 * (-1) ** row for row in range(150)]
        norms += [math.exp(rate * row) for row in range(60)]
        found = judged("gradient_course", grad_norm=norms)
        assert found.outcome == outcome
        assert found.facts["last"] == found.curve.values[-1]


class TestZeroGradient:
    def test_zero_to_the_end(self):
        found = judged("zero_gradient", grad_norm=[1.0] * 10 + [0.0] * 30)
        assert (found.outcome, found.facts["step"], found.facts["count"]) == ("zero", 10, 30)

    def test_there(self):
        assert judged("zero_gradient", grad_norm=[0.0] * 39 + [1.0]).outcome == "there"
        assert judged("zero_gradient", grad_norm=[1.0, 0.0] * 20).outcome == "there", "half is no more"
        assert judged("zero_gradient", grad_norm=[math.nan, None, 1e-30]).outcome == "there"

    @pytest.mark.parametrize(("last", "outcome"), [(4, "there"), (5, NOT_YET), (9, NOT_YET), (10, "zero")])
    def test_it_may_have_died_late(self, last: int, outcome: str):
        norms, still = [1.0] * 90 + [0.0] * last, [*falling(90), *[2.0, 2.01] * 5][: 90 + last]
        found = judged("zero_gradient", grad_norm=norms, loss=still)
        assert found.outcome == outcome
        if outcome == "zero":
            assert (found.facts["step"], found.facts["count"]) == (90, last)
        on = judged("zero_gradient", grad_norm=[1.0] * 90 + [0.0] * 40, loss=falling(130))
        assert on.outcome == NO_DATA  # then the norm is no longer measured

    def test_where_the_loss_still_falls_the_norm_was_not_measured(self):
        found = judged("zero_gradient", grad_norm=[0.0] * 40, loss=falling(40))
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["grad_norm"])
        frozen = [6.2 + 0.05 * (-1) ** i for i in range(40)]
        assert judged("zero_gradient", grad_norm=[0.0] * 40, loss=frozen).outcome == "zero"

    def test_where_none_is_logged_a_loss_that_falls_tells(self):
        found = judged("zero_gradient", loss=falling(40))
        assert (found.outcome, found.step) == ("learns", 39)
        assert (found.facts["start"], found.facts["best"]) == (
            pytest.approx(4.0, abs=0.1),
            pytest.approx(2.0, abs=0.1),
        )
        assert found.curve.signal == "loss"
        for loss in (falling(40, 4.0, 3.95), [6.2 + 0.05 * (-1) ** i for i in range(40)], [4.0, 2.0]):
            assert judged("zero_gradient", loss=loss).outcome == NO_DATA
        assert judged("zero_gradient", loss=falling(40), ep_rew_mean=[1.0] * 40).outcome == "learns"

    @pytest.mark.parametrize(("apart", "outcome"), [(0.0, "zero"), (0.1, NOT_YET)])
    def test_unless_all_answers_earn_the_same(self, apart: float, outcome: str):
        spread = [0.0] * 5 + [apart]
        found = judged("zero_gradient", grad_norm=[0.0] * 6, loss=[0.0] * 6, reward_std=spread)
        assert found.outcome == outcome

    def test_a_few_rows_do_not_say_whether_the_loss_falls(self):
        found = judged("zero_gradient", grad_norm=[0.0, 0.0], loss=[1.15, 0.91])
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 2, "needed": 10})


class TestUpdateSize:
    """The median update against 2.5 % of the median norm, from where that has half of its largest on."""

    @staticmethod
    def found(share: float | list[float], norms: list[float], manifest: dict | None = None, **columns: list):
        shares = share if isinstance(share, list) else len(norms) * [share]
        updates = [one * norm for one, norm in zip(shares, norms, strict=True)]
        return judged("update_size", manifest, update_norm=updates, param_norm=norms, **columns)

    @pytest.mark.parametrize(("share", "outcome"), [(0.001, "usual"), (0.024, "usual"), (0.026, "large")])
    def test_against_the_weights(self, share: float, outcome: str):
        found = self.found(share, 40 * [20.0])
        assert (found.outcome, found.step, found.level) == (outcome, None, 0.5)
        assert (found.measured, found.bound) == (pytest.approx(share), 0.025)

    def test_weights_that_begin_at_0_grow_by_a_large_share_of_nothing(self):
        """A straight way out from 0: the n-th step is an n-th of all that was gone."""
        norms = [float(step + 1) for step in range(100)]
        found = self.found([1 / norm for norm in norms], norms)
        assert (found.outcome, found.facts["begin"], found.facts["rows"]) == ("usual", 49, 51)
        assert found.measured == pytest.approx(1 / 75)

    def test_half_of_the_rows_decide(self):
        assert self.found([*21 * [0.05], *20 * [0.001]], 41 * [1.0]).outcome == "large"
        assert self.found([*20 * [0.05], *21 * [0.001]], 41 * [1.0]).outcome == "usual"

    def test_what_isnt_finite_says_nothing(self):
        assert self.found([*20 * [0.05], *30 * [math.nan]], 50 * [1.0]).outcome == "large"
        assert self.found(0.05, [*19 * [1.0], *30 * [math.nan]]).outcome == NOT_YET

    @pytest.mark.parametrize("norms", [19 * [1.0], [*15 * [1.0], *19 * [4.0]], 30 * [0.0]])
    def test_too_few_rows(self, norms: list[float]):
        assert self.found(0.05, norms).outcome == NOT_YET

    def test_a_rate_that_still_warms_up(self):
        assert self.found(0.05, 40 * [1.0], lr=[0.001 * row for row in range(40)]).outcome == NOT_YET

    @pytest.mark.parametrize(("frozen", "outcome"), [(5, NO_DATA), (3, "large")])
    def test_an_adapter_begins_at_0_and_isnt_judged(self, frozen: int, outcome: str):
        """Of a model that trains 4 x 4 weights beside `frozen` rows of 4."""
        parts = {"lora.weight": 4, "base.weight": frozen}
        initial = {name: {"kind": "linear", "shape": [rows, 4]} for name, rows in parts.items()}
        manifest = {"initial": initial, "groups": [{"name": "0", "names": ["lora.weight"]}]}
        assert self.found(0.05, 40 * [1.0], manifest).outcome == outcome


class TestRewarded:
    """A loss of values grows as the policy earns more: beside a reward that rises it tells nothing."""

    LOSS = (*falling(20, 4.0, 0.2), *falling(20, 0.2, 1.5))
    EARNED = tuple(falling(40, -8.0, 8.0))

    @pytest.mark.parametrize("name", ["rollout/ep_rew_mean", "eprewmean", "episode_reward", "avg_return"])
    def test_a_reward_that_rises_is_what_the_run_is_after(self, name: str):
        assert judged("ends_high", loss=self.LOSS, **{name: self.EARNED}).outcome == NO_DATA
        assert judged("learned", loss=[2.0, 2.001] * 20, **{name: self.EARNED}).outcome == "earns"

    @pytest.mark.parametrize("name", ["value_loss", "entropy", "policy_entropy"])
    def test_a_loss_below_0_beside_what_reinforcement_learning_logs_is_no_objective(self, name: str):
        loss = [one - 1.0 for one in self.LOSS]
        assert judged("ends_high", loss=loss, **{name: [1.0] * 40}).outcome == NO_DATA
        assert judged("ends_high", loss=loss, cross_entropy=[1.0] * 40).outcome == "yes"

    def test_a_spike_before_the_reward_rises_did_no_harm(self):
        loss, earned = [0.2, *[15.0] * 10, *[6.0] * 29], [-4.0, -12.0, *falling(38, -11.0, 50.0)]
        lost = [-4.0, *[-12.0] * 39]
        for reward, outcome in ((earned, "rewarded"), (lost, "lost")):
            run = make_run({"loss": loss, "episode_reward": reward})
            assert apply("severity", run, numbers("severity"), 1).outcome == outcome

    def test_nor_did_one_that_leaves_the_reward_where_it_was(self):
        loss, noise = [*[0.2] * 20, *[15.0] * 10, *[0.2] * 10], [1.0, 1.2] * 20
        for reward, outcome in ((noise, "rewarded"), ([*noise[:20], *[0.2, 0.3] * 10], "fell")):
            run = make_run({"loss": loss, "episode_reward": reward})
            assert apply("severity", run, numbers("severity"), 20).outcome == outcome
            assert apply("learned", run, numbers("learned")).outcome != "no"

    def test_a_loss_that_ends_high_beside_such_a_reward_tells_nothing(self):
        reward = [1.0, 1.2] * 20
        assert judged("ends_high", loss=self.LOSS, episode_reward=reward).outcome == NO_DATA
        fallen = [*reward[:20], *[0.2, 0.3] * 10]
        found = judged("ends_high", loss=self.LOSS, episode_reward=fallen)
        assert (found.outcome, found.facts["reward"], found.facts["after"]) == (
            "fell",
            "episode_reward",
            0.25,
        )

    @pytest.mark.parametrize(
        ("columns", "outcome"),
        [
            ({"rollout/ep_rew_mean": EARNED[::-1]}, "fell"),
            (
                {"rollout/ep_rew_mean": (*falling(20, -8.0, 8.0), *falling(20, 8.0, -1.0))},
                "fell",
            ),  # lost again
            ({"rollout/ep_rew_mean": [1.0] * 40}, "yes"),
            ({"rewards/margins": EARNED}, "yes"),  # of a loss that is the objective
            ({"reward_std": EARNED}, "yes"),
        ],
    )
    def test_else_the_loss_is_judged(self, columns: dict[str, Sequence[float]], outcome: str):
        assert judged("ends_high", loss=self.LOSS, **columns).outcome == outcome

    @pytest.mark.parametrize(
        ("columns", "outcome"),
        [
            ({"ep_rew_mean": EARNED[::-1]}, NO_DATA),  # a policy that gets worse does move
            ({"ep_rew_mean": [24 - row / 20 + row % 3 / 10 for row in range(40)]}, "earns-nothing"),
            ({"ep_rew_mean": [1.0] * 40}, "no"),
            ({"rewards/margins": EARNED}, "no"),
            ({"reward_std": EARNED}, "no"),
        ],
    )
    def test_a_loss_that_stays_is_no_flaw_beside_a_reward_that_moves(
        self, columns: dict[str, Sequence[float]], outcome: str
    ):
        assert judged("learned", loss=[2.0, 2.001] * 20, **columns).outcome == outcome


class TestReweighted:
    """A part of the loss that comes to weigh more lifts the loss: its rise says nothing of the model."""

    LOSS = (*falling(20, 4.0, 1.0), *falling(20, 1.0, 1.9))
    GROWS = tuple(falling(40, 0.0, 1.0))  # to 0.49 where the loss is lowest

    @pytest.mark.parametrize(
        "name", ["beta", "kl_weight", "kld_weight", "lambda", "lambda_adv", "train/kl_beta"]
    )
    def test_one_that_grows(self, name: str):
        assert judged("ends_high", loss=self.LOSS, **{name: self.GROWS}).outcome == NO_DATA
        found = judged("validation_turns", loss=self.LOSS, val_loss=self.LOSS, **{name: self.GROWS})
        assert found.outcome == NO_DATA

    @pytest.mark.parametrize(
        "columns",
        [
            {"beta": GROWS[::-1]},
            {"beta": [0.5] * 40},
            {"beta": [*falling(20, 0.0, 1.0), *[1.0] * 20]},  # it had grown before
            {"beta": [*[0.9] * 30, *[0.95] * 10]},  # by too little to lift the loss so far
            {"beta2": GROWS},
            {"weight_norm": GROWS},
        ],
    )
    def test_else_the_rise_counts(self, columns: dict[str, Sequence[float]]):
        assert judged("ends_high", loss=self.LOSS, **columns).outcome == "yes"

    def test_what_is_learned_by_heart_is_no_matter_of_weights(self):
        learns = falling(40, 4.0, 0.1)
        found = judged("validation_turns", loss=learns, val_loss=self.LOSS, beta=self.GROWS)
        assert found.outcome == "turns"


class TestStopsHigh:
    """A loss that lies still where only one who knows next to nothing pays so much."""

    FALLS = (*falling(10, 28.0, 17.0), *[16.8, 16.5] * 20)
    HELD_OUT = (*[None] * 24, 5.836, *[None] * 24, 5.835)

    def test_two_evaluations_tell(self):
        found = judged("learned", loss=list(self.FALLS), val_loss=list(self.HELD_OUT))
        assert (found.outcome, found.facts["best"], found.facts["since"]) == ("stops-high", 5.835, 24)
        assert found.facts["spread"] == pytest.approx(0.017, abs=0.001)
        assert found.facts["gain"] == pytest.approx(0.017, abs=0.001)
        assert (found.measured < found.bound, found.level) == (True, 5.0)

    @pytest.mark.parametrize(("last", "told"), [(1424.5, False), (1444.0, True)])
    def test_a_loss_in_another_unit_has_to_stand_still(self, last: float, told: bool):
        val = [1444.9, *[last - 0.01 * row for row in range(30)]]
        found = judged("learned", loss=falling(31, 1693.0, 1410.0), val_loss=val)
        assert (found.outcome == "stops-high") is told

    def test_so_do_means_over_many_steps(self):
        run = {"step": [500, 1000, 1500], "loss": [6.206, 6.191, 6.182]}
        means = replace(make_run(run), aggregations={"loss": Aggregation("window")})
        assert apply("learned", means, numbers("learned")).outcome == "stops-high"
        assert judged("learned", **run).outcome == NOT_YET  # of single steps they say nothing

    @pytest.mark.parametrize(
        "held_out",
        [
            (*[None] * 24, 2.836, *[None] * 24, 2.835),  # low
            (*[None] * 24, 5.9, *[None] * 24, 5.8),  # it goes on
            (*[None] * 49, 5.835),
            (*[None] * 24, 5.836, *[None] * 24, math.nan),
        ],
    )
    def test_else_it_has_learned(self, held_out: Sequence[float | None]):
        assert judged("learned", loss=list(self.FALLS), val_loss=list(held_out)).outcome == "yes"

    def test_one_that_came_down_has_learned_however_high_it_stops(self):
        sums = [*falling(10, 165.0, 100.0), *[98.3, 98.2] * 20]
        assert judged("learned", loss=sums, val_loss=sums).outcome == "yes"

    def test_nor_where_a_score_rises_or_the_log_begins_later(self):
        held_out = {"loss": list(self.FALLS), "val_loss": list(self.HELD_OUT)}
        scores = [row / 50 for row in range(50)]
        assert judged("learned", **held_out, val_acc=scores).outcome == "yes"
        assert judged("learned", **held_out, step=[*range(900, 950)]).outcome == "yes"


class TestCameBack:
    """A loss that rose as much before, and came back, has as long to do so again."""

    FIRST = (*falling(10, 0.27, 0.127), *falling(10, 0.16, 0.126), *falling(10, 0.122, 0.109))

    @pytest.mark.parametrize(("rows", "outcome"), [(9, NOT_YET), (12, NOT_YET), (30, "yes")])
    def test_a_restart_that_the_log_does_not_tell(self, rows: int, outcome: str):
        assert judged("ends_high", loss=[*self.FIRST, *falling(rows, 0.14, 0.13)]).outcome == outcome

    def test_it_needs_as_long_again(self):
        found = judged("ends_high", loss=[*self.FIRST, *falling(9, 0.14, 0.13)])
        again = judged("ends_high", loss=[*self.FIRST, *falling(int(found.facts["needed"]) - 30, 0.14, 0.13)])
        assert again.outcome == "yes"

    @pytest.mark.parametrize("seed", range(6))
    def test_noise_is_no_rise_that_came_back(self, seed: int):
        rng = random.Random(seed)
        course = [4 * math.exp(-row / 300) + 1.5 for row in range(2000)]
        course += [course[-1] + 1.2 * row / 1000 for row in range(1000)]
        assert judged("ends_high", loss=[one + rng.gauss(0, 0.5) for one in course]).outcome == "yes"

    def test_nor_is_a_warm_up(self):
        loss = [
            *falling(15, 4.0, 5.5),
            *falling(15, 5.5, 4.0),
            *falling(60, 4.0, 2.0),
            *falling(25, 2.0, 3.5),
        ]
        assert judged("ends_high", loss=loss).outcome == "yes"

    def test_a_first_rise_has_no_such_credit(self):
        loss = [*falling(30, 0.27, 0.109), *falling(9, 0.14, 0.13)]
        assert judged("ends_high", loss=loss).outcome == "yes"


class TestHarder:
    """Harder training data lifts the training loss alone: validation says what the model is like."""

    LOSS = (*falling(60, 4.0, 1.6), *falling(60, 2.8, 2.1))
    FALLS = tuple(value if row % 4 == 0 else None for row, value in enumerate(falling(120, 4.0, 2.0)))
    RISES = tuple(
        value if row % 4 == 0 else None for row, value in enumerate([*falling(60), *falling(60, 3.0, 3.5)])
    )

    def test_it_ends_high_and_did_no_harm(self):
        found = judged("ends_high", loss=list(self.LOSS), val_loss=list(self.FALLS))
        assert (found.outcome, found.facts["best"]) == ("harder", pytest.approx(1.6, abs=0.2))
        assert found.facts["after"] < found.facts["before"]

    def test_where_validation_rises_or_is_not_there_the_run_diverged(self):
        assert judged("ends_high", loss=list(self.LOSS), val_loss=list(self.RISES)).outcome == "yes"
        assert judged("ends_high", loss=list(self.LOSS)).outcome == "yes"
        noisy = [3.0 + 0.01 * (-1) ** (row // 4) if row % 4 == 0 else None for row in range(118)]
        noisy += [None, 2.98]  # no more than noise
        assert judged("ends_high", loss=list(self.LOSS), val_loss=noisy).outcome == "yes"
        few = [value if row in (0, 119) else None for row, value in enumerate(self.FALLS)]
        assert judged("ends_high", loss=list(self.LOSS), val_loss=few).outcome == "yes"

    def test_nor_did_the_spike_that_it_looks_like(self):
        loss = [*falling(20, 2.0, 1.62), *[1.6, 1.62] * 40, *[2.8] * 20]
        for held_out, outcomes in ((self.FALLS, {"unseen"}), (self.RISES, {"hurt", "lost"})):
            run = make_run({"loss": loss, "val_loss": list(held_out)})
            assert apply("severity", run, numbers("severity"), 100).outcome in outcomes

    def test_an_evaluation_of_the_harmed_model_right_before_is_no_measure(self):
        """The weights broke within an epoch whose mean hides it; the next evaluations are as high as it."""
        before, inside, after = (
            [*falling(20, 0.7, 0.31), *[0.3, 0.305] * 10],
            [0.44, 0.43] * 7,
            falling(16, 0.29, 0.22),
        )
        loss, held_out = [*before, *inside, *after], [*before[:-1], 1.66, *inside, *after]
        found = apply("severity", make_run({"loss": loss, "val_loss": held_out}), numbers("severity"), 40)
        assert found.outcome == "hurt"
        held_out[40:54] = [0.3] * 14
        found = apply("severity", make_run({"loss": loss, "val_loss": held_out}), numbers("severity"), 40)
        assert (found.outcome, found.facts["before"]) == ("unseen", 0.305)
        held_out = [*[0.4, 0.45] * 20, *[0.44, 0.43] * 7, *[0.4, 0.45] * 8]  # no outlier, and no rise
        found = apply("severity", make_run({"loss": loss, "val_loss": held_out}), numbers("severity"), 40)
        assert found.outcome == "unseen"


@pytest.mark.parametrize(
    ("own", "beside", "end", "outcome"),
    [
        ("loss_D", "loss_G", 1.2, NO_DATA),
        ("d_loss", "g_loss", 1.2, NO_DATA),
        ("discriminator loss", "generator loss", 1.2, NO_DATA),
        ("d_adv_loss", "f_adv_loss", 1.2, NO_DATA),
        ("loss_D", "loss_G", 1.6, "yes"),  # worse than guessing
        ("loss_G", "loss_D", 1.2, "yes"),  # then the loss is the generator's
        ("loss", "gen_loss", 1.2, "yes"),  # of the whole, and of a part
        ("loss_D", "g_grad", 1.2, "yes"),
    ],
)
def test_a_discriminator_that_a_generator_catches_up_with(own: str, beside: str, end: float, outcome: str):
    caught = [
        *[0.75 + (-1) ** row / 100 for row in range(10)],
        *[end + (-1) ** row / 100 for row in range(20)],
    ]
    flat = [end + (-1) ** row / 100 for row in range(30)]
    for detector, loss in (("ends_high", caught), ("learned", flat)):
        run = replace(make_run({"loss": loss, beside: [2.0] * 30}), own_names={"loss": own})
        found = apply(detector, run, numbers(detector)).outcome
        assert (found == NO_DATA) is (outcome == NO_DATA)
        assert found == outcome or detector == "learned"


@pytest.mark.parametrize(
    ("discriminator", "outcome"), [(0.5, NO_DATA), (0.01, "no"), (2.0, "no"), (1.38, "no"), (0.69, "no")]
)
def test_a_generator_needs_no_falling_loss_while_its_discriminator_plays_on(
    discriminator: float, outcome: str
):
    flat = {"loss": [2.0 + (-1) ** row / 100 for row in range(30)], "loss_D": [discriminator] * 30}
    run = replace(make_run(flat), own_names={"loss": "loss_G"})
    assert apply("learned", run, numbers("learned")).outcome == outcome


ONLY_WORSE = (3.0297, 3.0323, 3.0364, 3.0415, 3.0476)


@pytest.mark.parametrize(
    ("loss", "val_loss", "outcome"),
    [
        (ONLY_WORSE, (3.1324, 3.1355, 3.1399, 3.1454, 3.1521), "yes"),
        (ONLY_WORSE, (3.1324, 3.1355, 3.1399, 3.1454, 3.1400), "no"),  # validation isn't highest at last
        (ONLY_WORSE, (3.1324, 3.1399, 3.1355, 3.1454, 3.1521), "no"),  # nor rises from row to row
        (ONLY_WORSE[:4], (3.1324, 3.1355, 3.1399, 3.1454), "no"),  # few
        (ONLY_WORSE[::-1], (3.1324, 3.1355, 3.1399, 3.1454, 3.1521), "no"),  # training learns
        (ONLY_WORSE, (3.1,) * 5, "no"),
        (
            [3 + row / 500 + (-1) ** row / 600 for row in range(1, 21)],
            [3 + row / 500 + (-1) ** row / 600 for row in range(1, 21)],
            "yes",
        ),
    ],
)
def test_training_and_validation_that_only_rise(
    loss: Sequence[float], val_loss: Sequence[float], outcome: str
):
    found = judged("ends_high", loss=list(loss), val_loss=list(val_loss))
    assert found.outcome == outcome
    assert outcome == "no" or found.facts["bound"] == pytest.approx(1.005 * loss[0])
    assert judged("ends_high", loss=list(loss)).outcome == "no"
    rising = [0.1 * row for row in range(len(loss))]
    assert judged("ends_high", loss=list(loss), val_loss=list(val_loss), val_acc=rising).outcome != "yes"


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, "yes"),
        ({"loss": [19.80, 19.96, 20.05, 20.12]}, "no"),  # few
        ({"loss": [19.80, 19.96, 20.05, 20.12, 20.11]}, "no"),
        ({"loss": [20.00, 19.80, 19.96, 20.05, 20.12]}, "no"),  # it had gained
        ({"loss": [19.80, 19.81, 20.00, 20.01, 20.03]}, "no"),  # noise as large as its steps
        ({"acc": [0.1, 0.2, 0.3, 0.4, 0.5]}, "no"),
    ],
)
def test_means_of_epochs_that_only_rise(change: dict, outcome: str):
    given = {"loss": [19.80, 19.96, 20.05, 20.12, 20.16]} | change
    run = replace(make_run(given), counts="epochs")
    assert apply("ends_high", run, numbers("ends_high")).outcome == outcome
    assert judged("ends_high", **given).outcome == "no"  # of single steps more have to say so


SAME = (0.049, *[0.0661] * 6)


@pytest.mark.parametrize(
    ("name", "score", "to", "outcome"),
    [
        ("val token acc", SAME, 10.3, "same-answer"),
        ("token acc", SAME, 10.3, NOT_YET),  # of what data nobody says
        ("val token acc", SAME, 9.0, NOT_YET),  # training learns
        ("val token acc", [10 * one for one in SAME], 10.3, NOT_YET),  # it may well be right
        ("val token acc", (*SAME[:-1], 0.07), 10.3, NOT_YET),
    ],
)
def test_few_evaluations_that_all_give_the_same_answer(
    name: str, score: Sequence[float], to: float, outcome: str
):
    losses = falling(len(score), 11.2, to)
    run = make_run({"loss": losses, "val_loss": [10.9, *losses[1:]], name: list(score)})
    found = apply("learned", replace(run, counts="epochs"), numbers("learned"))
    assert found.outcome == outcome
    assert apply("learned", run, numbers("learned")).outcome == NOT_YET  # of single steps few tell nothing
    warm = make_run(
        {**{one: run[one].to_list() for one in run.frame.columns}, "lr": [1e-6 * at for at in range(7)]}
    )
    assert apply("learned", replace(warm, counts="epochs"), numbers("learned")).outcome == NOT_YET
    rising = make_run(
        {**{one: run[one].to_list() for one in run.frame.columns}, "train_acc": falling(7, 0.3, 0.5)}
    )
    assert apply("learned", replace(rising, counts="epochs"), numbers("learned")).outcome == NOT_YET
