"""Whether a run learned, on small arrays with known answers: short, stuck, guessing, below 0."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import make_run, numbers
from tests.detectors.test_course import falling, judged
from tutor.detectors import NO_DATA, NOT_YET, Finding, apply
from tutor.run import Aggregation, Counts


class TestByChance:
    """Three evaluations that cost what guessing costs, and are right as often: nothing else is needed."""

    VAL, ACC = (1.6110, 1.6114, 1.6082), (0.195, 0.17, 0.215)

    def test_without_a_training_loss(self):
        found = judged("learned", val_loss=self.VAL, eval_accuracy=self.ACC)
        assert (found.outcome, found.facts["classes"], found.facts["score"]) == (
            "by-chance",
            5,
            "eval_accuracy",
        )
        assert (found.facts["lowest"], found.facts["highest"], found.facts["level"]) == (0.17, 0.215, 1.6110)

    @pytest.mark.parametrize(
        ("trained", "outcome"),
        [([0.7, 0.698, 0.697, 0.699, 0.696], "by-chance"), ([0.7, 0.6, 0.5, 0.4, 0.3], NOT_YET)],
    )
    def test_validation_may_cost_more_where_training_costs_as_much(self, trained: list[float], outcome: str):
        val, right = [0.703, 0.781, 0.721, 0.708, 0.713], [0.4975, 0.4863, 0.4878, 0.4938, 0.4907]
        assert judged("learned", loss=trained, val_loss=val, val_acc=right).outcome == outcome

    MANY = (4.138, 4.14, 4.109, 4.12, 4.094, 4.08, 4.102, 4.09, 4.101, 4.084, 4.088, 4.085, 4.081)
    FEW_RIGHT = (
        0.015,
        0.0125,
        0.015,
        0.005,
        0.025,
        0.0225,
        0.0075,
        0.0175,
        0.01,
        0.0225,
        0.01,
        0.015,
        0.0275,
    )

    @pytest.mark.parametrize(
        ("right", "rows", "outcome"),
        [(1.0, 13, "by-chance"), (3.0, 13, "yes"), (1.0, 9, NOT_YET)],  # three times as many; few
    )
    def test_among_many_classes_evaluations_of_few_right_answers(self, right: float, rows: int, outcome: str):
        trained = (4.214, 4.132, 4.122, 4.118, 4.115, 4.104, 4.079, 4.091, 4.089, 4.077, 4.064, 4.066, 4.064)
        answers = [right * one for one in self.FEW_RIGHT[:rows]]
        found = judged("learned", loss=trained[:rows], val_loss=self.MANY[:rows], val_accuracy=answers)
        assert found.outcome == outcome
        assert outcome != "by-chance" or found.facts["classes"] == 60

    def test_percents_are_shares(self):
        percents = [100 * one for one in self.ACC]
        found = judged("learned", val_loss=self.VAL, val_acc=percents)
        assert found.outcome == "by-chance"
        assert found.curve
        assert found.curve.values.to_list() == pytest.approx(self.ACC)

    def test_beside_a_noisy_training_loss(self):
        columns = {
            "val_loss": (0.7105, None, 0.7007, None, 0.6953),
            "val_acc": (0.501, None, 0.507, None, 0.512),
        }
        assert judged("learned", loss=(0.736, 0.741, 0.703, 0.713, 0.651), **columns).outcome == "by-chance"
        assert judged("learned", loss=(0.7, 0.6, 0.5, 0.4, 0.3), **columns).outcome == "yes"

    def test_training_that_never_pays_less_than_a_guess_and_stays_there(self):
        columns = {
            "val_loss": (0.7317, 0.727, 0.7281, 0.7305, 0.7312, 0.7318),
            "val_acc": (0.527, 0.477, 0.502, 0.51, 0.488, 0.523),
        }
        stays = (0.7234, 0.722, 0.7194, 0.7186, 0.714, 0.7129)
        falls = (2.5, 1.6, 1.2, 0.95, 0.8, 0.7129)  # it is on its way
        assert judged("learned", loss=stays, **columns).outcome == "by-chance"
        assert judged("learned", loss=falls, **columns).outcome != "by-chance"

    def test_what_costs_nearly_a_guess_among_three_is_none_among_two(self):
        """The commonest of three classes, of 54 in 100, is right more often than one in two."""
        columns = {
            "val_loss": (0.925, 0.9216, 0.9186, 0.9223, 0.9213, 0.9218),
            "val_acc": (0.540, 0.5405, 0.546, 0.5397, 0.5388, 0.5397),
        }
        stays = (1.0, 0.9987, 0.9972, 0.9983, 0.9977, 0.9957)
        assert judged("learned", loss=stays, **columns).outcome != "by-chance"

    def test_many_evaluations_at_chance_beside_training_that_never_pays_less(self):
        """Of 28 the lowest is a lucky one, and training came down, and never to what a guess costs."""
        rng = random.Random(3)
        val = [0.689, *[0.72 + 0.3 * rng.random() for _ in range(27)]]
        right = [rng.uniform(0.46, 0.54) for _ in range(28)]
        loss = [1.37 * 0.98**row + 0.02 * rng.random() for row in range(28)]
        assert judged("learned", loss=loss, val_loss=val, val_acc=right).outcome == "by-chance"
        below = [one - 0.3 for one in loss]
        assert judged("learned", loss=below, val_loss=val, val_acc=right).outcome != "by-chance"

    def test_many_evaluations_a_little_under_a_guess_whose_answers_do_not_improve(self):
        """Training learns a little of its own data by heart, after a wild first epoch."""
        loss = [3.52, *[0.69 - 0.0013 * row for row in range(19)]]
        val = [0.686, 0.68, *[0.69, 0.697, 0.689] * 6]
        right = [0.55, 0.549, *[0.5, 0.547, 0.556, 0.528, 0.578, 0.516] * 3]
        assert judged("learned", loss=loss, val_loss=val, val_acc=right).outcome == "by-chance"
        better = [0.5 + 0.008 * row for row in range(20)]
        assert judged("learned", loss=loss, val_loss=val, val_acc=better).outcome != "by-chance"

    @pytest.mark.parametrize(
        ("val_loss", "val_acc", "told"),
        [
            ([2.31 + 0.02 * row for row in range(12)], 12 * [0.12], True),
            ([2.31 + 0.02 * row for row in range(12)], [0.1 + 0.002 * row for row in range(12)], True),
            ([1.7, *(2.31 + 0.02 * row for row in range(11))], 12 * [0.12], False),  # one cost less
            ([2.31 + 0.02 * row for row in range(12)], 12 * [0.2], False),  # right twice as often
            ([2.45 + 0.02 * row for row in range(12)], 12 * [0.12], False),  # among eleven, or more
            ([2.31 + 0.02 * row for row in range(9)], 9 * [0.12], False),  # few
        ],
    )
    def test_training_may_learn_by_heart_what_never_held(
        self, val_loss: list[float], val_acc: list[float], told: bool
    ):
        """As labels do that were shuffled: a turn of the validation loss comes from no better place."""
        loss = [2.3 - 0.05 * row for row in range(len(val_loss))]
        found = judged("learned", loss=loss, val_loss=val_loss, val_acc=val_acc)
        assert (found.outcome == "by-heart") == told
        assert not told or found.facts["classes"] == 10

    @pytest.mark.parametrize(
        ("accuracy", "val_accuracy", "told"),
        [
            (5 * [0.7304] + 5 * [0.7429], [0.5625] + 9 * [0.5], True),
            (5 * [0.7304] + 5 * [0.7429], 5 * [0.5] + 4 * [0.51] + [0.5], False),  # one moves
            ([0.7429] * 9 + [0.743], 10 * [0.5], False),
            (10 * [0.75], [0.5625] + 9 * [0.5], False),  # few digits
            (5 * [0.93] + 5 * [0.9429], 10 * [0.9], False),  # well deserved
        ],
    )
    def test_two_accuracies_that_stay_to_the_digit_say_so_whatever_the_loss_does(
        self, accuracy: list[float], val_accuracy: list[float], told: bool
    ):
        loss = [0.83 - 0.03 * row for row in range(10)]
        val_loss = [0.86, 0.83, 0.76, 0.91, 0.76, 0.67, 0.83, 0.96, 0.95, 0.78]
        columns = {"accuracy": accuracy, "val_accuracy": val_accuracy}
        assert (judged("learned", loss=loss, val_loss=val_loss, **columns).outcome == "scores-stay") == told

    @pytest.mark.parametrize(
        ("accuracy", "told"),
        [
            (10 * [0.763], True),
            (10 * [76.3], True),
            (9 * [0.763], False),  # few
            ([0.763] * 9 + [0.764], False),
            (10 * [0.75], False),  # few digits
            (10 * [0.934], False),  # well deserved
            (10 * [0.000252], False),  # hardly a score
            (5 * [0.4343], True),
            (5 * [0.434], False),  # few rows, and few digits
        ],
    )
    def test_so_does_one_of_many_rows(self, accuracy: list[float], told: bool):
        """fastai's is of held-out data, and doesn't say so."""
        loss = [0.17, 0.137, 0.135, 0.13, 0.126, 0.124, 0.122, 0.12, 0.1175, 0.1158]
        found = judged("learned", loss=loss[-len(accuracy) :], accuracy=accuracy)
        assert (found.outcome == "score-stands") == told

    def test_the_likeliest_number_of_classes_is_named(self):
        """A tenth is near to one in eight and to one in nine, too."""
        found = judged("learned", loss=3 * (2.34, 2.33), val_loss=3 * (2.304, 2.303), val_acc=6 * (0.1,))
        assert (found.outcome, found.facts["classes"]) == ("by-chance", 10)

    @pytest.mark.parametrize(
        ("val_loss", "scores"),
        [
            (VAL[:2], ACC[:2]),  # too few
            (VAL, (0.195, 0.17, 0.26)),  # right more often
            ((1.6110, 1.6114, 1.59), ACC),  # costs less
            ((1.6110, 1.6114, 1.67), ACC),  # surer than that: it overfits, perhaps
            (VAL, (math.nan, None, math.nan)),
        ],
    )
    def test_else_they_do_not_tell(self, val_loss: Sequence[float], scores: Sequence[float | None]):
        assert judged("learned", val_loss=val_loss, val_acc=scores).outcome == NO_DATA

    def test_exactly_one_class_of_so_many_right_may_cost_more(self):
        columns = {"val_loss": (3.9, 2.2, 1.8, 1.66, 1.68), "val_acc": 5 * (0.2,)}
        assert judged("learned", loss=(2.0, 1.85, 1.8, 1.78, 1.76), **columns).outcome == "by-chance"
        below = judged("learned", loss=(2.0, 1.8, 1.6, 1.5, 1.4), **columns)
        assert below.outcome != "by-chance"  # it learns its training data by heart
        moves = {**columns, "val_acc": (0.2, 0.2, 0.201, 0.2, 0.2)}
        assert judged("learned", loss=(2.0, 1.85, 1.8, 1.78, 1.76), **moves).outcome != "by-chance"

    @pytest.mark.parametrize("name", ["train_acc", "best_val_acc", "val_f1"])
    def test_only_the_accuracy_of_validation_counts(self, name: str):
        assert judged("learned", val_loss=self.VAL, **{name: self.ACC}).outcome == NO_DATA


class TestBothStill:
    """Few rows tell where two losses are one number each."""

    @pytest.mark.parametrize(
        ("loss", "val_loss", "outcome"),
        [
            ((1.0887, 1.0688, 1.0688, 1.0688), 4 * (1.0708,), "both-still"),
            ((1.0887, 1.0688, 1.0688), 3 * (1.0708,), NOT_YET),  # twice
            ((1.0887, 1.0688, 1.0688, 1.0689), 4 * (1.0708,), NOT_YET),  # one of them moves
            ((1.0887, 1.0688, 1.0688, 1.0688), (1.08, 1.07, 1.0708, 1.0709), NOT_YET),
            ((1.09, 1.07, 1.07, 1.07), 4 * (1.07,), NOT_YET),  # as many digits are a matter of rounding
            ((1.2, 1.0688, 1.0688, 1.0688), 4 * (1.0708,), NOT_YET),  # it had learned before
            ((math.nan, None, 1.0688, 1.0688), 4 * (1.0708,), NOT_YET),
        ],
    )
    def test_few_rows(self, loss: Sequence[float], val_loss: Sequence[float], outcome: str):
        found = judged("learned", loss=loss, val_loss=val_loss)
        assert found.outcome == outcome
        if outcome == "both-still":
            assert (found.facts["count"], found.facts["value"], found.facts["held_out"]) == (
                3,
                1.0688,
                1.0708,
            )

    def test_of_a_policy_that_a_reward_judges_it_says_nothing(self):
        columns = {"loss": (1.0887, 1.0688, 1.0688, 1.0688), "val_loss": 4 * (1.0708,)}
        rewarded = judged("learned", **columns, ep_rew_mean=(1.0, 5.0, 9.0, 14.0))
        assert (judged("learned", **columns).outcome, rewarded.outcome) == ("both-still", "earns")


class TestStuck:
    """The same number, to four digits or more, for five rows that fill half of the log."""

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_few_rows_are_enough_whatever_the_sign(self, sign: int):
        found = judged("learned", loss=[sign * 31.41, *[sign * 31.42] * 5])
        assert (found.outcome, found.facts["rows"]) == ("no", 6)

    def test_five_rows_that_differ_by_less_than_a_ten_thousandth(self):
        assert judged("learned", loss=[0.487434, 0.4874341, 0.487434, 0.4874342, 0.487434]).outcome == "no"
        assert judged("learned", loss=[0.487434, 0.4874341, 0.487434, 0.4874342]).outcome == NOT_YET
        assert judged("learned", loss=[0.4874, 0.4875, 0.4874, 0.4873, 0.4874]).outcome == NOT_YET

    @pytest.mark.parametrize(("every", "outcome"), [(50, "no"), (1, NOT_YET)])
    def test_nine_rows_of_hundreds_of_updates_that_differ_by_less_than_a_thousandth(
        self, every: int, outcome: str
    ):
        loss = [4.6612, 4.6605, 4.6629, 4.6606, 4.6605, 4.6605, 4.6604, 4.6604, 4.6604]
        steps = [every * row for row in range(len(loss))]
        assert judged("learned", step=steps, loss=loss).outcome == outcome

    def test_a_score_that_hardly_rises_hides_nothing(self):
        loss = [0.9539 - 2e-5 * row for row in range(100)]
        for to, outcome in ((0.4606, "no"), (0.5606, NO_DATA)):
            right = [0.4579 + (to - 0.4579) * row / 99 for row in range(100)]
            assert judged("learned", loss=loss, acc=right).outcome == outcome

    def test_five_means_that_differ_by_less_than_a_thousandth(self):
        epochs = [0.49105, 0.49101, 0.49103, 0.49115, 0.49092]
        further = [0.4918, *epochs[1:]]
        run = make_run({"loss": epochs})
        numbers_of = numbers("learned")
        assert apply("learned", run, numbers_of).outcome == NOT_YET  # of single steps
        assert apply("learned", replace(run, counts="epochs"), numbers_of).outcome == "no"
        window = {"loss": Aggregation("window")}
        assert apply("learned", replace(run, aggregations=window), numbers_of).outcome == "no"
        assert (
            apply("learned", replace(make_run({"loss": further}), counts="epochs"), numbers_of).outcome
            == NOT_YET
        )

    def test_one_number_at_every_evaluation(self):
        loss = [0.9545, 0.9512, 0.9512, 0.9487, 0.9512, 0.9487]
        assert judged("learned", loss=loss, val_loss=[0.901449] * 6).outcome == "no"
        assert judged("learned", loss=loss, val_loss=[0.901448, *[0.901449] * 5]).outcome == NOT_YET
        assert judged("learned", loss=falling(6), val_loss=[0.901449] * 6).outcome == "yes"

    def test_a_log_that_begins_late_shows_it_too(self):
        assert judged("learned", step=range(278, 285), loss=[14.51] * 7).outcome == "no"
        assert judged("learned", step=range(278, 290), loss=[14.51, 14.52] * 6).outcome == NO_DATA

    @pytest.mark.parametrize(
        "loss",
        [
            [31.41, *[31.42] * 4],  # too few
            [3.1, *[3.2] * 6],  # rounded: two batches may well agree to two digits
            [31.41, 31.42, 31.43, 31.44, 31.45, 31.46],
            [*[31.42] * 6, 31.41],  # it moves at the end
            [math.nan] * 8,
        ],
    )
    def test_else_so_short_a_log_tells_nothing(self, loss: list[float]):
        assert judged("learned", loss=loss).outcome == NOT_YET

    def test_gaps_and_nan_between(self):
        assert judged("learned", loss=[31.41, *[31.42, None, math.nan] * 5]).outcome == "no"


class TestOneAnswer:
    LOSS = [0.05 * 0.9**row for row in range(30)]

    def counted(self, tn: int, fn: int, every: int = 1) -> Finding:
        rows = {"TP": [80.0] * 30, "FP": [54.0] * 30, "FN": [float(fn)] * 30, "TN": [float(tn)] * 30}
        rows["TN"] = [rows["TN"][row] if row % every else 0.0 for row in range(30)]
        return judged("learned", loss=self.LOSS, **rows)

    def test_all_inputs_are_called_positive(self):
        one = self.counted(0, 0)
        assert one.outcome == "one-answer"
        assert (one.facts["positive"], one.facts["negative"], one.facts["scored"]) == (134, 0, 15)

    def test_else_not(self):
        assert self.counted(2, 1).outcome == "yes"
        assert self.counted(2, 0, every=2).outcome == "yes"  # at half of the rows alone
        often = {"TP": [80.0] * 30, "FP": [54.0] * 29 + [50.0], "FN": [0.0] * 30, "TN": [0.0] * 29 + [4.0]}
        assert judged("learned", loss=self.LOSS, **often).outcome == "yes"  # the last row tells them apart
        fewer = {
            "TP": [50.0] * 30,
            "FP": [30.0 - row for row in range(30)],
            "FN": [0.0] * 30,
            "TN": [0.0] * 30,
        }
        assert judged("learned", loss=self.LOSS, **fewer).outcome == "yes"  # no set of inputs that stays
        alone = {"TP": [9.0] * 30, **dict.fromkeys(("FP", "FN", "TN"), [0.0] * 30)}
        assert judged("learned", loss=self.LOSS, **alone).outcome == "yes"


def test_validation_that_ends_at_its_lowest_shows_what_a_trained_model_gains():
    loss = [0.5245 + 0.01 * 0.9**row for row in range(80)]
    for last, outcome in (([0.613, 0.608], NO_DATA), ([0.608, 0.613], "no")):
        known = [0.623, 0.616, 0.62, *last]
        spread = [None if row % 16 else known[row // 16] for row in range(80)]
        assert judged("learned", loss=loss, val_loss=spread).outcome == outcome


class TestRepeats:
    """Losses that come again to the last digit, epoch by epoch: the weights stay what they are."""

    EPOCH = (0.9741, 1.3742, 1.239, 0.967, 1.0386, 1.1681, 1.224, 0.961)

    def test_every_loss_of_an_epoch_comes_again(self):
        found = judged("learned", loss=[*self.EPOCH, *self.EPOCH[:6]])
        assert (found.outcome, found.facts["period"], found.facts["again"]) == ("repeats", 8, 6)

    @pytest.mark.parametrize(
        "loss",
        [
            [*EPOCH, *EPOCH[:4]],  # too few
            [*EPOCH, *EPOCH[:5], 1.1682],  # one moved by a digit
            [*(round(one, 1) for one in EPOCH), *(round(one, 1) for one in EPOCH)],  # rounded
            [2.5, *EPOCH, *EPOCH],  # as at a learning rate of 0 in the end
        ],
    )
    def test_what_does_not_is_no_repetition(self, loss: list[float]):
        assert judged("learned", loss=loss).outcome != "repeats"

    def test_one_odd_loss_among_many_that_come_again_takes_no_time_to_find(self):
        loss = [*self.EPOCH] * 10_000  # to try each epoch's end in turn would take hours
        assert judged("learned", loss=loss).facts["period"] == 8
        loss[-6] = 1.1682
        assert judged("learned", loss=loss).outcome != "repeats"

    def epochs(self, factor: float, count: int = 20) -> list[float]:
        """The mean over four batches falls so from one epoch to the next; the last one's loss is lowest."""
        return [one * factor**epoch for epoch in range(count) for one in (2.89, 2.88, 2.55, 2.11)]

    def test_the_same_batches_again_that_hardly_moved_are_compared_by_the_epoch(self):
        found = judged("learned", loss=self.epochs(0.99999))
        assert (found.outcome, found.facts["top"]) == ("no", pytest.approx(2.6075, rel=1e-4))
        assert found.facts["gain"] == pytest.approx(0.019, abs=0.001)

    @pytest.mark.parametrize("factor", [0.998, 0.99])
    def test_so_they_are_where_they_learn(self, factor: float):
        assert judged("learned", loss=self.epochs(factor)).outcome == "yes"


class TestFlatNoise:
    """A whole run whose loss stays where it was has never learned, and isn't taken for one that did."""

    def outcomes(self, rows: int, spread: float) -> list[str]:
        rng = random.Random(rows)
        runs = [[rng.gauss(4.0, 4.0 * spread) for _ in range(rows)] for _ in range(20)]
        return [judged("learned", loss=run).outcome for run in runs]

    @pytest.mark.parametrize(("rows", "spread"), [(300, 0.01), (300, 0.05), (1000, 0.05)])
    def test_it_never_learned(self, rows: int, spread: float):
        assert self.outcomes(rows, spread) == ["no"] * 20

    @pytest.mark.parametrize(("rows", "spread", "most"), [(100, 0.03, 11), (200, 0.03, 6)])
    def test_an_early_gain_that_noise_may_hide_is_seldom_called_none(
        self, rows: int, spread: float, most: int
    ):
        """Five per cent over the first third: half of the logs were called flat."""
        rng = random.Random(rows)
        levels = [4.0 * (1 - 0.05 * min(1, 3 * row / rows)) for row in range(rows)]
        runs = [[level * rng.gauss(1.0, spread) for level in levels] for _ in range(20)]
        assert [judged("learned", loss=run).outcome for run in runs].count("no") <= most

    def test_of_short_ones_half_are_told(self):
        assert self.outcomes(50, 0.03).count("no") >= 8

    @pytest.mark.parametrize(("rows", "spread"), [(14, 0.2), (40, 0.2), (300, 0.2), (1000, 0.2)])
    def test_of_noise_that_hides_a_gain_hardly_anybody_knows(self, rows: int, spread: float):
        assert self.outcomes(rows, spread).count("no") <= 3
        assert self.outcomes(rows, spread).count("yes") <= 1

    def test_no_row_lower_than_the_first_of_twenty(self):
        """Noise of 13 %, as of the last batch of every fifty."""
        loss = [2.35, *[2.6, 3.4, 2.9, 2.5, 3.3, 2.7, 3.2, 3.0, 2.8] * 3]
        assert judged("learned", loss=loss).outcome == "no"
        assert judged("learned", loss=loss[:20]).outcome == "no"
        assert judged("learned", loss=loss[:19]).outcome == NOT_YET
        assert judged("learned", loss=[2.51, *loss[1:]]).outcome == NOT_YET  # one is lower

    def test_a_score_that_rises_says_that_something_is_learned(self):
        flat = [4.0 + (-1) ** row / 50 for row in range(40)]
        rises = [0.5 + row / 100 for row in range(40)]
        assert judged("learned", loss=flat).outcome == "no"
        assert judged("learned", loss=flat, val_acc=rises).outcome == NO_DATA
        assert judged("learned", loss=flat, val_acc=rises[::-1]).outcome == "no"

    def test_so_does_a_rise(self):
        """33 rows that drift up, amid a noise that would hide a gain."""
        rng = random.Random(0)
        loss = [38.0 + 8.0 * row / 33 + rng.gauss(0, 2.5) for row in range(33)]
        assert judged("learned", loss=loss).outcome == "no"
        assert judged("learned", loss=loss[::-1]).outcome != "no"

    def test_a_fall_within_the_noise_shows_in_the_order_of_the_levels(self):
        rng = random.Random(0)
        loss = [4.0 - 0.4 * row / 300 + rng.gauss(0, 0.4) for row in range(300)]
        assert judged("learned", loss=loss).outcome == "yes"


class TestOver:
    """Six rows of a loss that gains one percent."""

    LOSS = (0.686, 0.688, 0.684, 0.678, 0.683, 0.679)

    def found(self, lr: list[float], rows: int = 6) -> str:
        return judged("learned", loss=list(self.LOSS[:rows]), lr=lr[:rows]).outcome

    def test_six_rows_tell_of_a_run_that_is_over(self):
        assert self.found([1e-5, 8e-6, 6e-6, 4e-6, 2e-6, 1e-6]) == "no"
        assert self.found([1e-5, 8e-6, 6e-6, 4e-6, 1e-6], 5) == NOT_YET

    def test_one_that_may_go_on_takes_them_all(self):
        assert self.found([1e-5, 8e-6, 6e-6, 4e-6, 2e-6, 1.1e-6]) == NOT_YET
        assert self.found([1e-6, 2e-6, 4e-6, 6e-6, 8e-6, 1e-5]) == NOT_YET
        assert judged("learned", loss=list(self.LOSS)).outcome == NOT_YET

    def test_nor_of_one_whose_rate_rises_again(self):
        assert self.found([1e-5, 4e-6, 1e-6, 1e-5, 4e-6, 1e-6]) == NOT_YET
        assert self.found([1e-5, 1e-6, 5e-6, 2e-6, 1.5e-6, 1e-6]) == NOT_YET

    @pytest.mark.parametrize(
        ("change", "outcome"),
        [
            ({"loss": [0.69, 0.688, 0.685, 0.683, 0.68, 0.678]}, NOT_YET),  # it falls in order
            ({"val_acc": [0.5, None, 0.55, None, None, 0.6]}, NOT_YET),
            ({"val_acc": [None, None, 0.599, None, None, 0.604]}, "no"),
            ({"rewards/margins": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]}, NOT_YET),
            ({"time/step": [1.0] * 6}, "no"),
        ],
    )
    def test_nor_where_something_else_tells_of_learning(self, change: dict, outcome: str):
        rates = [1e-5, 8e-6, 6e-6, 4e-6, 2e-6, 1e-6]
        assert judged("learned", **({"loss": list(self.LOSS), "lr": rates} | change)).outcome == outcome

    def test_one_that_learned_has_learned(self):
        rates = [1e-5, 8e-6, 6e-6, 4e-6, 2e-6, 0.0]
        assert judged("learned", loss=[0.68, 0.6, 0.52, 0.47, 0.44, 0.43], lr=rates).outcome == "yes"


class TestNoRate:
    def test_a_rate_of_0_at_every_row_is_why(self):
        assert judged("learned", loss=[6.2] * 20, lr=[0.0] * 20).outcome == "no-rate"
        assert judged("learned", loss=[6.2] * 20, lr=[0.0] * 19 + [1e-9]).outcome == NOT_YET  # a warm-up
        assert judged("learned", loss=[6.2] * 20, lr=[1e-4] * 20).outcome == "no"

    @pytest.mark.parametrize(("zeros", "outcome"), [(40, "no-rate"), (36, "no-rate"), (28, "no"), (1, "no")])
    def test_one_of_0_from_early_on_is_why_too(self, zeros: int, outcome: str):
        rates = [1e-4 * (1 - row / 40) for row in range(40 - zeros)] + [0.0] * zeros
        found = judged("learned", loss=[6.2 + 0.01 * (-1) ** row for row in range(40)], lr=rates)
        assert found.outcome == outcome
        assert outcome == "no" or found.facts["zeros"] == zeros

    def test_one_that_fell_to_next_to_nothing_is_why_too(self):
        rates = [5e-2 * 0.1 ** (row // 3) for row in range(72)]
        found = judged("learned", loss=[2.26 + 0.01 * (-1) ** row for row in range(72)], lr=rates)
        assert (found.outcome, found.facts["zeros"]) == ("no-rate", 60)

    @pytest.mark.parametrize(
        ("rows", "top", "outcome"),
        [
            (10, 4.5454e-4, "rate-died"),
            (10, 5e-4, "yes"),  # the log may round it
            (30, 4.5454e-4, "yes"),  # it learned for most of the run
        ],
    )
    def test_a_run_that_learned_until_its_rate_was_0(self, rows: int, top: float, outcome: str):
        """What a schedule leaves that counts fewer steps than the run has."""
        rates = [top * (1 - row / rows) for row in range(rows)] + [0.0] * (60 - rows)
        loss = [*falling(rows, 4.0, 3.2), *[3.2 + 0.01 * (-1) ** row for row in range(60 - rows)]]
        found = judged("learned", loss=loss, lr=rates)
        assert found.outcome == outcome
        assert outcome == "yes" or found.facts["zeros"] == 60 - rows

    def test_a_rate_of_other_weights_or_of_a_plateau_is_no_reason(self):
        rates = [4.5454e-4 * (1 - row / 10) for row in range(10)] + [0.0] * 50
        assert judged("learned", loss=falling(60, 4.0, 1.2), lr=rates).outcome == "yes"
        rates[10:] = [1e-9] * 50
        loss = [*falling(10, 4.0, 3.2), *[3.2, 3.21] * 25]
        assert judged("learned", loss=loss, lr=rates).outcome == "yes"
        assert judged("learned", loss=loss, lr=[3e-307] * 60).outcome == "yes"

    def test_where_the_loss_falls_the_log_rounds_the_rate(self):
        assert judged("learned", loss=falling(20), lr=[0.0] * 20).outcome == "yes"


class TestStillFalling:
    """Fourteen rows of a language model that has just begun: a gain of 1.5 %, faster and faster."""

    def early(self, rows: int = 14) -> list[float]:
        return [10.8 - 0.15 * (i / rows) ** 2 for i in range(rows)]

    @pytest.mark.parametrize("rows", [10, 14, 40])
    def test_a_loss_that_falls_as_fast_as_at_first_may_yet_learn(self, rows: int):
        assert judged("learned", loss=self.early(rows)).outcome == NOT_YET
        assert judged("learned", loss=[round(one, 2) for one in self.early(rows)]).outcome == NOT_YET

    def test_one_that_would_need_ten_such_logs_never_learned(self):
        assert judged("learned", loss=falling(100, 4.0, 3.98)).facts == {"rows": 100, "needed": 700}
        assert judged("learned", loss=falling(100, 4.0, 3.99)).outcome == "no"

    def test_one_that_slows_down_under_the_bound_never_learned(self):
        slowing = [10.8 - 0.1 * (1 - 0.7**i) for i in range(20)]
        assert judged("learned", loss=slowing).outcome == "no"

    def test_a_drift_within_chance_is_none(self):
        loss = [10.8 + 0.001 * (i % 2) - 0.001 * (i % 3) for i in range(40)]
        assert judged("learned", loss=loss).outcome == "no"


class TestNeverBelowTheFirst:
    """Means over epochs with noise that would hide a gain."""

    LOSS = (0.176, *[0.204, 0.1816, 0.2315, 0.1928, 0.2264, 0.1848, 0.2371, 0.1899] * 2)

    def found(self, loss: Sequence[float], counts: Counts = "epochs", **more: Sequence[float]) -> str:
        run = replace(make_run({"loss": list(loss), **more}), counts=counts)
        return apply("learned", run, numbers("learned")).outcome

    def test_no_epoch_ended_below_it(self):
        assert self.found(self.LOSS) == "no"

    def test_most_lie_above_it_in_both_losses(self):
        loss = [*self.LOSS[:9], 0.1755, *self.LOSS[10:]]
        assert self.found(loss, val_loss=[0.9 * one for one in loss]) == "no"
        assert self.found(loss, val_loss=[2.0, *[0.9 * one for one in loss[1:]]]) == NOT_YET
        assert self.found(loss, "steps", val_loss=[0.9 * one for one in loss]) == NOT_YET

    def test_one_that_did_is_enough_of_a_doubt(self):
        assert self.found([*self.LOSS[:9], 0.1755, *self.LOSS[10:]]) == NOT_YET

    def test_few_epochs_or_steps_tell_nothing(self):
        assert self.found(self.LOSS[:14]) == NOT_YET
        assert self.found(self.LOSS, "steps") == NOT_YET


class TestManyEpochs:
    """Means over epochs that differ by a third of themselves."""

    def outcomes(self, rows: int, counts: Counts, fall: float) -> list[str]:
        found = list[str]()
        for seed in range(20):
            rng = random.Random(seed)
            level = [1 - fall * (1 - math.exp(-5 * row / rows)) for row in range(rows)]
            loss = [12 * one * max(0.1, rng.gauss(1, 0.3)) for one in level]
            run = replace(make_run({"loss": [12.0, *loss]}), counts=counts)
            found.append(apply("learned", run, numbers("learned")).outcome)
        return found

    def test_without_a_fall_in_order_they_have_taught_nothing(self):
        assert self.outcomes(100, "epochs", 0.0).count("no") >= 12
        assert self.outcomes(100, "steps", 0.0).count("no") <= 5

    def test_with_one_they_may_have(self):
        assert "no" not in self.outcomes(100, "epochs", 0.6)

    def test_of_few_nothing_is_known(self):
        assert self.outcomes(48, "epochs", 0.0).count("no") <= 5


class TestBeginsLate:
    def test_where_the_loss_came_from_is_not_in_the_log(self):
        steps = [16_000 + 1_000 * i for i in range(12)]
        found = judged("learned", step=steps, loss=[4.25] * 12)
        assert (found.outcome, found.facts) == (NO_DATA, {"missing": ["loss[0]"]})

    @pytest.mark.parametrize("first", [0, 1, 500])
    def test_the_first_row_may_stand_for_the_steps_before_it(self, first: int):
        steps = [first + 500 * i for i in range(12)]
        assert judged("learned", step=steps, loss=[4.25] * 12).outcome == "no"

    def test_a_gain_is_one_wherever_the_log_begins(self):
        assert judged("learned", step=list(range(900, 1000)), loss=falling(100)).outcome == "yes"


class TestGuesses:
    """ln 2 is 0.6931, ln 4 is 1.3863."""

    def stuck_at(self, level: float, rows: int = 40) -> list[float]:
        return [0.8, 0.72, *[level * (1 + 0.0005 * (-1) ** i) for i in range(rows - 2)]]

    def test_it_came_down_to_the_logarithm_of_the_classes(self):
        found = judged("learned", loss=self.stuck_at(math.log(2)))
        assert (found.outcome, found.step, found.facts["classes"]) == ("guesses", None, 2)
        assert (found.facts["level"], found.facts["later"]) == (pytest.approx(math.log(2), rel=1e-3), 20)

    @pytest.mark.parametrize("every", [2, 3])
    def test_thinned_out_or_cut_it_says_the_same(self, every: int):
        loss = self.stuck_at(math.log(2))
        assert judged("learned", loss=loss[::every]).outcome == "guesses"
        assert judged("learned", loss=loss[: len(loss) // every]).outcome == "guesses"
        assert judged("learned", loss=[round(one, 4) for one in loss]).outcome == "guesses"

    @pytest.mark.parametrize("off", [0.99, 0.998, 1.002, 1.01])
    def test_a_level_beside_it_is_another(self, off: float):
        assert judged("learned", loss=self.stuck_at(off * math.log(2))).outcome == "yes"

    def test_on_the_way_down_it_only_passes_by(self):
        assert judged("learned", loss=falling(100, 0.8, 0.6)).outcome == "yes"

    def test_a_validation_loss_below_it_says_that_dropout_lifts_the_training_loss(self):
        loss = self.stuck_at(math.log(2))
        assert judged("learned", loss=loss, val_loss=[0.7, 0.6931] * 20).outcome == "guesses"
        assert judged("learned", loss=loss, val_loss=[0.7, 0.4] * 20).outcome == "yes"

    @pytest.mark.parametrize(
        ("accuracy", "outcome"), [(0.5, "guesses"), (0.58, "guesses"), (0.7, "yes"), (None, "yes")]
    )
    def test_as_many_right_answers_as_guesses_get_say_that_it_lies_near_it(
        self, accuracy: float | None, outcome: str
    ):
        loss = [0.76, *[0.99 * math.log(2) * (1 + 0.003 * (-1) ** row) for row in range(11)]]
        scores = (
            {} if accuracy is None else {"accuracy": [accuracy + 0.01 * (-1) ** row for row in range(12)]}
        )
        assert judged("learned", loss=loss, **scores).outcome == outcome
        lower = [0.76, *[0.95 * math.log(2)] * 11]
        assert judged("learned", loss=lower, **scores).outcome != "guesses"

    def test_a_known_vocabulary_is_the_number_of_classes(self):
        loss = [8.0, 7.0, *self.stuck_at(math.log(512))[2:]]
        assert judged("learned", {"vocab_size": 512}, loss=loss).facts["classes"] == 512
        assert judged("learned", {"vocab_size": 512}, loss=self.stuck_at(math.log(2))).outcome == "yes"

    def test_what_never_came_down_never_learned(self):
        assert judged("learned", loss=[math.log(2)] * 40).outcome == "no"


class TestObjective:
    def test_a_negative_log_likelihood_falls_too(self):
        assert judged("learned", loss=falling(100, 2.0, -3.0)).outcome == "yes"
        assert judged("learned", loss=falling(100, -12.0, -12.1)).outcome == "yes"  # 0 is no floor of it
        assert judged("learned", loss=[-12.0 + (-1) ** row / 9 for row in range(100)]).outcome == "no"

    def test_one_that_keeps_changing_its_sign_is_built_around_0(self):
        loss = [0.1 * (-1) ** i for i in range(100)]
        assert judged("learned", loss=loss).outcome == NO_DATA

    @pytest.mark.parametrize(
        "column", ["rollout/ep_rew_mean", "reward", "train/policy_gradient_loss", "critic"]
    )
    def test_nor_is_one_below_0_beside_a_reward_or_an_opponent(self, column: str):
        columns = {"loss": falling(100, -12.0, -14.0), column: [1.0] * 100}
        assert apply("learned", make_run(columns), numbers("learned")).outcome == NO_DATA

    def test_a_factor_is_no_actor(self):
        columns = {"loss": falling(100, -12.0, -14.0), "factor": [1.0] * 100}
        assert apply("learned", make_run(columns), numbers("learned")).outcome == "yes"


class TestJustAboveGuessing:
    """ln 3 is 1.0986: who is sure of wrong answers pays a little more than guessing."""

    def hovering(self, level: float, top: float = 1.14) -> list[float]:
        rng = random.Random(5)
        return [top, top, *[rng.gauss(level, 0.004) for _ in range(48)]]

    def test_a_run_that_gained_little(self):
        found = judged("learned", loss=self.hovering(1.107))
        assert (found.outcome, found.facts["classes"]) == ("guesses", 3)
        assert found.facts["level"] == pytest.approx(1.107, abs=0.002)

    def test_one_that_gained_more_came_to_rest_there(self):
        assert judged("learned", loss=self.hovering(1.107, top=2.0)).outcome == "stops-early"

    def test_among_more_classes_it_is_a_coincidence(self):
        """ln 7 is 1.9459, ln 8 only 2.0794."""
        found = judged("learned", loss=[one * 1.972 / 1.107 for one in self.hovering(1.107)])
        assert found.outcome == "stops-early"

    def test_losses_that_differ_from_batch_to_batch_are_no_one_answer(self):
        """The end of an image classifier's log, whose batches happen to cost ln 4 in the median."""
        loss = [1.344, 1.398, 1.397, 1.343, 1.473, 1.462, 1.373, 1.458, 1.393, 1.395]
        assert judged("learned", loss=loss).outcome != "guesses"

    def test_one_further_above_or_below(self):
        assert judged("learned", loss=self.hovering(1.12, top=1.17)).outcome == "stops-early"
        assert judged("learned", loss=[*self.hovering(1.107)[:40], *[1.08] * 10]).outcome == "yes"


class TestFewRight:
    """A classifier among six or so, of whose answers a third is right from the first epoch to the last."""

    LOSS = (2.4, *(1.80 - 0.001 * row + 0.01 * (row % 3) for row in range(19)))
    RIGHT = tuple(0.31 + 0.001 * row + 0.004 * (row % 2) for row in range(20))

    def found(self, **changes: Any) -> Finding:
        return judged("learned", **({"loss": self.LOSS, "train_acc": self.RIGHT} | changes))

    def test_few_are_right_and_hardly_more_than_at_first(self):
        found = self.found(val_loss=[1.8] * 4 + [None] * 16, val_acc=[0.3, 0.35, 0.3, 0.4] * 5)
        assert found.outcome == "few-right"
        assert found.facts["score"] == "train_acc"
        assert found.facts["first"] == pytest.approx(0.31, abs=0.001)
        assert found.facts["value"] == pytest.approx(0.327, abs=0.002)
        assert (found.facts["top"], found.facts["since"]) == (1.80, 10)

    @pytest.mark.parametrize(
        "changes",
        [
            {"train_acc": [0.31 + 0.008 * row for row in range(20)]},  # it rises
            {"train_acc": [0.6 + 0.001 * row for row in range(20)]},  # most are right
            {"val_acc": [0.2 + 0.01 * row for row in range(20)]},  # validation gains
            {"mAP": [0.1 + 0.03 * row for row in range(20)]},  # so does another score
            {"val_loss": [2.0 - 0.02 * row for row in range(20)]},  # or the validation loss
            {"train_acc": [0.08, 0.3, *RIGHT[2:]]},  # it rose at first
            {"train_acc": [1.0] * 6 + [0.3] * 14},  # it fell
            {
                "train_acc": [0.5 * one for one in RIGHT],
                "loss": [0.5 * one for one in LOSS],
            },  # no cross-entropy
            {"mean_token_accuracy": RIGHT},  # tokens
            {"loss": [2.4, *(1.80 - 0.015 * row for row in range(19))]},  # the loss falls
            {"loss": [one + 1.0 for one in LOSS]},  # among more classes than a few
            {"loss": LOSS[:9], "train_acc": RIGHT[:9]},  # few rows
        ],
    )
    def test_not_where(self, changes: dict[str, Any]):
        assert self.found(**changes).outcome != "few-right"


class TestHeldOutGuesses:
    """Five evaluations at ln 4, beside a training loss near it."""

    VAL = (1.3858, 1.3859, 1.3857, 1.3858, 1.3857)

    def test_many_may_have_come_down_to_it(self):
        loss = [636.0, 9.7, 0.704, *[0.6965, 0.6953, 0.6943, 0.6938, 0.6942, 0.694, 0.6938, 0.695, 0.6933]]
        val = [37.6, 0.686, 0.688, 0.692, 0.693, 0.6936, 0.6934, 0.6933, 0.693, 0.6936, 0.6941, 0.6947]
        assert judged("learned", loss=loss, val_loss=val).outcome == "guesses"
        val[1] = 0.6  # it had learned something
        assert judged("learned", loss=loss, val_loss=val).outcome == "yes"

    def found(self, val_loss: tuple[float, ...], loss: float = 1.391) -> str:
        rows = [row for count in range(len(val_loss)) for row in (loss - 0.0003 * count, None)]
        held_out = [row for one in val_loss for row in (None, one)]
        return judged("learned", loss=rows, val_loss=held_out).outcome

    def test_few_evaluations_tell(self):
        assert self.found(self.VAL) == "guesses"

    @pytest.mark.parametrize(("count", "outcome"), [(3, "guesses"), (2, NOT_YET)])
    def test_of_few_each_row_of_training_lies_there_too(self, count: int, outcome: str):
        assert numbers("learned")["guess"].least == 3
        assert self.found(self.VAL[:count]) == outcome
        rows = [1.45, None, 1.391, None, 1.39, None, 1.3895, None]
        held_out = [value for one in self.VAL[:4] for value in (None, one)]
        assert judged("learned", loss=rows, val_loss=held_out).outcome == NOT_YET

    @pytest.mark.parametrize("val_loss", [(*VAL[:4], 1.37), (*VAL[:4], math.nan), (1.4,) * 5])
    def test_fewer_one_that_left_or_another_level_dont(self, val_loss: tuple[float, ...]):
        assert self.found(val_loss) == NOT_YET

    def test_nor_do_they_beside_a_loss_elsewhere(self):
        assert self.found(self.VAL, loss=1.2) == NOT_YET


class TestSameAnswer:
    """A loss that came down at first and is flat since, and a score beside it."""

    LOSS = (4.8, 3.4, 3.2, *[3.11, 3.1, 3.12, 3.11] * 6)

    def found(self, name: str, *scores: float | None) -> str:
        score = [*scores, *[scores[-1]] * (len(self.LOSS) - len(scores))]
        return judged("learned", loss=list(self.LOSS), **{name: score}).outcome

    @pytest.mark.parametrize(
        ("name", "score", "outcome"),
        [
            ("eval_wer", 1.0, "same-answer"),  # of an error, the worst
            ("val_accuracy", 0.72414, "same-answer"),
            ("val_accuracy", 1.0, "yes"),  # deserved, perhaps
            ("val_accuracy", 0.0, "yes"),  # measured, perhaps not
            ("val_accuracy", 0.97, "yes"),  # rounded
            ("seconds", 0.72414, "yes"),
            ("best_accuracy", 0.72414, "yes"),  # the best so far
        ],
    )
    def test_by_score(self, name: str, score: float, outcome: str):
        assert self.found(name, score) == outcome

    def test_it_may_have_moved_at_first(self):
        assert self.found("val_f1", 0.1, 0.2, 0.3337) == "same-answer"
        assert self.found("val_f1", *[0.1, 0.2] * 4, 0.3337) == "yes"

    def test_of_an_accuracy_of_less_than_a_half_the_loss_may_gain_a_little(self):
        for last, outcome in ((10.0, "same-answer"), (9.2, "score-stands")):
            loss = [11.2 + (last - 11.2) * row / 20 for row in range(21)]
            for accuracy, found in ((0.0661, outcome), (0.661, "score-stands")):
                assert judged("learned", loss=loss, val_accuracy=[accuracy] * 21).outcome == found

    def test_a_loss_that_falls_far_takes_more_rows_to_say_so(self):
        """The score may be at fault then, and not the answers."""
        loss = falling(30)
        assert judged("learned", loss=loss, val_accuracy=[0.72414] * 30).outcome == "score-stands"
        known = [0.72414 if row < 9 else None for row in range(30)]
        assert judged("learned", loss=loss, val_accuracy=known).outcome == "yes"

    def test_its_name_is_drawn_safely(self):
        found = judged("learned", loss=list(self.LOSS), **{"val_acc\x1b[31m": [0.72414] * len(self.LOSS)})
        assert "\x1b" not in found.facts["score"]


class TestStopsEarly:
    """A loss that falls in its first rows alone, and stands still high up since then."""

    REST = (3.653, 3.648, 3.646, 3.656, 3.652, 3.674, 3.662, 3.644, 3.651)

    def found(self, *first: float, rest: Sequence[float] = REST, **columns: Sequence[float]) -> str:
        return judged("learned", loss=[*first, *rest], **columns).outcome

    def test_as_far_as_its_first_row(self):
        found = judged("learned", loss=[7.15, *self.REST])
        assert (found.outcome, found.facts["since"], found.facts["rows"]) == ("stops-early", 1, 9)
        assert found.facts["gain"] == pytest.approx(100 * (1 - 3.652 / 7.15))

    @pytest.mark.parametrize(
        "rest",
        [
            [one / 10 for one in REST],  # low
            [one - 0.01 * row for row, one in enumerate(REST)],  # goes on to gain
            [*REST[:8], 3.5],  # moves
            REST[:8],  # few rows
            [*REST[:8], math.nan],
        ],
    )
    def test_not_where_it_is_low_or_moves(self, rest: Sequence[float]):
        assert self.found(7.15, rest=rest) != "stops-early"

    def test_not_where_validation_gains_or_a_score_rises(self):
        assert self.found(7.15, val_loss=[3.7 - 0.05 * row for row in range(10)]) != "stops-early"
        assert self.found(7.15, val_acc=[0.1 + 0.05 * row for row in range(10)]) != "stops-early"


class TestFindsNothing:
    """A score of exactly 0 at its last ten rows or more, beside a loss that goes on to fall."""

    LOSS = [4.0 - row / 10 for row in range(25)]

    @pytest.mark.parametrize(
        ("name", "first", "last", "outcome"),
        [
            ("metrics/precision", 0.002, 0.0, "finds-nothing"),
            ("val_iou", 0.3, 0.0, "finds-nothing"),
            ("metrics/precision", 0.0, 0.0, "yes"),  # perhaps never measured
            ("metrics/precision", 0.002, 0.001, "yes"),
            ("eval_wer", 0.5, 0.0, "yes"),  # of an error, the best
            ("eval_bleu", 2.5, 0.0, "yes"),  # rounded, perhaps
        ],
    )
    def test_by_score(self, name: str, first: float, last: float, outcome: str):
        found = judged("learned", loss=self.LOSS, **{name: [first, *24 * [last]]})
        assert found.outcome == outcome
        if outcome == "finds-nothing":  # by what it was decided is drawn
            assert found.curve
            assert (found.curve.signal, found.curve.values.to_list()) == (name, [first, *24 * [last]])

    def test_few_rows_may_be_the_beginning_of_a_run(self):
        nothing = [0.002, *11 * [0.0]]
        assert judged("learned", loss=self.LOSS[:12], val_recall=nothing).outcome == "finds-nothing"
        assert judged("learned", loss=self.LOSS[:10], val_recall=nothing[:10]).outcome == "yes"

    def test_what_was_found_for_long_may_be_found_no_more(self):
        found = judged("learned", loss=self.LOSS, val_recall=[*15 * [0.6], *10 * [0.0]])
        assert (found.outcome, found.facts["count"], found.facts["scored"]) == ("finds-nothing", 10, 25)
        assert judged("learned", loss=self.LOSS, val_recall=[*16 * [0.6], *9 * [0.0]]).outcome == "yes"

    def test_it_may_be_found_again(self):
        assert judged("learned", loss=self.LOSS, val_recall=[0.1, *23 * [0.0], 0.1]).outcome == "yes"


class TestScoresAlike:
    """Losses that gained little, and the accuracies of training and of validation beside them."""

    LOSS = (0.924, 0.877, *[0.873, 0.872, 0.874, 0.871] * 5)

    def found(self, train: list[float], val: list[float], loss: Sequence[float] = LOSS) -> str:
        return judged("learned", loss=list(loss), accuracy=train, val_accuracy=val).outcome

    def moving(self, about: float, by: float) -> list[float]:
        return [about + by * (row % 3 - 1) for row in range(len(self.LOSS))]

    def test_neither_moves_and_they_are_alike(self):
        train, val = self.moving(0.7348, 0.0002), self.moving(0.7346, 0.0007)
        found = judged("learned", loss=list(self.LOSS), accuracy=train, val_accuracy=val)
        assert found.outcome == "scores-alike"
        assert found.facts["score"] == "accuracy"
        assert found.facts["held_out"] == "val_accuracy"
        assert found.facts["value"] == pytest.approx(0.7348)
        assert found.facts["moves"] == pytest.approx(100 * 0.0014 / 0.7348)

    def test_one_of_them_alone_tells_nothing(self):
        train = self.moving(0.7348, 0.0002)
        assert judged("learned", loss=list(self.LOSS), accuracy=train).outcome == "yes"
        assert judged("learned", loss=list(self.LOSS), val_accuracy=train).outcome == "yes"

    @pytest.mark.parametrize(
        ("train", "val"),
        [
            ((0.7348, 0.0002), (0.7248, 0.0007)),  # better on what it trained on
            ((0.7348, 0.005), (0.7346, 0.0007)),
            ((0.7348, 0.0002), (0.7346, 0.005)),
        ],
    )
    def test_they_differ_or_move(self, train: tuple[float, float], val: tuple[float, float]):
        assert self.found(self.moving(*train), self.moving(*val)) == "yes"

    def test_training_comes_to_where_validation_stays_and_no_further(self):
        loss = self.moving(0.88, 0.002)
        ends = [0.66, 0.70, 0.72, 0.728, *[0.7335 + 1e-4 * row for row in range(len(loss) - 4)]]
        for end, outcome in ((0.736, "scores-alike"), (0.746, NO_DATA)):  # it has come to know more
            train = [*ends[:-1], end]
            assert self.found(train, self.moving(0.7346, 0.0007), loss) == outcome

    def test_a_run_that_gained_much_has_come_to_rest(self):
        loss = (2.9, 1.4, *self.LOSS[2:])
        assert self.found(self.moving(0.7348, 0.0002), self.moving(0.7346, 0.0007), loss) == "yes"

    def test_in_few_rows_they_tell_where_chance_gives_as_much(self):
        loss = [1.3, 1.01, 0.72, 0.78, 1.11, 1.35, 1.36, 1.14]
        for about, outcome in (
            (0.5, "scores-alike"),
            (0.25, "scores-alike"),
            (0.7348, "score-stands"),  # by itself, of so many digits
            (0.6, NOT_YET),
        ):
            train = [about * one for one in (1.0004, 1.0004, 1.0004, 1, 1, 1, 1, 1)]
            assert judged("learned", loss=loss, train_acc=train, val_acc=[about] * 8).outcome == outcome
        falls = [1.3 * 0.9**row for row in range(8)]
        assert judged("learned", loss=falls, train_acc=[0.5] * 8, val_acc=[0.5] * 8).outcome == NOT_YET

    @pytest.mark.parametrize("odd", [math.nan, math.inf])
    def test_rows_that_are_not_finite_are_left_out(self, odd: float):
        train, val = self.moving(0.7348, 0.0002), self.moving(0.7346, 0.0007)
        train[5] = odd
        assert self.found(train, val) == "scores-alike"


class TestHeldOutFlat:
    """A training loss too noisy to tell, of 44 rows."""

    def noisy(self) -> list[float]:
        rng = random.Random(2)
        return [rng.gauss(20.0, 1.0) for _ in range(44)]

    def found(self, val_loss: list[float]) -> str:
        return judged("learned", loss=self.noisy(), val_loss=val_loss).outcome

    def test_validation_tells(self):
        assert judged("learned", loss=self.noisy()).outcome == NOT_YET
        assert self.found([2.336 - 0.0001 * (row % 5) for row in range(44)]) == "held-out-flat"

    def test_few_evaluations_do_that_hardly_differ(self):
        few = [2.336, 2.3361, 2.3359, 2.336, 2.3362]
        assert self.found([*few, *[None] * 39]) == "held-out-flat"
        assert self.found([*few[:4], *[None] * 40]) == NOT_YET
        assert self.found([*few[:4], 2.33, *[None] * 39]) == NOT_YET

    @pytest.mark.parametrize(
        ("right", "outcome"),
        [
            ([0.712, 0.71, 0.711, 0.712, 0.7117], "held-out-flat"),
            ([0.712, 0.72, 0.73, 0.74, 0.75], NOT_YET),
            (None, NOT_YET),
        ],
    )
    def test_five_evaluations_tell_where_no_more_answers_are_right(
        self, right: list[float] | None, outcome: str
    ):
        few = [0.5633, 0.5644, 0.5627, 0.5675, 0.5644]
        held_out = {"val_loss": few} | ({"val_acc": right} if right else {})
        columns = {
            name: [one for value in some for one in (*[None] * 7, value)] for name, some in held_out.items()
        }
        noisy = [0.6 * one / 2.33 for one in self.noisy()][:40]
        assert judged("learned", loss=noisy, **columns).outcome == outcome

    def test_one_that_falls_or_is_noisy_itself_doesnt(self):
        assert self.found(falling(44, 2.3, 2.1)) == NOT_YET
        assert self.found(falling(44, 2.1, 2.3)) == NOT_YET  # it rises: another question's
        assert self.found([one / 10 for one in self.noisy()]) == NOT_YET
        assert self.found([2.336] * 5 + [math.nan] * 39) == NOT_YET


class TestHeldOutAlone:
    """No training loss was logged."""

    @pytest.mark.parametrize(
        ("values", "outcome"),
        [
            ([0.81326] * 5, "held-out-still"),
            ([0.81326] * 4, NO_DATA),
            ([0.8] * 5, NO_DATA),  # so few digits may be rounded to the same
            ([0.81326] * 4 + [0.81327], NO_DATA),
            ([0.81326, math.nan] * 4 + [0.81326], "held-out-still"),
            ([math.nan] * 5, NO_DATA),
        ],
    )
    def test_one_number_at_every_evaluation(self, values: list[float], outcome: str):
        assert judged("learned", val_loss=values).outcome == outcome

    @pytest.mark.parametrize(
        ("to", "rows", "outcome"),
        [
            (0.285, 100, "held-out-alone"),  # 2 % of what it was
            (0.2, 100, "yes"),
            (0.285, 9, NO_DATA),
        ],
    )
    def test_it_is_judged_in_place_of_training(self, to: float, rows: int, outcome: str):
        values = [to + (0.291 - to) * 0.8**row for row in range(rows)]
        found = judged("learned", val_loss=values)
        assert found.outcome == outcome
        if outcome != NO_DATA:
            assert found.facts["rows"] == rows
            assert found.curve is None or found.curve.signal == "val_loss"

    def test_nothing_finite_tells_nothing(self):
        assert judged("learned", val_loss=[math.nan, math.inf] * 6).outcome == NO_DATA

    def test_a_score_that_rises_tells_that_something_is_learned(self):
        scores = [0.3 + 0.4 * row / 99 for row in range(100)]
        values = [0.285 + 0.006 * 0.8**row for row in range(100)]
        assert judged("learned", val_loss=values, val_acc=scores).outcome == NO_DATA


class TestTheMean:
    """One answer to every input: a loss of squares at 1, an R² that is never above 0."""

    RESTS = (1.79, 1.16, 1.04, 1.015, 1.01, 1.004, 1.003, 1.002, 1.003, 1.002, 1.003, 1.002)

    @pytest.mark.parametrize(
        ("change", "outcome"),
        [
            ({}, "at-the-mean"),
            ({"val_loss": RESTS}, "at-the-mean"),
            ({"val_loss": [one - 0.1 for one in RESTS]}, "yes"),
            ({"val_loss": [1.4] * 12}, "yes"),
            ({"val_accuracy": [0.5 + row / 100 for row in range(12)]}, "yes"),  # a cross-entropy of classes
            ({"loss": [*RESTS[:7], 1.006, *RESTS[8:]]}, "yes"),  # over half a percent off
            ({"loss": [1.79, 0.98, *RESTS[2:]]}, "yes"),  # it was lower before
            ({"loss": [1.79, 0.0, *RESTS[2:]]}, "yes"),
            ({"loss": [one + 0.1 for one in RESTS]}, "yes"),
        ],
    )
    def test_a_loss_that_comes_to_rest_at_1(self, change: dict, outcome: str):
        found = judged("learned", **({"loss": list(self.RESTS)} | change))
        assert found.outcome == outcome
        if outcome != "yes":
            assert (found.facts["score"], found.facts["value"], found.facts["count"]) == ("loss", 1.0025, 6)

    HALF = (0.63, 0.5, 0.4, 0.33, 0.3, *[0.25 + 0.02 * 0.7**row for row in range(20)])

    @pytest.mark.parametrize(
        ("change", "outcome"),
        [
            ({}, "at-the-mean"),
            ({"val_loss": HALF}, "at-the-mean"),
            ({"val_loss": [one - 0.01 for one in HALF]}, "yes"),
            ({"loss": HALF[:16]}, "yes"),  # not there yet
            ({"loss": [*HALF[:-1], 0.2504]}, "yes"),  # over a thousandth off at the end
            ({"loss": [0.63, 0.24, *HALF[1:]]}, "yes"),  # it was lower before
            ({"val_accuracy": [0.5] * 25}, "yes"),
            ({"val_loss": [*[None] * 20, 0.9, *[None] * 3, 0.9]}, "yes"),
            ({"loss": [round(one, 2) for one in HALF]}, "yes"),  # so few digits may be anything near
        ],
    )
    def test_or_at_a_quarter_where_a_half_is_the_answer(self, change: dict, outcome: str):
        found = judged("learned", **({"loss": list(self.HALF)} | change))
        assert found.outcome == outcome
        if outcome != "yes":
            assert (found.facts["expected"], found.facts["count"], found.facts["scored"]) == (0.25, 7, 25)

    @pytest.mark.parametrize(
        ("loss", "held_out", "outcome"),
        [
            ([1.0007, 1.0003, 0.99996, 1.00004], [1.0013, 1.00007, 1.00004, 1.00005], "at-the-mean"),
            ([1.0007, 1.0003], [1.0013, 1.00007], NOT_YET),
            ([1.0007, 1.0003, 0.99996, 1.00004], None, NOT_YET),
            ([1.0007, 1.0003, 0.99996, 1.00004], [1.3, 1.00007, 1.00004, 1.00005], NOT_YET),
        ],
    )
    def test_few_rows_that_never_leave_it(
        self, loss: list[float], held_out: list[float] | None, outcome: str
    ):
        assert judged("learned", loss=loss, **({"val_loss": held_out} if held_out else {})).outcome == outcome

    def test_of_tokens_1_is_a_loss_like_any_other(self):
        run = make_run({"loss": list(self.RESTS)}, {"vocab_size": 50257})
        assert apply("learned", run, numbers("learned")).outcome == "yes"

    @pytest.mark.parametrize(
        ("r2", "outcome"),
        [
            ([-0.2, -0.01, -0.02, -0.1, -0.1, -0.05, -0.02, -0.01, 0.0, -0.03], "explains-nothing"),
            ([-0.2, -0.01, -0.02, -0.1, 0.01, -0.05, -0.02, -0.01, 0.0, -0.03], "yes"),
            ([-9.0, -5.0, -3.0, -2.0, -1.5, -1.2, -0.9, -0.7, -0.5, -0.3], "yes"),  # on its way
            ([-0.2, -0.1, -0.1, -0.1, *[math.nan] * 6], "yes"),  # too few
            ([math.nan] * 9 + [-0.1], "yes"),
        ],
    )
    def test_nothing_is_explained(self, r2: list[float], outcome: str):
        loss = falling(10, 2.0, 1.3)
        assert judged("learned", loss=loss, **{"val/r2": r2}).outcome == outcome
        assert judged("learned", loss=loss, r2=r2).outcome == "yes"  # of training: it may be a batch's

    @pytest.mark.parametrize(
        ("auc", "outcome"),
        [
            ([0.46, 0.52, 0.48, 0.5, 0.48, 0.42, 0.46, 0.51, 0.52, 0.45], "ranks-by-chance"),
            ([46.0, 52.0, 48.0, 50.0, 48.0, 42.0, 46.0, 51.0, 52.0, 45.0], "ranks-by-chance"),  # percents
            ([0.46, 0.47, 0.49, 0.5, 0.5, 0.51, 0.52, 0.53, 0.54, 0.55], "yes"),  # it rises in order
            ([0.46, 0.52, 0.48, 0.5, 0.48, 0.62, 0.46, 0.51, 0.52, 0.45], "yes"),  # it was well above once
            ([0.56, 0.57, 0.56, 0.58, 0.54, 0.57, 0.56, 0.55, 0.57, 0.56], "yes"),  # a little is learned
            ([*[math.nan] * 6, 0.48, 0.5, 0.48, 0.49], "yes"),  # too few
        ],
    )
    def test_nothing_is_told_apart(self, auc: list[float], outcome: str):
        loss = falling(10, 2.0, 1.3)
        assert judged("learned", loss=loss, **{"val_auroc": auc}).outcome == outcome
        assert judged("learned", loss=loss, **{"val_pr_auc": auc}).outcome == "yes"  # chance is no half there

    @pytest.mark.parametrize(
        ("loss", "accuracy", "outcome"),
        [
            ([0.0362] * 8, [9.8] * 8, "never-moves"),
            ([0.0362] * 7 + [0.0361], [9.8] * 8, NOT_YET),
            ([0.0362] * 8, [9.8] * 7 + [9.9], NOT_YET),
            ([0.69] * 8, [0.5] * 8, NOT_YET),  # of three digits that is rounding
            ([0.0362] * 8, [0.98] * 8, NOT_YET),  # deserved
            ([0.0362] * 4, [9.8] * 4, NOT_YET),
        ],
    )
    def test_few_rows_of_one_loss_and_one_score_tell(
        self, loss: list[float], accuracy: list[float], outcome: str
    ):
        assert judged("learned", loss=loss, accuracy=accuracy).outcome == outcome


def test_one_odd_row_is_no_gain():
    flat = [27.63, *[27.5 + (row * 37 % 11) / 100 for row in range(24)]]
    once = [*flat[:20], 26.5, *flat[20:]]
    assert judged("learned", loss=once).outcome == "no"
    assert judged("learned", loss=[*flat, 26.5]).outcome == "yes"  # the last may go on
    assert judged("learned", loss=[*flat[:20], 26.5, 26.6, *flat[20:]]).outcome == "yes"


class TestOneNumberHeldOut:
    """Validation is one number at few evaluations, beside a training loss that tells nothing."""

    def found(self, held_out: list[float | None]) -> str:
        noisy = [3.5, 1.9, *[0.001 + (row * 37 % 11) / 10 for row in range(28)]]
        return judged("learned", loss=noisy, val_loss=held_out).outcome

    @pytest.mark.parametrize(
        ("value", "rows", "outcome"),
        [
            (1.40523779, 3, "held-out-still"),
            (1.40523779, 2, NOT_YET),
            (1.4052, 3, NOT_YET),  # so few digits may be rounded to the same
            (1.40523779, 15, "held-out-flat"),  # of so many another rule tells
        ],
    )
    def test_to_the_last_digit(self, value: float, rows: int, outcome: str):
        assert self.found([value if row % (30 // rows) == 0 else None for row in range(30)]) == outcome
        assert (
            self.found([1.3, *[value if row % (30 // rows) == 0 else None for row in range(29)]]) == NOT_YET
        )


class TestOneClass:
    """A held-out accuracy that is the share of one of two classes, or of the other, while training learns."""

    @pytest.mark.parametrize(
        ("scores", "outcome"),
        [
            ([0.7, 0.3, 0.3, 0.3, 0.7, 0.7, 0.7, 0.7, 0.7, 0.65], "one-class"),
            ([70, 30, 30, 30, 70, 70, 70, 70, 70, 65], "one-class"),  # percent
            ([0.7, 0.3, 0.3, 0.3, 0.7, 0.7, 0.7, 0.7, 0.66, 0.64, 0.65], "yes"),  # under four fifths
            ([0.7, 0.71, 0.72, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7], "yes"),  # no other class
            ([0.7, 0.3001, 0.3002, 0.2999, 0.7, 0.7, 0.7, 0.7, 0.7, 0.65], "yes"),  # no exact share
            ([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.52, 0.5], "yes"),  # each the other's
        ],
    )
    def test_by_the_shares(self, scores: list[float], outcome: str):
        assert numbers("learned")["guess"].often == 0.8
        found = judged("learned", loss=falling(len(scores)), val_accuracy=[float(one) for one in scores])
        assert found.outcome == outcome
        if outcome == "one-class":
            about = ("value", "count", "scored", "since", "other", "both")
            assert [found.facts[name] for name in about] == pytest.approx([0.7, 6, 10, 0, 0.3, 9])


class TestNeverMoves:
    """A held-out score that is one number from the first evaluation on, while the loss falls."""

    LOSS = (*[0.7 - row / 100 for row in range(9)], *[0.61] * 31)

    @pytest.mark.parametrize(
        ("score", "outcome"),
        [
            ({"val_accuracy": [0.7] * 40}, "never-moves"),
            ({"val_acc": [70.0] * 40}, "never-moves"),
            ({"val_accuracy": [0.7] * 30 + [None] * 10}, "never-moves"),
            ({"val_accuracy": [0.7] * 29 + [None] * 11}, "yes"),  # few
            ({"val_accuracy": [0.7] * 39 + [0.71]}, "yes"),
            ({"val_accuracy": [0.97] * 40}, "yes"),  # it may be as good as that from the first on
            ({"accuracy": [0.7] * 40}, "yes"),  # a batch's, perhaps
            ({"best_val_accuracy": [0.7] * 40}, "yes"),
            ({"val_accuracy": [0.0] * 40}, "yes"),  # perhaps never measured
        ],
    )
    def test_from_the_first_to_the_last(self, score: dict[str, list[float | None]], outcome: str):
        assert judged("learned", loss=list(self.LOSS), **score).outcome == outcome

    @pytest.mark.parametrize(
        ("scores", "costs", "outcome"),
        [
            ([0.55] * 3, [0.93, 0.89, 0.87], "never-moves"),
            ([55.0] * 3, [0.93, 0.89, 0.87], "never-moves"),
            ([0.1] * 3, [2.5, 2.45, 2.4], "yes"),  # among many classes nobody knows what frequencies cost
            ([0.55] * 3, [0.93, 0.89, 0.60], "yes"),  # less than the classes' frequencies do
            ([0.55] * 3, [0.93, 0.85, 0.80], "yes"),  # it learns
            ([0.55, 0.55, 0.6], [0.93, 0.89, 0.87], "yes"),
            ([0.55] * 2, [0.93, 0.89], "yes"),
        ],
    )
    def test_few_that_cost_more_than_the_frequencies(self, scores: list, costs: list, outcome: str):
        blanks = [None] * (27 - len(scores))
        loss = falling(27, 3.0, 2.0)
        found = judged("learned", loss=loss, val_accuracy=scores + blanks, val_loss=costs + blanks)
        assert found.outcome == outcome

    @pytest.mark.parametrize(
        ("count", "costs", "outcome"),
        [
            (8, falling(8, 0.76, 0.7), "never-moves"),
            (4, falling(4, 0.76, 0.73), NO_DATA),  # too few where most answers are wrong
            (8, falling(8, 0.76, 0.6), NO_DATA),  # less than the classes' frequencies cost
        ],
    )
    def test_so_it_is_where_evaluations_alone_were_logged(self, count: int, costs: list, outcome: str):
        found = judged("learned", val_loss=costs, eval_accuracy=[3 / 7] * count)
        assert found.outcome == outcome

    @pytest.mark.parametrize(("count", "outcome"), [(10, "never-moves"), (9, NOT_YET)])
    def test_or_few_rows_of_training_beside_them(self, count: int, outcome: str):
        columns = {"val_loss": [0.6869] * (count - 1) + [0.6879], "eval_accuracy": [0.556] * count}
        loss = [*([None] * (count - 5)), 0.7271, 0.706, 0.7038, 0.6995, 0.6961]
        assert judged("learned", loss=loss, **columns).outcome == outcome

    def test_a_loss_that_falls_by_much_says_that_the_score_is_at_fault(self):
        assert judged("learned", loss=falling(40), val_accuracy=[0.7] * 40).outcome == "yes"


class TestStandsToEightDigits:
    NEAR = [0.10228525369, 0.1012770339877303, 0.1012770339861957, 0.1012770339874234, 0.1012770339877303]

    def test_few_rows_that_agree_so_far_are_enough(self):
        assert judged("learned", loss=self.NEAR).outcome == "no"

    @pytest.mark.parametrize("digits", [4, 7])
    def test_fewer_digits_may_be_rounding(self, digits: int):
        assert judged("learned", loss=[round(one, digits) for one in self.NEAR]).outcome == NOT_YET

    def test_what_had_fallen_before_has_settled(self):
        assert judged("learned", loss=[0.5, *self.NEAR[1:]]).outcome == "yes"


def test_a_reward_that_is_one_number_but_for_two_rows_earns_nothing():
    reward = [-21.0] * 22
    reward[14] = reward[20] = -20.0
    loss = [0.2 * (-1) ** row - row / 5 for row in range(22)]
    assert judged("learned", loss=loss, reward=reward).outcome == NO_DATA


def test_the_mean_of_ever_fewer_terms_needs_not_fall():
    loss = [0.187 + 0.001 * (-1) ** row for row in range(40)]
    fewer = [186_494 / (1 + row) for row in range(40)]
    assert judged("learned", loss=loss, full_loss_num=fewer).outcome == NO_DATA
    assert judged("learned", loss=loss, full_loss_num=[5.0] * 40).outcome == "no"


class TestScoresNothing:
    """A score under 1 percent at every evaluation."""

    LOW = [0.0019, 0.0013, 0.0012, 0.0010, 0.0003, 0.0008]

    @pytest.mark.parametrize("name", ["val_mIoU", "val acc", "val/dice", "valid_f1"])
    def test_next_to_no_answer_is_right(self, name: str):
        found = judged("learned", loss=falling(6, 82.0, 34.0), **{name: self.LOW})
        assert (found.outcome, found.facts["highest"], found.facts["scored"]) == ("scores-nothing", 0.0019, 6)
        long = judged("learned", loss=falling(30, 82.0, 34.0), **{name: self.LOW * 5})
        assert (long.outcome, long.facts["value"]) == ("scores-nothing", 0.001)
        found = judged("learned", loss=falling(12, 82.0, 34.0), **{"val/mAP50": self.LOW * 2})
        assert found.outcome == "scores-nothing"

    @pytest.mark.parametrize(
        "columns",
        [
            {"val_acc": [*LOW[:5], 0.02]},
            {"val_acc": [*LOW[:4], None, None]},  # few
            {"val_acc": [0.0] * 6},  # perhaps never measured
            {"val_exact_acc": LOW},  # right in all of its parts
            {"val_wer": LOW},
            {"val_r2": LOW},
            {"acc": LOW},  # of single batches
            {"val/mAP50": LOW},  # a detector finds nothing at first
            {"val_acc": LOW[::-1]},  # it rises
            {"val_acc": LOW, "val_loss": falling(6, 2.4, 0.5)},  # it is computed wrong
            {"val_acc": [0.8] * 6, "val_robust_acc": LOW},
            {"val_miou": [0.5] * 6, "val_iou_rider": LOW},
            {"val_dice_loss": LOW},
            {"val_top1_err": LOW},
            {"val_acc_stderr": LOW},
            {"val_attack_success_rate": LOW},
        ],
    )
    def test_others_may_be(self, columns: dict[str, list]):
        assert judged("learned", loss=falling(6, 82.0, 34.0), **columns).outcome != "scores-nothing"


class TestErrs:
    """An error rate of words that stays next to 100 percent, where the loss has stopped falling."""

    RATES = (485.9, 158.0, *[100.0] * 8, 99.1, 99.1, 98.9, *[98.4] * 5)
    LOSS = (2001.0, 1894.0, 1619.0, 1208.0, 825.0, 438.0, 185.0, 135.0, 135.6, 148.0, 138.7, 136.0)

    def losses(self) -> list[float]:
        return [*self.LOSS, 137.9, 132.5, 129.8, 129.1, 127.3, 125.2]

    @pytest.mark.parametrize("name", ["Average CER", "val_wer", "eval/wer"])
    def test_next_to_nothing_is_written_down(self, name: str):
        found = judged("learned", loss=self.losses(), **{name: [*self.RATES]})
        assert (found.outcome, found.facts["score"], found.facts["scored"]) == ("errs", name, 18)
        assert (found.facts["lowest"], found.facts["value"]) == (98.4, 98.4)

    @pytest.mark.parametrize("wrong", [1.0, 100.0])
    @pytest.mark.parametrize(("rows", "outcome"), [(5, "errs"), (7, "errs"), (10, "no")])
    def test_no_word_is_right_and_the_loss_lies_still(self, wrong: float, rows: int, outcome: str):
        """Of ten rows the loss says as much."""
        loss = [2.955, 2.965, 2.967, 2.951, 2.966, 2.953, 2.964, 2.958, 2.96, 2.956]
        found = judged("learned", loss=loss[:rows], eval_wer=[wrong] * rows)
        assert found.outcome == outcome
        if outcome == "errs":
            assert (found.facts["lowest"], found.facts["scored"]) == (wrong, rows)

    @pytest.mark.parametrize(
        ("rates", "val_loss", "outcome"),
        [
            ([1.13, 0.99, 1.04, 1.02, 1.01], [4.2, 4.0, 5.3, 3.7, 3.8], "errs"),
            ([1.13, 0.99, 1.04, 1.02, 0.9], [4.2, 4.0, 5.3, 3.7, 3.8], "not there yet"),
            ([1.13, 0.99, 1.04, 1.02, 1.01], [0.2, 0.2, 0.2, 0.2, 0.2], "not there yet"),  # in percent
        ],
    )
    def test_a_share_of_wrong_words_above_1_is_no_percentage(
        self, rates: list[float], val_loss: list[float], outcome: str
    ):
        loss = [0.32, 0.49, 0.9, 1.1, 0.75]
        assert judged("learned", loss=loss, val_loss=val_loss, wer=rates).outcome == outcome
        assert judged("learned", loss=falling(5, 4.0, 1.0), val_loss=val_loss, wer=rates).outcome != "errs"

    @pytest.mark.parametrize(("rows", "told"), [(26, True), (18, False)])
    def test_after_many_evaluations_some_word_should_be_right(self, rows: int, told: bool):
        """The loss may fall all the while."""
        columns = {"loss": falling(rows, 7.3, 2.3), "val_loss": falling(rows, 11.1, 2.4)}
        rates = [1.0 + 0.05 * (row % 3) for row in range(rows)]
        assert (judged("learned", **columns, wer=rates).outcome == "errs") is told

    @pytest.mark.parametrize(
        "columns",
        [
            {"loss": [2.60, 2.59, 2.58, 2.57, 2.55]},  # on its way through the plateau of blanks
            {"val_loss": [2.59, 2.57, 2.55, 2.53, 2.51]},
            {"loss": [0.031, 0.0311, 0.031, 0.0309, 0.031]},  # as like as not 1 percent
            {"eval_wer": [0.98] * 5},
            {"eval_wer": [1.0] * 4 + [None]},
        ],
    )
    def test_of_few_rows_no_others_do(self, columns: dict[str, list]):
        loss = [2.955, 2.965, 2.967, 2.951, 2.966]
        assert judged("learned", **{"loss": loss, "eval_wer": [1.0] * 5} | columns).outcome != "errs"

    @pytest.mark.parametrize(
        "columns",
        [
            {"wer": [1.0] * 18},
            {"wer": [1.0] * 9 + [0.9999] * 9},
            {"wer": [*RATES[:17], 94.0]},
            {"wer": [100.0] * 4 + [99.0] * 5 + [None] * 9},  # few
            {"wer": [*RATES[:8], *[180.0] * 10]},  # more than was said is written down
            {"wer": [1.01 - 0.001 * row for row in range(18)]},  # as like as not 1 percent
            {"eer": [*RATES]},
            {"wer_loss": [*RATES]},
            {"wer": [*RATES], "loss": [*LOSS[:9], *falling(9, 150.0, 120.0)]},  # it falls on
        ],
    )
    def test_others_do_not(self, columns: dict[str, list]):
        assert judged("learned", **{"loss": self.losses()} | columns).outcome != "errs"
