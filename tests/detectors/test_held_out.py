"""Detectors of the held-out loss, on small arrays with known answers."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.conftest import make_run, numbers
from tutor.detectors import NO_DATA, NOT_YET, Finding, apply
from tutor.run import Aggregation

Logged = Sequence[float | None]


def gap(manifest: dict | None = None, **columns: list) -> Finding:
    """Whether validation follows, by the shipped tree's numbers."""
    return apply("validation_gap", make_run(columns, manifest), numbers("validation_gap", "phase-18"))


def falling(rows: int, top: float = 4.0, to: float = 2.0) -> list[float]:
    return [top + (to - top) * row / (rows - 1) for row in range(rows)]


class TestValidationGap:
    """Evaluated every 50 steps, from a loss that fell from 6 to 1 within 100, and validation with it.

    It is lowest at step 100, with four fifths of its gap.
    """

    def found(
        self, gap_: float, *, rows: int = 300, later: float | None = None, noise: float = 0.0
    ) -> Finding:
        loss = [max(1.0, 6.0 - row / 20) + noise * (-1) ** row for row in range(rows)]
        val: list[float | None] = [
            None if row % 50 else loss[row] + gap_ * min(1, row / 125) for row in range(rows)
        ]
        if later is not None:
            val[-50:] = [None if value is None else 1.0 + later for value in val[-50:]]
        return gap(loss=loss, val_loss=val)

    @pytest.mark.parametrize(
        ("beyond", "outcome"),
        [
            (0.0, "tracks"),
            (0.49, "tracks"),
            (0.51, "wide"),
            (1.48, "wide"),
            (1.5, "overfits"),
            (-0.29, "tracks"),
            (-0.31, "leaks"),
        ],
    )
    def test_bounds(self, beyond: float, outcome: str):
        assert self.found(beyond).outcome == outcome

    def test_over_a_nat_is_wide_where_it_is_little_of_the_gain(self):
        """A regression that came from 1700 to 220, validation with it to 480."""
        loss = [220 + 1480 * 0.97**row for row in range(300)]
        val = [None if row % 50 else loss[row] + 260 * min(1, row / 100) for row in range(300)]
        assert gap(loss=loss, val_loss=val).outcome == "wide"
        risen = [None if one is None else (2 + row / 200) * one for row, one in enumerate(val)]
        assert gap(loss=loss, val_loss=risen).outcome == "overfits"

    def test_a_gap_of_a_nat_is_wide_however_little_was_gained(self):
        loss = [1.0 - row / 1000 for row in range(300)]
        for beyond, outcome in ((0.99, "wide"), (1.01, "overfits")):
            val = [None if row % 50 else loss[250] + beyond - (row == 100) / 5 for row in range(300)]
            assert gap(loss=loss, val_loss=val).outcome == outcome

    @pytest.mark.parametrize(("risen", "outcome"), [(0.0, "kept"), (0.049, "kept"), (0.051, "overfits")])
    def test_what_validation_has_kept_was_not_lost_to_learning_by_heart(self, risen: float, outcome: str):
        loss = [6.0 * 0.98**row for row in range(300)]
        val = [6.0, 4.0, 3.0, *[3.0 * (1 + risen)] * 3]
        found = gap(loss=loss, val_loss=[None if row % 50 else val[row // 50] for row in range(300)])
        assert found.outcome == outcome
        if outcome == "kept":
            assert (found.facts["lowest"], found.facts["lowest_step"]) == (3.0, 100)

    def test_validation_that_gained_nothing_has_nothing_to_keep(self):
        loss = [1.6 * 0.98**row for row in range(300)]
        val = [None if row % 50 else 1.6 - row / 5000 for row in range(300)]
        assert gap(loss=loss, val_loss=val).outcome == "overfits"

    @pytest.mark.parametrize(("slope", "outcome"), [(-0.01, "kept"), (0.04, "overfits")])
    def test_the_lowest_of_noisy_evaluations_is_a_lucky_one(self, slope: float, outcome: str):
        """The last lie far above the lowest of 33, as noise has it; or the level rises."""
        rng, loss = random.Random(7), [2.0 * 0.9**row for row in range(33)]
        val = [max(2.4 - 0.1 * row, 1.9 + slope * row) + rng.gauss(0, 0.3) for row in range(33)]
        assert gap(loss=loss, val_loss=val).outcome == outcome

    def test_a_log_that_begins_mid_way_does_not_show_what_was_gained(self):
        loss = [0.9 * 0.8**row for row in range(11)]
        val = [1.28, 1.26, 1.25, 1.24, 1.23, 1.23, 1.24, 1.24, 1.24, 1.24, 1.25]
        for first, outcome in ((0, "overfits"), (10, "kept")):
            steps = [first + row for row in range(11)]
            assert gap(step=steps, loss=loss, val_loss=val).outcome == outcome
        by_heart = [0.9 * 0.7**row for row in range(11)]
        assert gap(step=steps, loss=by_heart, val_loss=val).outcome == "overfits"

    def test_one_odd_evaluation_takes_nothing_away(self):
        loss = [2.0 * 0.96**row for row in range(33)]
        for last, outcome in ((0.95, "kept"), (1.7, "overfits")):
            val = [*[1.9 - 0.03 * row for row in range(31)], 2.0, last]
            assert gap(loss=loss, val_loss=val).outcome == outcome

    def test_where_answers_are_counted_training_may_be_augmented(self):
        loss = [max(1.0, 6.0 - row / 20) for row in range(300)]
        val = [None if row % 50 else loss[row] - 0.5 * min(1, row / 100) for row in range(300)]
        accuracy = [None if one is None else 1 - one / 8 for one in val]
        assert gap(loss=loss, val_loss=val).outcome == "leaks"
        assert gap(loss=loss, val_loss=val, val_accuracy=accuracy).outcome == "eased"
        assert gap(loss=loss, val_loss=val, **{"metrics/recall(B)": accuracy}).outcome == "eased"
        for wrong in ("test_class_error", "err_rate", "top1_error", "ClassificationError", "test_err"):
            assert gap(loss=loss, val_loss=val, **{wrong: accuracy}).outcome == "eased"
        for other in ("classes", "error", "word_error_rate", "error_rate_limit"):
            assert gap(loss=loss, val_loss=val, **{other: accuracy}).outcome == "leaks"
        below = [None if row % 50 else loss[row] - 0.5 for row in range(300)]
        assert gap(loss=loss, val_loss=below, val_accuracy=accuracy).outcome == "below"

    @pytest.mark.parametrize(("half", "outcome"), [(0.79, "below"), (0.3, "leaks")])
    def test_an_untrained_model_costs_the_same_however_its_loss_is_computed(self, half: float, outcome: str):
        loss = [max(5.0, 10.5 - row / 20) for row in range(200)]
        val: list[float | None] = [None] * 200
        val[0], val[80], val[160] = 10.5, loss[80] - half, loss[160] - 0.8
        assert gap(loss=loss, val_loss=val).outcome == outcome

    def test_a_leak_lasts(self):
        assert self.found(-0.5, rows=800).outcome == "leaks"
        assert self.found(-0.5, rows=800, later=0.1).outcome == "tracks"

    def test_a_running_average_lies_above_by_itself(self):
        loss = [max(1.0, 6.0 - row / 20) for row in range(300)]
        val = [None if row % 50 else loss[row] - min(0.5, row / 200) for row in range(300)]
        run = make_run({"loss": loss, "val_loss": val})
        given = numbers("validation_gap", "phase-18")
        assert apply("validation_gap", run, given).outcome == "leaks"
        averaged = replace(run, aggregations={"loss": Aggregation("running")})
        assert apply("validation_gap", averaged, given).outcome == "tracks"

    def test_a_gap_within_the_noise(self):
        assert self.found(1.5, noise=1.0).outcome != "overfits"

    def test_only_up_to_step_500(self):
        assert self.found(0.2, rows=1000, later=3.0).outcome == "tracks"

    def test_validation_that_comes_down_later_is_only_behind(self):
        found = self.found(2.0, rows=1000, later=0.2)
        assert (found.outcome, found.facts["lowest"], found.facts["lowest_step"]) == ("ahead", 1.2, 950)
        assert self.found(2.0, rows=1000, later=1.9).outcome == "overfits"  # a twentieth above 2.6

    @pytest.mark.parametrize(("until", "outcome"), [(8.0, "climbs"), (1.0, "overfits")])
    def test_training_that_climbs_too_learns_nothing_by_heart(self, until: float, outcome: str):
        loss = [0.5] * 100 + [0.5 + (until - 0.5) * row / 200 for row in range(200)]
        val = [None if row % 50 else (2.0, 2.0, 2.0, 7.0, 12.0, 19.0)[row // 50] for row in range(300)]
        found = gap(loss=loss, val_loss=val)
        assert found.outcome == outcome
        assert (found.facts.get("trained_step") is not None) == (outcome == "climbs")

    def test_a_loss_without_a_floor(self):
        """Twice as far below 0 as training, as where a cross-entropy is given labels beyond 0 and 1."""
        loss = [1.0 - float(row) ** 2 for row in range(300)]
        assert gap(loss=loss, val_loss=[2 * value for value in loss]).outcome == NO_DATA

    def test_too_few_evaluations(self):
        found = self.found(0.0, rows=60)
        assert (found.outcome, found.facts) == (NOT_YET, {"rows": 1, "needed": 2})

    def test_no_training_loss(self):
        assert gap(val_loss=[1.0] * 9).facts == {"missing": ["loss"]}

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_a_training_loss_that_is_never_finite(self, bad: float):
        assert gap(loss=[bad] * 9, val_loss=[1.0] * 9).outcome == NOT_YET

    def test_evaluation_that_is_not_finite(self):
        assert gap(loss=[1.0] * 9, val_loss=[math.nan] * 9).outcome == NOT_YET


class TestTheTrainingLossAtAnEvaluation:
    def test_as_many_rows_on_either_side(self):
        """A straight fall has its own value as the median around each row; the tail has two rows after."""
        loss = falling(103, top=6.0, to=1.0)
        found = gap(loss=loss, val_loss=[None if row % 50 else loss[row] for row in range(103)])
        assert (found.step, found.facts["around"]) == (100, 5)
        assert found.facts["train"] == pytest.approx(loss[100])

    def test_no_row_nearer_to_another_evaluation(self):
        """Every second row is evaluated, so only the two beside one are as near to it as to another."""
        loss = [8.0 * 0.8**row for row in range(20)]
        found = gap(loss=loss, val_loss=[None if row % 2 else loss[row] for row in range(20)])
        assert (found.outcome, found.facts["around"], found.facts["train"]) == ("tracks", 3, loss[18])

    def test_the_mean_of_an_epoch_was_made_half_an_epoch_before(self):
        """The loss falls through 5, 4, 3 ... at the ends of epochs, and validation is the same."""
        at_ends = [5.0, 4.2, 3.3, 2.4, 1.75, 1.35, 1.15]
        means = [(before + after) / 2 for before, after in pairwise(at_ends)]
        found = gap(loss=means, val_loss=at_ends[1:])
        assert (found.outcome, found.facts["gap"]) == ("tracks", pytest.approx(-0.05))

    def test_a_healthy_log_of_epochs(self):
        found = gap(loss=[5, 4, 3, 2, 1.5, 1.2], val_loss=[4.6, 3.7, 2.8, 1.95, 1.45, 1.2])
        assert found.outcome == "tracks"

    def test_the_last_evaluation_has_no_row_after_it(self):
        assert gap(loss=[4.0, 2.0, 1.0, 0.5], val_loss=[4.0, 2.0, 1.0, 0.5]).step == 2

    def test_one_row_of_training_tells_nothing(self):
        val: Logged = [1.6, 1.5, 1.4, 1.3]
        assert gap(loss=[None, None, 5.0, None], val_loss=val).outcome == NOT_YET

    def test_evaluations_in_rows_of_their_own(self):
        """Training is logged at every tenth step from 9 on, evaluation half-way between two such rows."""
        steps = sorted({*range(9, 300, 10), *range(54, 300, 50)})
        loss: Logged = [6.0 - step / 60 if step % 10 == 9 else None for step in steps]
        val: Logged = [6.0 - step / 60 if step % 50 == 4 else None for step in steps]
        found = gap(step=steps, loss=loss, val_loss=val)
        assert (found.step, found.outcome) == (254, "tracks")
        assert found.facts["gap"] == pytest.approx(0, abs=1e-9)


class TestBelowTraining:
    """What lies below from the beginning is made otherwise; a leak has to be learned first."""

    LOSS = falling(10, top=6.0, to=1.5)

    def test_another_reduction(self):
        found = gap(loss=[2 * loss for loss in self.LOSS], val_loss=self.LOSS)
        assert (found.outcome, found.facts["earlier_step"]) == ("below", 4)
        assert found.facts["earlier"] < found.facts["gap"] < found.facts["leak"]

    def test_a_penalty_that_only_training_has(self):
        assert gap(loss=[loss + 1 for loss in self.LOSS], val_loss=self.LOSS).outcome == "below"

    def test_dropout_from_the_first_epoch_on(self):
        """Made up like a small net with dropout: a third of a nat from the first epoch to the last."""
        loss = [2.6, 2.1, 1.8, 1.7, 1.65, 1.63]
        assert gap(loss=loss, val_loss=[1.75, 1.55, 1.4, 1.33, 1.29, 1.28]).outcome == "below"

    def test_nothing_was_learned(self):
        rng = random.Random(1)
        loss = [rng.gauss(900, 20) for _ in range(30)]
        val: Logged = [None if row % 5 else 700.0 for row in range(30)]
        assert gap(loss=loss, val_loss=val).outcome == "below"

    @pytest.mark.parametrize("every", [1, 5, 10])
    def test_a_leak_in_a_thinned_log(self, every: int):
        loss = [1.0 + 5 * math.exp(-step / 60) for step in range(400)]
        val = [value - 0.8 * (1 - math.exp(-step / 60)) for step, value in enumerate(loss)]
        steps = [step for step in range(400) if step % every == 0]
        evaluated: Logged = [None if step % 50 else val[step] for step in steps]
        for digits in (9, 2):
            rounded = [round(loss[step], digits) for step in steps]
            assert gap(step=steps, loss=rounded, val_loss=evaluated).outcome == "leaks"


class TestBesideTheTrainingLoss:
    """Question 1.1 asks of both: a broken evaluation is named whatever the walk ends with."""

    def found(self, **columns: list) -> Finding:
        return apply("non_finite", make_run(columns), numbers("non_finite"))

    def test_only_in_evaluation(self):
        val: Logged = [None, 2.0, None, math.nan, None]
        found = self.found(loss=[1.0] * 5, val_loss=val)
        assert (found.outcome, found.facts) == ("evaluation", {"step": 3, "count": 1, "rows": 2})

    @pytest.mark.parametrize(
        ("loss", "reward", "outcome"),
        [
            ([math.nan, *[1.0] * 5], False, "before"),  # a row before the first update
            ([math.nan, *[1.0] * 4], False, "yes"),  # too few to tell that it did no harm
            ([math.inf, *[1.0] * 5], False, "yes"),
            ([math.nan, math.nan, *[1.0] * 5], False, "yes"),
            ([math.nan, math.nan, *[1.0] * 8], True, "before"),  # nothing gathered yet to train on
            ([math.nan] * 5 + [1.0] * 8, True, "yes"),
            ([math.nan, *[1.0] * 4, *[0.0] * 4], False, "yes"),  # NaN again, perhaps
            ([math.nan, *[1.0] * 5, math.nan], True, "yes"),
        ],
    )
    def test_before_the_first_update(self, loss: list[float], reward: bool, outcome: str):
        columns = {"loss": loss} | ({"ep_rew_mean": [*range(len(loss))]} if reward else {})
        assert self.found(**columns).outcome == outcome

    def test_training_comes_first(self):
        found = self.found(loss=[1.0, 2.0, math.nan], val_loss=[math.nan] * 3)
        assert (found.outcome, found.step) == ("yes", 2)

    def test_a_few_are_no_certainty(self):
        assert self.found(loss=[1.0] * 4, val_loss=[1.0, math.inf, 1.0, 1.0]).outcome == "no"

    def test_where_training_hides_its_own(self):
        stops = self.found(loss=[1.0] * 20 + [None] * 10, val_loss=[None] * 29 + [math.nan])
        assert (stops.outcome, stops.step) == ("evaluation", 29)

    def test_no_training_loss(self):
        assert self.found(val_loss=[math.nan]).outcome == NO_DATA


class TestHidden:
    """Exactly 0 to the end, of a trainer that writes 0 for NaN."""

    def found(self, loss: Logged, **columns: list) -> Finding:
        run = make_run({"loss": list(loss), **columns})
        hiding = replace(run, aggregations={"loss": Aggregation("window", shows_nan=False)})
        return apply("non_finite", hiding, numbers("non_finite"))

    def test_zeros_to_the_end(self):
        found = self.found([122.1, *[0.0] * 9, None])
        assert (found.outcome, found.facts) == ("hidden", {"step": 1, "count": 9, "rows": 10})
        assert self.found([0.0] * 10).outcome == "hidden"
        assert self.found([*[3.0 - row / 40 for row in range(50)], *[0.0] * 6]).outcome == "hidden"

    def test_a_single_zero_after_a_row_that_towers(self):
        calm = [1.26, 1.29, 1.27, 1.28, 1.31, 1.3, 1.32]
        assert self.found([*calm, 34023.8, 0.0]).outcome == "hidden"
        assert self.found([*calm, 1.5, 0.0]).outcome != "hidden"
        assert self.found([34023.8, 0.0]).outcome != "hidden"

    def test_where_evaluation_is_nan_a_loss_that_was_never_anything_else_is_too(self):
        evaluated = [math.nan, None, math.nan]
        assert self.found([None, 0.0, None], val_loss=evaluated).outcome == "hidden"
        assert self.found([0.3, 0.3, 0.0], val_loss=evaluated).outcome == "evaluation"
        assert self.found([0.3, 0.0, None], val_loss=[0.4, math.nan, math.nan]).outcome == "hidden"
        assert self.found([0.3, 0.0, None], val_loss=[0.4, math.nan, 0.4]).outcome != "hidden"

    @pytest.mark.parametrize(
        "loss",
        [
            [3.0, 2.0, 1.0, *[0.0] * 4],  # too few
            [*[3.0] * 12, *[0.0] * 11],  # in less than half of the rows
            [*[3.0 - row / 40 for row in range(60)], *[0.0] * 6],  # in one row, for less than a tenth
            [3.0, *[0.0] * 12, 2.9],  # not to the end
            [3.0, 1.0, 0.02, 0.0003, 0.0001, *[0.0] * 12],  # learned by heart, and rounded
        ],
    )
    def test_other_zeros(self, loss: list[float]):
        assert self.found(loss).outcome == NO_DATA

    def test_a_reward_explains_them(self):
        assert self.found([0.1, *[0.0] * 12], reward=[0.5] * 13).outcome == NO_DATA

    def test_one_that_shows_nan_means_its_zeros(self):
        run = make_run({"loss": [122.1, *[0.0] * 9]})
        assert apply("non_finite", run, numbers("non_finite")).outcome == "no"
