"""A held-out loss that turns, on small arrays with known answers."""

import math
import random
from collections.abc import Sequence

import pytest

from tests.conftest import make_run, numbers
from tests.detectors.test_course import judged
from tutor.detectors import NO_DATA, NOT_YET, Finding, apply

Logged = Sequence[float | None]


def turns(val_loss: Logged, **columns: list) -> Finding:
    """Whether validation turns, by the shipped tree's numbers."""
    return apply(
        "validation_turns", make_run(columns | {"val_loss": list(val_loss)}), numbers("validation_turns")
    )


def beside(val_loss: Logged) -> Finding:
    """The same beside a training loss that falls."""
    return turns(val_loss, loss=falling(len(val_loss)))


def falling(rows: int, top: float = 4.0, to: float = 2.0) -> list[float]:
    return [top + (to - top) * row / (rows - 1) for row in range(rows)]


class TestValidationTurns:
    def test_it_turns(self):
        found = beside([4.0, 3.0, 2.0, 2.2, 2.4, 2.6, 2.8])
        assert (found.outcome, found.step) == ("turns", 2)
        assert (found.facts["best"], found.facts["end"], found.facts["span"]) == (2.2, 2.6, 3)

    def test_the_lowest_and_the_last_are_the_evaluations_themselves(self):
        facts = beside([4.0, 3.0, 2.0, 2.2, 2.4, 2.6, 2.8]).facts
        assert (facts["lowest"], facts["lowest_step"]) == (2.0, 2)
        assert (facts["highest"], facts["highest_step"]) == (2.8, 6)
        assert (facts["latest"], facts["latest_step"]) == (2.8, 6)

    def test_a_last_evaluation_of_the_best_checkpoint_hides_no_rise(self):
        facts = beside([4.0, 3.0, 2.0, 2.2, 2.8, 3.4, 4.0, 4.6, 5.2, 5.0, 4.8, 2.0]).facts
        assert (facts["lowest_step"], facts["latest"]) == (2, 2.0)
        assert (facts["highest"], facts["highest_step"]) == (5.2, 8)

    @pytest.mark.parametrize(
        ("last", "outcome"), [(2.059, "no"), (2.061, "slightly"), (2.089, "slightly"), (2.091, "turns")]
    )
    def test_a_share_of_the_best_and_of_the_gain_are_the_bounds(self, last: float, outcome: str):
        given = numbers("validation_turns")
        assert (given["of_improvement"], given["of_level"]) == (0.15, 0.03)
        assert beside([2.6, 2.0, 2.01, 2.02, 2.03, last]).outcome == outcome

    @pytest.mark.parametrize(
        ("values", "ends", "outcome"),
        [
            ([3.1, 1.0, 1.16], 0.02, "turns"),
            ([3.1, 1.0, 1.14], 0.02, NOT_YET),  # it may be chance
            ([3.1, 1.0, 1.16], 0.03, NOT_YET),  # training costs more
            ([9.0, 1.0, 1.16], 0.02, NOT_YET),  # another unit
        ],
    )
    def test_one_evaluation_is_enough_where_training_knows_its_data(
        self, values: list[float], ends: float, outcome: str
    ):
        loss = [3.0, 2.0, 1.0, *falling(27, 0.5, ends), *[ends] * 3]
        evaluated: list[float | None] = [None] * len(loss)
        best: list[float | None] = [None] * len(loss)
        for place, value in zip((0, 16, 32), values, strict=True):
            evaluated[place], best[place] = value, 0.5 + place / 100
        one = turns(evaluated, loss=loss)
        assert one.outcome == outcome
        assert outcome == NOT_YET or one.bound == pytest.approx(0.15)
        assert turns(evaluated, loss=loss, val_accuracy=best).outcome != "turns"

    @pytest.mark.parametrize(("last", "outcome"), [(2.139, "slightly"), (2.141, "turns")])
    def test_however_much_was_gained_a_share_of_the_level_is_enough(self, last: float, outcome: str):
        assert numbers("validation_turns")["chance"].lifted == 0.07
        assert beside([11.0, 2.0, 2.01, 2.02, 2.03, last]).outcome == outcome

    @pytest.mark.parametrize(
        ("last", "outcome"), [((2.2, 2.4), "turns"), ((2.2, 2.19), "slightly"), ((2.01, 2.02), "no")]
    )
    def test_two_that_leave_the_noise_of_many_are_enough(self, last: tuple[float, float], outcome: str):
        val = [2.0 + 2.0 * 0.6**row for row in range(12)]
        assert beside([*val, *last]).outcome == outcome

    STILL = (2.1, *[2.01, 1.98, 2.0, 2.02, 1.99, 2.0, 1.98, 2.01, 2.0] * 4)

    @pytest.mark.parametrize(
        "change",
        [
            {"loss": [2.0 * 0.99**row for row in range(30)]},  # training hardly learned
            {
                "loss": [0.016, *[0.007 + 0.002 * math.sin(7 * row) for row in range(29)]]
            },  # nor here: it wanders
            {"val_loss": [one - row / 100 for row, one in enumerate(STILL)]},  # it gains, in order
            {"val_loss": [4.0, *STILL]},  # the first one stands far above
            {"val_loss": STILL[:9]},  # few
            {"val_accuracy": [0.3 + row / 100 for row in range(30)]},  # a score rises
        ],
    )
    def test_one_that_ends_where_it_began_holds_nothing_of_what_was_learned(self, change: dict):
        columns = {"loss": [2.0 * 0.93**row for row in range(30)], "val_loss": self.STILL}
        found = judged("validation_turns", **{name: list(one)[:30] for name, one in columns.items()})
        assert (found.outcome, found.facts["begun"], found.facts["ended"]) == ("stays", 2.0, 2.0)
        columns |= change
        rows = min(30, *map(len, columns.values()))
        other = judged("validation_turns", **{name: list(one)[:rows] for name, one in columns.items()})
        assert other.outcome != "stays"

    def test_a_smooth_climb_is_no_wandering(self):
        """Trained from scratch: each of 17 evaluations costs more than the one before, 32 percent in all."""
        val = [2.8 + 8.9 * 0.6**row for row in range(13)] + [2.8 + 0.05 * row for row in range(1, 18)]
        assert beside(val).outcome == "turns"

    def test_one_that_all_others_lie_far_above_is_odd(self):
        """MAPE's neighbour of a sixth: neither those before nor those after come near it."""
        val = [2500.0, 1760.0, 2280.0, 2730.0, 265.0, 1610.0, 1560.0, 1590.0, 1550.0]
        loss = [2364.0 * 0.8**row for row in range(9)]
        assert turns(val, loss=loss).outcome != "turns"
        assert turns([2500.0, 900.0, 400.0, 300.0, 265.0, *val[5:]], loss=loss).outcome == "turns"

    def test_one_unlucky_evaluation_is_no_turn(self):
        assert beside([4.0, 3.5, 3.0, 2.5, 2.2, 2.0, 7.9]).outcome == "no"

    @pytest.mark.parametrize(
        ("values", "outcome"),
        [
            ([0.571, 0.531, 0.542, 0.756, 0.218, 0.445, 1.15, 0.316, 2.032], "ends-worst"),
            ([4.0, 3.5, 3.0, 2.5, 2.2, 2.0, 8.1], "ends-worst"),  # over twice the first
            ([4.0, 3.9, 3.8, 3.7, 3.6, 3.5, 8.1], "no"),  # that is less than 2.5 times the lowest
            ([4.0, 3.5, 2.0, 8.1], NOT_YET),  # few
            ([4.0, 3.5, 3.0, 2.5, 2.2, 8.1, 2.0], "no"),  # it comes back
        ],
    )
    def test_but_a_last_one_far_above_the_first_is_no_noise(self, values: list[float], outcome: str):
        found = turns(values, loss=[1.0] * len(values))
        assert found.outcome == outcome
        if outcome == "ends-worst":
            assert (found.facts["peak"], found.step) == (values[-1], len(values) - 1)

    FLAT = (1.665, 1.7, 1.65, 1.64, 1.622, 1.63, 1.71, 1.83, 1.7, 1.646, 1.66, 1.68, 1.7)

    @pytest.mark.parametrize(
        ("values", "columns", "told"),
        [
            (FLAT, {}, True),
            ((1.75, *FLAT[1:]), {}, False),  # its level comes 5 % under that
            (FLAT[:9], {}, False),  # few
            (FLAT, {"loss": 13 * [6.0]}, False),  # training gains nothing either
            (
                FLAT,
                {"loss": [6.4, 4.1, 6.9, 4.6, 5.1, 6.2, 4.4, 6.8, 5.9, 5.0, 4.8, 4.7, 5.0]},
                False,
            ),  # by chance
            (FLAT, {"step": range(50, 63)}, False),  # a log that begins mid-way
            (FLAT, {"val_acc": [0.5 + 0.03 * row for row in range(13)]}, False),  # that is learned
        ],
    )
    def test_one_that_never_comes_under_its_first_while_training_gains(
        self, values: Sequence[float], columns: dict, told: bool
    ):
        given = {"loss": [6.4 - 0.12 * row for row in range(len(values))], "val_loss": values} | columns
        found = judged("validation_turns", **given)
        assert (found.outcome == "never-gains") == told

    @pytest.mark.parametrize(
        ("end", "outcome"),
        [
            ([1.05, 1.09, 1.14, 1.19], "turns"),
            ([1.02, 1.04, 1.06, 1.1], "turns"),  # its level rises by little more than a twentieth, at each
            ([1.02, 1.06, 1.04, 1.1], "slightly"),
            ([1.005, 1.01, 1.015, 1.018], "no"),  # its level rises by little more than a hundredth
            ([1.12, 1.02, 1.14, 1.04], "no"),  # in no order
            ([1.06, 1.14], "slightly"),  # two aren't enough
        ],
    )
    def test_a_small_rise_in_order_that_ends_many_evaluations(self, end: list[float], outcome: str):
        values = [4.0, 2.0, 1.5, 1.2, 1.1, 1.05, 1.02, 1.01, 1.0, *end]
        chance = numbers("validation_turns")["chance"]
        assert (chance.onset, chance.learns, chance.few) == (0.02, 0.1, 2.0)
        assert beside(values).outcome == outcome
        assert turns(values, loss=[2.0] * len(values)).outcome != "turns"

    @pytest.mark.parametrize(
        ("values", "step"),
        [
            ([4.0, 1.0, 1.1, 7.8, 1.0, 1.1, 1.0], 3),
            ([4.0, 1.0, 1.1, 7.8, 1.0, 9.0, 1.1, 1.0], 5),
            ([4.0, 1.0, 1.1, 7.6, 1.0, 1.1, 1.0], None),  # under seven times the level beside it
            ([8.0, 1.0, 1.1, 7.8, 1.0, 1.1, 1.0], None),  # under the first
            ([2.0, 2.0, 1.9, 13.9, 0.1, 0.1, 0.1], None),  # what came before was as high
            ([4.0, 1.0, 1.1, 7.8, 1.0], None),  # of five, the two before it say little
            ([2.0, 1.9, 12.0], None),  # it hasn't come back
            ([4.0, 2.0, 0.4, 14.0, 0.2, 1.1, 0.1, 0.4, 0.2, 0.1], None),  # it was on its way, and unsteady
            ([4.0, 1.0, 1.0, 7.8, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 3),  # it was calm
            ([-1.0, -1.1, 9.0, -1.2, -1.1], None),  # below 0 nothing is a multiple
        ],
    )
    def test_one_that_stands_far_above_both_sides_jumps(self, values: list[float], step: int | None):
        found = beside(values)
        assert numbers("validation_turns")["chance"].jumps == 7.0
        assert found.outcome == "jumps" if step else found.outcome != "jumps"
        if step:
            assert (found.step, found.facts["peak"]) == (step, values[step])

    def test_evaluations_of_wild_noise_do_not_jump(self):
        rng = random.Random(3)
        for _ in range(200):
            values = [4.0, *(math.exp(rng.gauss(0, 0.4)) for _ in range(20))]
            assert beside(values).outcome != "jumps"

    def test_still_falling(self):
        for rows in (3, 7, 10, 100):
            found = beside(falling(rows))
            assert (found.outcome, found.facts["rise"]) == ("no", 0.0)

    def test_two_evaluations_after_the_best_may_be_chance(self):
        assert beside([4.0, 3.5, 3.0, 2.5, 2.0, 3.0, 7.9]).facts == {"rows": 7, "needed": 10}

    def test_two_that_lose_all_that_was_gained_are_none(self):
        assert turns([4.7, 3.6, 7.1, 10.7]).outcome == "rises"
        assert beside([4.7, 3.6, 7.1, 10.7]).outcome == "turns"
        assert turns([4.7, 3.6, 3.5, 10.7]).outcome == NOT_YET  # the last alone may be an odd one
        assert beside([4.7, 3.6, 7.1, 8.9]).outcome == NOT_YET  # training would have shown it

    def test_four_in_order_are_a_turn_and_three_beyond_all_bends(self):
        assert beside([0.8, 0.5, 0.51, 0.55, 0.6, 0.61]).outcome == "turns"
        assert beside([0.7, 0.65, 0.6, 0.54, 0.56, 0.61, 0.67]).outcome == "turns"
        assert beside([0.8, 0.5, 0.51, 0.49, 0.61]).outcome == NOT_YET
        assert beside([0.7, 0.65, 0.6, 0.54, 0.61, 0.56, 0.67]).outcome == NOT_YET

    def test_too_few_and_gaps_between(self):
        assert beside([4.0, 2.0]).facts == {"rows": 2, "needed": 3}
        found = beside([x for value in (4.0, 2.0, 2.5, 3.0, 3.4, 3.8) for x in (value, None, None)])
        assert (found.outcome, found.step, found.facts["rows"]) == ("turns", 3, 6)

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_not_finite(self, bad: float):
        found = beside([4.0, 3.0, 2.0, bad])
        assert (found.outcome, found.step, found.facts["count"]) == ("non-finite", 3, 1)
        assert beside([bad, 3.0, bad, 2.0]).outcome == "non-finite"
        assert beside([bad, None]).outcome == "non-finite"

    def test_a_few_that_are_not_finite_are_named(self):
        found = beside([4.0, math.inf, 3.0, math.nan, 2.0, 1.9])
        assert (found.outcome, found.facts["count"], found.facts["rows"]) == ("some", 2, 4)
        assert (found.facts["named"], found.facts["latest_step"]) == ("1, 3", 5)


class TestNothingIsEvaluated:
    """Evaluations that are all exactly 0."""

    @pytest.mark.parametrize(
        ("val_loss", "loss", "outcome"),
        [
            ([0.0] * 3, [0.5, 0.25, 0.125], "all-zero"),
            ([0.0] * 2, [0.5, 0.25], NOT_YET),
            ([0.25, 0.0, 0.0, 0.0], [0.5, 0.25, 0.125, 0.125], "no"),  # learned down to 0
            ([0.0] * 3, [0.5, 0.25, 0.0], "no"),  # so is training
        ],
    )
    def test_while_training_costs_something(self, val_loss: list[float], loss: list[float], outcome: str):
        found = turns(val_loss, loss=loss)
        assert found.outcome == outcome
        if outcome == "all-zero":
            assert found.facts == {"step": 0, "rows": 3, "train": 0.125}

    def test_scores_that_move_say_that_only_the_loss_was_left_out(self):
        columns = {"loss": [0.5, 0.25, 0.125], "metrics/mAP50": [0.1, 0.2, 0.3]}
        assert turns([0.0] * 3, **columns).outcome == "no"
        assert turns([0.0] * 3, **columns | {"metrics/mAP50": [0.0] * 3}).outcome == "all-zero"
        assert turns([0.0] * 3, loss=columns["loss"], train_acc=[0.1, 0.2, 0.3]).outcome == "all-zero"

    def test_it_is_no_sign_that_the_answer_is_seen(self):
        run = make_run({"loss": falling(40, 6.2, 2.0), "val_loss": [0.0] * 40}, {"vocab_size": 512})
        assert apply("sees_the_answer", run, numbers("sees_the_answer", "phase-18")).outcome == NO_DATA
        run = make_run({"loss": falling(40, 6.2, 2.0), "val_loss": [6.2] + [0.0] * 39}, {"vocab_size": 512})
        assert apply("sees_the_answer", run, numbers("sees_the_answer", "phase-18")).outcome == "sees"


class TestAllThatWasGainedIsLost:
    """A fall of 3 % from 2.2 over half of the evaluations, and a rise beyond the first one again."""

    def course(self, to: float, rows: int = 30, noise: float = 0.002) -> Logged:
        rng, half = random.Random(0), rows // 2
        clean = [*falling(half, 2.2, 2.14), *falling(rows - half, 2.14, to)]
        return [value + rng.gauss(0, noise) for value in clean]

    def test_above_the_first_level(self):
        assert beside(self.course(2.24)).outcome == "turns"
        assert beside(self.course(2.155)).outcome == "no"

    def test_within_the_noise(self):
        assert beside(self.course(2.22, noise=0.1)).outcome != "turns"
        assert beside(self.course(2.22, noise=0.002)).outcome == "turns"

    def test_half_of_it_is_enough_where_training_goes_on_to_fall(self):
        values = [0.506, 0.4885, 0.486, 0.4885, 0.4875, 0.4825, 0.492, 0.495, 0.499, 0.5025]
        assert numbers("validation_turns")["chance"].lost == 0.5
        assert beside(values).outcome == "turns"
        assert turns(values, loss=[2.0] * len(values)).outcome != "turns"

    def test_too_few_to_know_the_noise(self):
        assert beside(self.course(2.195, rows=9)).outcome == "no"
        assert beside(self.course(2.195, rows=10)).outcome == "turns"

    def test_a_log_that_rounds(self):
        assert beside([0.69] * 15 + [0.68] + [0.69] * 15).outcome == "never-gains"

    def test_nothing_of_what_counts_was_lost(self):
        """From 6.9 to 1.00, and to 1.03 in a few evaluations: next to nothing of it."""
        assert beside([*falling(13, 6.9, 1.0), *falling(8, 1.0, 1.03)]).outcome == "no"


class TestForLong:
    """It falls from 4 to 2 within 20 evaluations, and rises by a few percent over as many again."""

    def course(self, to: float, rows: int = 20, noise: float = 0.002) -> Logged:
        rng = random.Random(1)
        clean = [*falling(20, 4.0, 2.0), *falling(rows, 2.0, to)]
        return [value + rng.gauss(0, noise) for value in clean]

    def test_three_percent_in_twenty_evaluations(self):
        assert beside(self.course(2.06)).outcome == "turns"  # in order, while training learns on
        assert beside(self.course(2.06, noise=0.03)).outcome == "no"

    @pytest.mark.parametrize(
        ("to", "training", "share", "outcome"),
        [
            (2.04, (2.0, 1.7), 0.02, "slightly"),
            (2.06, (2.0, 1.7), 0.02, "turns"),  # for long, in order
            (2.17, (2.0, 2.08), 0.1, "slightly"),  # it has hardly fallen since
            (2.25, (2.0, 2.08), 0.1, "turns"),
        ],
    )
    def test_a_tenth_of_its_level_is_no_little_nor_is_less_where_training_falls_on(
        self, to: float, training: tuple[float, float], share: float, outcome: str
    ):
        chance = numbers("validation_turns")["chance"]
        assert (chance.high, chance.onset, chance.learns) == (0.1, 0.02, 0.1)
        found = turns(self.course(to), loss=[*falling(20, 4.0, training[0]), *falling(20, *training)])
        bound = (1 + share) * found.facts["best"]
        assert (found.outcome, found.facts["bound"]) == (outcome, pytest.approx(bound))

    def test_of_what_gained_little_a_share_of_the_gain_is_enough(self):
        rng = random.Random(2)
        course = [value + rng.gauss(0, 0.0005) for value in (*falling(20, 2.2, 2.0), *falling(20, 2.0, 2.05))]
        assert numbers("validation_turns")["of_improvement"] == 0.15
        assert beside(course).outcome == "turns"

    def test_fewer_decide_nothing_of_so_little(self):
        assert beside(self.course(2.06, rows=9)).outcome == "no"

    def test_under_a_percent_is_what_logs_round(self):
        assert beside(self.course(2.015)).outcome == "no"

    def test_within_the_noise(self):
        assert beside(self.course(2.06, noise=0.1)).outcome == "no"

    def test_what_wanders_is_no_trend(self):
        """Each evaluation keeps 0.6 of how far the one before lay off."""
        rng, called = random.Random(3), 0
        for _ in range(40):
            off, course = 0.0, []
            for _ in range(40):
                off = 0.6 * off + rng.gauss(0, 0.02)
                course.append(2.0 + off)
            called += beside(course).outcome == "turns"
        assert called <= 6


class TestFewAfterManyFalls:
    """It comes down in order; what follows tells little by its size, and enough by its order or its lot."""

    DOWN: Logged = [10.8, 5.82, 5.33, 5.08, 5.04, 4.9, 4.99, 4.86, 4.94, 4.97, 4.86, 4.84]

    def test_four_in_a_row_rise_while_training_falls_a_little(self):
        up = [5.01, 5.02, 5.07, 5.09]
        loss = [*falling(12, 10.9, 3.8), *falling(4, 3.75, 3.6)]
        assert turns([*self.DOWN, *up], loss=loss).outcome == "turns"
        assert turns([*self.DOWN, 5.01, 5.07, 5.02, 5.09], loss=loss).outcome == "slightly"
        stays = [*falling(12, 10.9, 3.8), 4.5, 4.5, 4.5, 4.5]
        assert turns([*self.DOWN, *up], loss=stays).outcome == "slightly"

    def test_seven_keep_off_the_lowest_while_training_falls_to_half(self):
        up = [0.122, 0.126, 0.146, 0.143, 0.143, 0.133, 0.134]
        loss = [0.21, 0.16, 0.11, 0.08, 0.02, 0.01, 0.03, 0.01, 0.01, 0.01, 0.004]
        assert turns([0.155, 0.134, 0.125, 0.118, *up], loss=loss).outcome == "turns"
        assert turns([0.155, 0.134, 0.125, 0.118, 0.119, *up[1:]], loss=loss).outcome != "turns"
        assert turns([0.155, 0.125, 0.134, 0.118, *up], loss=loss).outcome != "turns"  # never in order


class TestFlatNoise:
    """A validation that neither falls nor rises is seldom taken for one that does, however noisy it is."""

    @pytest.mark.parametrize("spread", [0.005, 0.1, 0.3])
    @pytest.mark.parametrize("rows", [5, 9, 10, 40])
    def test_it_seldom_turns(self, rows: int, spread: float):
        """The tree's source `flat-noise` says how often, measured over thousands."""
        rng = random.Random(rows)
        logs = [[rng.gauss(1.0, spread) for _ in range(rows)] for _ in range(40)]
        assert sum(beside(log).outcome == "turns" for log in logs) <= 3

    @pytest.mark.parametrize("rows", [5, 9, 12, 40])
    def test_nor_does_it_rise_alone(self, rows: int):
        rng = random.Random(rows)
        logs = [[rng.gauss(1.0, 0.1) for _ in range(rows)] for _ in range(40)]
        assert sum(turns(log).outcome == "rises" for log in logs) <= 2

    @pytest.mark.parametrize("rows", [6, 9, 20])
    def test_nor_after_a_fall(self, rows: int):
        """As a small corpus gives: down from 3 within three evaluations, and flat from there on."""
        rng = random.Random(rows)
        logs = [
            [(1 + 2 * math.exp(-1.5 * row)) * rng.gauss(1.0, 0.05) for row in range(rows)] for _ in range(40)
        ]
        assert sum(beside(log).outcome == "turns" for log in logs) <= 2


class TestNoTrainingLoss:
    def test_it_only_rises(self):
        found = turns([2.0 + abs(row - 5) / 10 for row in range(20)])
        assert (found.outcome, found.facts["lowest_step"]) == ("rises", 5)

    def test_a_few_that_end_two_and_a_half_times_as_high_do_too(self):
        assert turns([0.0023, 0.0126, 0.0365, 0.0848]).outcome == "rises"
        assert turns([0.0023, 0.0365, 0.0126, 0.0848]).outcome == NOT_YET

    def test_twice_as_many_that_none_comes_near_again_do_too(self):
        val = [5.99, 12.4, 11.7, 9.24, 8.94, 8.92, 8.75]
        assert turns(val).outcome == "rises"
        assert turns(val[:6]).outcome == NOT_YET
        assert turns([*val[:-1], 7.4]).outcome != "rises"

    def test_a_few_that_lose_more_than_they_gained_do_too(self):
        assert turns([7.1, 6.2, 6.0, 6.8, 8.1]).outcome == "rises"
        assert turns([7.1, 6.2, 6.0, 6.8, 7.4]).outcome == NOT_YET  # hardly above the first
        assert turns([7.1, 6.9, 6.8, 6.9, 7.6]).outcome == NOT_YET  # little was gained

    def test_a_few_evaluations_decide_nothing(self):
        assert turns([0.01, 0.012, 0.016, 0.02]).facts == {"rows": 4, "needed": 10}

    def test_a_fall_is_one_without_it(self):
        assert turns(falling(4)).outcome == "no"


class TestTrainingBesideIt:
    """Validation that turns, and what training does meanwhile."""

    VAL = (0.0533, 0.0525, 0.0573, 0.0539, 0.0583, 0.0577, 0.0618)

    def test_where_training_goes_on_to_fall_the_order_of_few_is_enough(self):
        assert turns(self.VAL, loss=falling(7, 0.079, 0.028)).outcome == "turns"
        assert turns(self.VAL, loss=falling(7, 0.05, 0.047)).outcome == NOT_YET

    def test_three_in_a_row_that_each_stand_higher_are_enough_too(self):
        val = [1.639, 1.291, 1.2, 1.279, 1.339, 1.357]
        assert turns(val, loss=falling(6, 1.98, 0.68)).outcome == "turns"
        assert turns(val[:-1], loss=falling(5, 1.98, 0.68)).outcome == NOT_YET
        assert turns([*val[:3], 1.339, 1.279, 1.357], loss=falling(6, 1.98, 0.68)).outcome == NOT_YET

    def test_a_rise_of_less_than_a_twentieth_is_none(self):
        val = [one if row < 2 else 0.0525 + (one - 0.0525) / 5 for row, one in enumerate(self.VAL)]
        assert turns(val, loss=falling(7, 0.079, 0.028)).outcome == "no"

    def test_noise_this_wide_hides_a_rise_but_not_where_it_ends(self):
        val = [14.3, 18.9, 7.9, 22.7, 43.5, 48.0, 29.7, 31.8, 33.6, 36.3]
        assert turns(val, loss=falling(10, 0.03, 0.02)).outcome == "ends-worst"
        assert turns([*val[:-1], 28.0], loss=[0.03] * 10).outcome == "slightly"

    @pytest.mark.parametrize(
        ("values", "outcome"),
        [
            ([0.41, 0.44, 0.458, 0.447, 0.48], "turns"),
            ([0.41, 0.43, 0.458, 0.447, 0.48], NOT_YET),  # one comes near
            ([0.41, 0.44, 0.458, 0.48, 0.45], NOT_YET),  # it may be on its way back
        ],
    )
    def test_nor_need_few_be_in_order_where_none_comes_near_and_the_last_is_highest(
        self, values: list[float], outcome: str
    ):
        loss = falling(5, 0.4, 0.25)
        assert turns(values, loss=loss).outcome == outcome
        assert turns(values, loss=[0.4] * 5).outcome == NOT_YET

    def test_so_it_is_of_many_and_of_an_end_that_is_lifted(self):
        wild = [0.44, 0.458, 0.447, 0.452, 0.441, 0.46, 0.45, 0.455, 0.443, 0.457, 0.48]
        assert turns([0.41, *wild], loss=falling(12, 0.4, 0.3)).outcome in ("turns", "never-gains")
        falls = [1.0, 0.98, 0.96, 0.95, 0.94, 0.945, 0.93]
        lifted = [*falls, 0.965, 0.972, 0.968, 0.975, 0.966, 0.97, 1.03]
        assert turns(lifted, loss=falling(14, 1.0, 0.6)).outcome == "turns"
        assert (
            turns([*falls, 0.94, 0.95, 0.935, 0.945, 0.94, 0.95, 1.03], loss=falling(14, 1.0, 0.6)).outcome
            == "no"
        )

    def test_nor_need_few_be_in_order_while_training_falls_to_half(self):
        val = [0.388, 0.522, 0.693, 0.571, 0.525]
        found = turns(val, loss=[0.64, 0.29, 0.23, 0.16, 0.14])
        assert (found.outcome, found.facts["lowest_step"], found.facts["span"]) == ("turns", 0, 1)
        assert turns(val, loss=[0.64, 0.59, 0.53, 0.46, 0.44]).outcome == NOT_YET
        assert turns([0.388, 0.398, *val[2:]], loss=[0.64, 0.29, 0.23, 0.16, 0.14]).outcome == NOT_YET  # near
        assert turns([*val[:2], 0.3, *val[3:]], loss=[0.64, 0.29, 0.23, 0.16, 0.01]).outcome == NOT_YET  # few

    @pytest.mark.parametrize(("gap", "outcome"), [(0.026, "turns"), (0.024, NOT_YET)])
    def test_four_none_of_which_comes_back_by_a_quarter_of_the_gain(self, gap: float, outcome: str):
        val = [0.3, *[0.2 + gap + one for one in (0.03, 0.0, 0.04, 0.01)]]
        val.insert(1, 0.2)
        loss = [0.64, 0.5, 0.29, 0.23, 0.16, 0.14]
        assert numbers("validation_turns")["chance"].above == 0.25
        assert turns(val, loss=loss).outcome == outcome
        assert turns(val[:-1], loss=loss[:-1]).outcome == NOT_YET  # three have to stand farther above it

    @pytest.mark.parametrize(
        ("to", "rows", "outcome"), [(0.4, 10, "turns"), (0.6, 10, "slightly"), (0.4, 9, "slightly")]
    )
    def test_many_that_lie_above_it_in_the_median_whatever_their_noise(
        self, to: float, rows: int, outcome: str
    ):
        """From 1.2 to 0.6 at the 20th epoch, and wildly from 0.6 to 1.1 since, and training falls to `to`."""
        wild = [0.62, 1.1, 0.9, 0.68, 0.75, 0.83, 0.74, 0.92, 0.7, 0.78, 0.8]
        val = [one + 0.15 * (-1) ** at for at, one in enumerate(falling(19, 1.2, 0.8))] + [0.6, *wild[:rows]]
        loss = [*falling(20, 2.0, 1.0), *falling(rows, 0.98, to)]
        assert turns(val, loss=loss).outcome == outcome

    @pytest.mark.parametrize(
        ("least", "to", "outcome"), [(2.55, 1.3, "turns"), (2.5, 1.3, "no"), (2.55, 1.7, "no")]
    )
    def test_many_none_of_which_comes_down_to_the_level_before_the_lowest(
        self, least: float, to: float, outcome: str
    ):
        """From 4.2 to about 2.54, a lucky 2.4 among it, and from 2.6 to 6.8 since; training falls to `to`."""
        wild = [3.0, 3.5, 3.3, 3.2, 3.8, 3.7, 4.2, 2.8, 6.8, least]
        val = [4.2, 3.8, 3.5, 4.5, 3.3, 4.2, 2.8, 2.7, 2.7, 2.54, 2.54, 2.5, 3.2, 2.4, *wild]
        loss = [*falling(14, 3.3, 1.9), *falling(10, 1.85, to)]
        found = turns(val, loss=loss)
        assert (found.outcome == "turns") is (outcome == "turns")

    @pytest.mark.parametrize(("first", "outcome"), [(0.48, "turns"), (0.07, "slightly")])
    def test_what_is_learned_by_heart_may_be_so_before_the_lowest(self, first: float, outcome: str):
        """Training is at a tenth of what it was when validation is lowest, and learns no more since."""
        val = [
            0.72,
            0.7,
            0.69,
            0.66,
            0.81,
            0.64,
            0.78,
            0.99,
            0.92,
            1.05,
            0.91,
            0.89,
            0.82,
            0.89,
            1.07,
            1.29,
            1.0,
        ]
        loss = [first, *[0.06, 0.05, 0.06] * 5, 0.055]
        assert turns(val, loss=loss).outcome == outcome

    def test_the_best_checkpoint_evaluated_once_more_is_no_evaluation(self):
        val = [0.5, 0.4, 0.30063, 0.32511, 0.36032]
        assert beside([*val, 0.30063]).facts["rows"] == 5
        assert beside([*val, 0.32511]).facts["rows"] == 6  # not the best one
        assert beside([0.5, 0.4, 0.31, 0.33, 0.36, 0.31]).facts["rows"] == 6  # of two digits that is chance
        assert beside([0.30063] * 5).facts["rows"] == 5  # it never moves

    @pytest.mark.parametrize(("again", "evaluations"), [(0.81, 5), (0.8, 6), (math.nan, 6)])
    def test_of_few_digits_nor_is_one_whose_scores_come_again_too(self, again: float, evaluations: int):
        val, scores = [0.5, 0.4, 0.31, 0.33, 0.36, 0.31], [0.7, 0.75, 0.81, 0.83, 0.8, again]
        assert turns(val, loss=falling(6, 0.6, 0.1), val_f1=scores).facts["rows"] == evaluations

    def test_of_what_was_gained_they_have_to_lose_a_part(self):
        val = [2.22, 0.4, 0.052, 0.0855, 0.1125, 0.0892, 0.0721]
        assert turns(val, loss=falling(7, 2.21, 0.003)).outcome == "slightly"

    def test_two_evaluations_after_the_lowest_decide_nothing(self):
        assert turns([0.32, 0.3, 0.33, 0.36], loss=falling(4, 0.4, 0.1)).outcome != "turns"

    @pytest.mark.parametrize(
        ("last", "to", "outcome"), [(0.34, 0.1, "turns"), (0.32, 0.1, NOT_YET), (0.34, 0.3, NOT_YET)]
    )
    def test_they_do_where_validation_was_lowest_at_first(self, last: float, to: float, outcome: str):
        assert turns([0.3, 0.315, last], loss=falling(3, 0.4, to)).outcome == outcome

    @pytest.mark.parametrize(
        ("rises", "to", "outcome"),
        [
            (0.012, 2.0, "turns"),
            (0.006, 2.0, "no"),  # by 2 % it hardly does
            (0.012, 2.4, "no"),  # training hardly falls meanwhile
        ],
    )
    def test_a_long_climb_in_order_need_not_go_far(self, rises: float, to: float, outcome: str):
        down = [5.0, 4.28, 3.84, 3.67, 3.53, 3.4, 3.33, 3.265, 3.249, 3.243, 3.249, 3.242]
        val_loss = [*down, *[3.245 + rises * at for at in range(1, 9)]]
        loss = [*falling(9, 6.1, 2.47), *[2.47] * 3, *falling(8, 2.46, to)]
        assert turns(val_loss, loss=loss).outcome == outcome
        unordered = [*down, 3.3, 3.25, 3.34, 3.26, 3.33, 3.28, 3.26, 3.34]
        assert turns(unordered, loss=loss).outcome != "turns"

    @pytest.mark.parametrize(
        ("val_loss", "to", "outcome"),
        [
            ([6.61, 6.64, 6.63, 6.75, 6.76, 6.78], 6.0, "turns"),
            ([6.61, 6.64, 6.63, 6.66, 6.68, 6.69], 6.0, "no"),  # hardly
            ([6.61, 6.78, 6.64, 6.75, 6.63, 6.78], 6.0, "no"),  # in no order
            ([6.61, 6.64, 6.63, 6.75, 6.76, 6.78], 6.75, "no"),  # training hardly falls
            ([6.71, 6.61, 6.64, 6.68, 6.75, 6.78], 6.0, "no"),  # it had gained
        ],
    )
    def test_what_rises_from_the_first_on_need_not_rise_far(
        self, val_loss: list[float], to: float, outcome: str
    ):
        assert turns(val_loss, loss=falling(6, 6.85, to)).outcome == outcome

    @pytest.mark.parametrize(("fourth", "outcome"), [(0.3788, "turns"), (0.37, NOT_YET)])
    def test_two_that_hardly_differ_are_no_fall_amid_a_rise(self, fourth: float, outcome: str):
        assert turns([0.321, 0.326, 0.379, fourth, 0.415], loss=falling(5, 0.2, 0.06)).outcome == outcome

    @pytest.mark.parametrize(("last", "to", "outcome"), [
        (0.0664, 0.006, "turns"), (0.0664, 0.012, NOT_YET), (0.055, 0.006, NOT_YET),
    ])  # fmt: skip
    def test_two_far_above_the_first_are_a_turn_where_training_falls_to_half(
        self, last: float, to: float, outcome: str
    ):
        assert (
            turns([0.0500, 0.0450, 0.0449, 0.0514, last], loss=[0.06, 0.03, 0.02, 0.02, to]).outcome
            == outcome
        )

    def test_where_training_rises_too_nothing_is_learned_by_heart(self):
        val = [*falling(20, 0.03, 0.0243), *[0.0268] * 40]
        loss = [*falling(20, 0.03, 0.0256), *[0.02806] * 40]
        assert turns(val, loss=loss).outcome == "both"
        assert turns(val, loss=[*loss[:20], *[0.0256] * 40]).outcome == "turns"

    def test_training_may_come_down_again_that_rose_with_it(self):
        """It rises while the rate warms up, and has come halfway back at the end."""
        loss = [*falling(20, 0.8, 0.12), *falling(20, 0.12, 0.31), *[0.3] * 60, *[0.18] * 20]
        val = [0.219 if row == 19 else 0.41 + row % 3 / 100 if row % 20 == 19 else None for row in range(120)]
        assert turns(val, loss=loss).outcome == "both"
        spiked = [*falling(20, 0.8, 0.12), *falling(10, 0.12, 0.31), *falling(90, 0.12, 0.05)]
        assert turns(val, loss=spiked).outcome == "turns"

    def test_few_that_all_lie_as_far_above_the_lowest_have_left_it(self):
        loss = falling(6, 0.4, 0.39)
        assert turns([0.219, 0.416, 0.423, 0.410, 0.438, 0.402], loss=loss).outcome == "turns"
        assert turns([0.219, 0.416, 0.523, 0.410, 0.438, 0.402], loss=loss).outcome == NOT_YET
        assert turns([0.3, 0.29, 0.219, 0.416, 0.423, 0.410], loss=loss).outcome == NOT_YET

    def test_few_that_rise_by_more_than_training_ever_fell(self):
        """Also below 0, where no multiple of the lowest says how high they stand."""
        loss = falling(7, -0.32, -0.52)  # by less than to half
        assert turns([-0.45, -0.506, -0.5, 1.05, 2.29, 1.72, 1.4], loss=loss).outcome == "turns"
        assert turns([-0.45, -0.506, -0.5, 1.05, 2.29, 1.72, -0.4], loss=loss).outcome == NOT_YET

    def test_a_large_rise_in_order_counts_in_wide_noise(self):
        rng = random.Random(4)
        val = [*falling(8, 1.1, 0.56), *[0.7 + 0.02 * row + rng.gauss(0, 0.05) for row in range(12)]]
        assert turns(val, loss=falling(20)).outcome == "turns"


class TestScoresOn:
    """Validation that turns by less than a fourth, while a held-out score gets better."""

    VAL = (0.31, 0.26, 0.25, 0.232, 0.27, 0.272, 0.274, 0.283, 0.294, 0.294, 0.288)
    ACC = (0.891, 0.906, 0.916, 0.917, 0.922, 0.932, 0.931, 0.938, 0.938, 0.941, 0.943)

    @pytest.mark.parametrize(
        ("change", "outcome"),
        [
            ({}, "scores-on"),
            ({"val_acc": [100 * one for one in ACC]}, "scores-on"),
            ({"val_acc": [one / 10 for one in ACC]}, "turns"),  # hardly any is right
            ({"val_acc": [*ACC[:5], *[0.922, 0.921] * 3]}, "turns"),  # it stays
            ({"val_acc": ACC[::-1]}, "turns"),
            ({"acc": ACC, "val_acc": [None] * 11}, "turns"),  # that of training
            ({"val_loss": [*VAL[:4], *[0.33 + row / 100 for row in range(7)]]}, "turns"),  # by half
        ],
    )
    def test_it_is_a_remark(self, change: dict, outcome: str):
        given = {"val_loss": list(self.VAL), "val_acc": list(self.ACC), "loss": falling(11, 0.46, 0.03)}
        found = judged("validation_turns", **(given | change))
        assert found.outcome == outcome
        if outcome == "scores-on":
            assert (found.facts["score"], found.step) == ("val_acc", 3)
            assert found.facts["before"] < found.facts["after"]
            assert found.facts["most"] == 100 * numbers("validation_turns")["scores"].costlier

    WER = (0.62, 0.5, 0.45, 0.42, 0.41, 0.4, 0.38, 0.35, 0.33, 0.31, 0.3)

    @pytest.mark.parametrize(
        ("wer", "outcome"),
        [
            (WER, "scores-on"),
            ([100 * one for one in WER], "scores-on"),
            ([2 * one for one in WER], "turns"),  # most words are wrong
            ([*WER[:4], *[0.42, 0.421] * 3, 0.42], "turns"),
            (WER[::-1], "turns"),
        ],
    )
    def test_an_error_rate_gets_better_as_it_falls(self, wer: list[float], outcome: str):
        given = {"val_loss": list(self.VAL), "eval_wer": list(wer), "loss": falling(11, 0.46, 0.03)}
        assert judged("validation_turns", **given).outcome == outcome


def test_a_log_likelihood_rises_as_a_model_learns():
    likelihood = [-5754.0, -5667.0, -5601.0, *(-5550.0 + 4 * row for row in range(15))]
    score = [0.3 + row / 100 for row in range(18)]
    assert turns(likelihood, dev_acc=score).outcome == NO_DATA
    assert turns(likelihood, dev_acc=score[::-1]).outcome == "rises"
    assert turns(likelihood).outcome == "rises"
    assert turns(likelihood, dev_acc=score, loss=falling(18, -5000.0, -6000.0)).outcome == "turns"


class TestSeveralSets:
    """Of several held-out sets the mean is judged; one that turns alone is told."""

    NEAR = [2 * 0.9**row + 0.3 for row in range(30)]
    FAR = [1.2 if row < 9 else 1.2 + 0.01 * (row - 8) for row in range(30)]

    def found(self, *sets: list[float]) -> Finding:
        mean = [sum(values) / len(values) for values in zip(*sets, strict=True)]
        columns = {f"val_{'ab'[at]}/loss": values for at, values in enumerate(sets)}
        return turns(mean, loss=falling(30, 2.0, 0.1), **columns)

    def test_one_that_turns_alone(self):
        found = self.found(self.NEAR, self.FAR)
        assert (found.outcome, found.facts["set"], found.facts["sets"]) == ("one-set", "val_b/loss", 2)
        assert (found.curve.signal, found.level) == ("val_b/loss", None)
        assert found.facts["latest"] == pytest.approx(1.41)

    def test_none_that_does(self):
        assert self.found(self.NEAR, self.NEAR[:]).outcome == "no"
        assert self.found(self.NEAR, [1.2] * 30).outcome == "no"
        assert turns(self.NEAR, loss=falling(30, 2.0, 0.1), **{"val_a/loss": self.FAR}).outcome == "no"

    def test_where_the_mean_turns_they_all_do(self):
        assert self.found(self.FAR, self.FAR[:]).outcome == "turns"
