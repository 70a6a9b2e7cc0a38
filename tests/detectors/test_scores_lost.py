"""A score or a reward that a run had come to and lost again, on small arrays with known answers."""

import math
import random
from pathlib import Path

import pytest

from tests.conftest import numbers
from tests.detectors.test_course import falling, judged
from tutor import readers
from tutor.detectors import NO_DATA, NOT_YET, apply

CALM = falling(40, 2.0, 0.4)
RISEN = [0.1 + 0.02 * row for row in range(30)]  # to 0.68


def outcome(loss: list[float] | None = None, **columns: list[float]) -> str:
    return judged("validation_turns", loss=loss or CALM, **columns).outcome


@pytest.mark.parametrize(
    ("score", "to", "found"),
    [
        ([0.167, *[0.08, 0.1, 0.09, 0.1] * 4], 0.01, "score-lost"),
        ([0.167, *[0.08, 0.1, 0.09, 0.1] * 4], 1.5, NO_DATA),  # training hardly learned
        ([0.167, *[0.08, 0.1, 0.09, 0.15] * 4], 0.01, NO_DATA),  # it came near to it again
        ([0.167, *[0.08, 0.1, 0.09, 0.1] * 2], 0.01, NO_DATA),  # few
        ([0.1, 0.167, *[0.08, 0.1, 0.09, 0.1] * 4], 0.01, NO_DATA),  # it had gained
    ],
)
def test_one_never_so_good_again_while_training_learns(score: list[float], to: float, found: str):
    loss = falling(len(score), 2.0, to)
    assert outcome(loss, val_accuracy=score) == found
    assert outcome(loss, train_accuracy=score) == NO_DATA


@pytest.mark.parametrize(
    "name", ["val_accuracy", "eval/mean_reward", "ep_rew_mean", "metrics/mAP50(B)", "F1"]
)
def test_one_that_falls_for_good(name: str):
    found = judged("validation_turns", loss=CALM, **{name: [*RISEN, *[0.15] * 10]})
    assert (found.outcome, found.step, found.facts["score"]) == ("score-lost", 29, name)
    assert found.facts["best"] == pytest.approx(0.67, abs=0.02)
    assert found.facts["end"] == pytest.approx(0.15)
    assert found.facts["given"] > found.facts["bound"] == 50.0
    assert found.curve.signal == name


@pytest.mark.parametrize(
    "score",
    [
        [*RISEN, *[0.55] * 10],  # less than a fourth of what was gained
        [*RISEN, *[0.15] * 8, 0.6, 0.6],  # it is back
        [*RISEN, *[0.68] * 8, 0.15, 0.15],  # two evaluations are no level
        [0.6 + 0.3 * (-1) ** row for row in range(40)],  # noise
        [0.90, *[0.92] * 30, *[0.89] * 9],  # little, beside what it is
        [*[0.6] * 5, *[0.1] * 4, *[math.nan] * 31],  # few
        [0.0] * 40,
    ],
)
def test_one_that_holds(score: list[float]):
    assert outcome(val_accuracy=score) == NO_DATA


def test_few_that_fall_in_order_are_no_noise():
    """The area under the curve of a small held-out set: its steps are as wide as its noise."""
    fallen = [0.799, 0.936, 0.944, 0.923, 0.923, 0.94, 0.932, 0.91, 0.91, 0.868, 0.838, 0.756]
    found = judged("validation_turns", loss=falling(12, 0.7, 0.1), val_auc=fallen)
    assert (found.outcome, found.step) == ("score-lost", 2)
    assert found.facts["given"] == pytest.approx(73.1, abs=0.1)
    fallen[9:] = [0.868, 0.756, 0.838]  # the last isn't the lowest
    assert judged("validation_turns", loss=falling(12, 0.7, 0.1), val_auc=fallen).outcome == NO_DATA


def test_of_many_that_fall_in_order_the_last_ones_lie_low():
    """An agent's score: noise as wide as the fall, and the last is not quite the lowest."""
    risen = [0.0, 0.0, 0.03, 0.03, 0.03, 0.06, 0.23, 0.51, 1.59, 1.66, 1.38, 1.66]
    fallen = [1.12, 1.23, 1.17, 1.08, 0.64, 0.79, 0.9, 0.51, 0.43, 0.29, 0.32, 0.38, 0.44, 0.35, 0.48]
    for end, lost in (([0.36, 0.42, 0.4, 0.3], True), ([0.36, 0.9, 1.1, 1.2], False)):
        found = judged("validation_turns", **{"Average Score": [*risen, *fallen, *end]})
        assert (found.outcome == "score-lost") is lost


def test_one_that_was_best_at_first_loses_what_it_was():
    assert outcome(val_accuracy=[*[0.9] * 20, *[0.1] * 20]) == "score-lost"
    assert outcome(ep_rew_mean=[*[84.0] * 20, *[-59.0] * 20]) == "score-lost"


@pytest.mark.parametrize(
    "name",
    ["train_accuracy", "best_accuracy", "val_recall", "reward_std", "rewards/chosen", "val_top5_acc_max"],
)
def test_what_may_fall_by_design(name: str):
    assert outcome(**{name: [*RISEN, *[0.15] * 10]}) == NO_DATA


def test_validation_speaks_first():
    turned = [*falling(20, 2.0, 0.5), *[0.5 + row / 10 for row in range(20)]]
    lost = [*RISEN, *[0.15] * 10]
    assert outcome(val_loss=turned, val_accuracy=lost) == "turns"
    assert outcome(val_loss=CALM, val_accuracy=lost) == "score-lost"
    assert outcome(val_loss=[math.nan] * 40, val_accuracy=lost) == "non-finite"


@pytest.mark.parametrize(
    ("scores", "given"), [([*RISEN, *[0.5] * 10], 32), (RISEN, 0), ([0.0] * 40, 0), ([0.5] * 40, 0)]
)
def test_a_score_that_is_kept_tells_where_no_loss_is_logged(scores: list[float], given: float):
    found = judged("validation_turns", ep_rew_mean=scores)
    assert (found.outcome, found.facts["score"]) == ("score-kept", "ep_rew_mean")
    assert found.facts["given"] == pytest.approx(given, abs=3)
    assert judged("validation_turns", ep_rew_mean=[0.1, 0.2]).outcome == NO_DATA
    swings = [0.3, 0.8, 0.2, 0.9, 0.3, 0.7, 0.95, 0.2, 0.1, 0.9, 0.1, 0.2, 0.1, 0.8, 0.1, 0.1]
    assert (
        judged("validation_turns", ep_rew_mean=swings).outcome == NO_DATA
    )  # neither lost for sure, nor kept


class TestNeverEarns:
    """A reward that stays where it began."""

    NOISE = (3.0, -1.0, 4.0, -2.0, 0.0, -4.0, 1.0, 2.0, -3.0, 0.5) * 4

    FLAT = (*[2.0, 2.001] * 20,)

    @pytest.mark.parametrize("name", ["rollout/ep_rew_mean", "mean_return", "avg_reward"])
    def test_within_its_noise(self, name: str):
        found = judged("learned", loss=list(self.FLAT), **{name: [20 + one for one in self.NOISE]})
        assert (found.outcome, found.facts["reward"], found.facts["rows"]) == ("earns-nothing", name, 40)
        assert found.facts["gain"] < found.facts["bound"]
        assert (found.measured < found.bound, found.curve.signal) == (True, name)
        alone = judged("learned", **{name: [20 + one for one in self.NOISE]})
        assert alone.outcome == "earns-nothing"

    @pytest.mark.parametrize(
        ("columns", "outcome"),
        [
            ({"avg_reward": [3.9] * 30}, "one-reward"),
            ({"avg_reward": [3.9] * 29}, NOT_YET),
            ({"avg_reward": [3.9] * 39 + [4.0]}, NOT_YET),
            ({"avg_reward": [0.0] * 40, "loss": falling(40, 4.0, 0.5)}, "one-reward"),
            ({"avg_reward": [0.0] * 30, "mean_return": RISEN, "loss": falling(30, 4.0, 0.5)}, "earns"),
            ({"avg_reward": [0.0] * 40, "reward": [0.0, 1.0] * 20, "loss": falling(40, 4.0, 0.5)}, "yes"),
            ({"avg_reward_scale": [0.5] * 40, "loss": falling(40, 4.0, 0.5)}, "yes"),
            (
                {"reward": [-1.0] * 400, "loss": falling(400, 4.0, 0.5)},
                "yes",
            ),  # of each step, as in MountainCar
            ({"score": [0.0] * 60, "loss": falling(60, 4.0, 0.5)}, "yes"),
            ({"avg_reward": [500.0] * 40}, NOT_YET),  # perhaps all that there is to earn
        ],
    )
    def test_one_number_at_every_row(self, columns: dict[str, list[float]], outcome: str):
        rows = len(next(iter(columns.values())))
        found = judged("learned", step=[10 * row for row in range(rows)], **columns)
        assert found.outcome == outcome

    def test_one_episode_a_row_may_have_yet_to_meet_a_reward(self):
        assert judged("learned", avg_reward=[0.0] * 119).outcome == NOT_YET
        assert judged("learned", avg_reward=[0.0] * 120).outcome == "one-reward"

    RARE = tuple(0.0625 if random.Random(row).random() < 0.2 else 0.0 for row in range(160))

    def test_one_that_is_rarely_above_0_and_not_oftener_at_the_end(self):
        assert judged("learned", reward=list(self.RARE)).outcome == "earns-nothing"
        few = judged("learned", reward=list(self.RARE[:119]))
        assert (few.outcome, few.facts) == (NOT_YET, {"rows": 119, "needed": 120})
        assert judged("learned", reward=[*self.RARE[:120], *[0.25, 0.0] * 20]).outcome != "earns-nothing"
        assert (
            judged("learned", reward=[-one for one in self.RARE]).outcome != "earns-nothing"
        )  # 0 is the best

    def test_single_episodes_tell_less_than_means_do(self):
        rewards = [20 + one for _ in range(4) for one in self.NOISE]
        assert judged("learned", episode_reward=rewards[:90]).outcome == "earns-nothing"
        assert judged("learned", episode_reward=rewards[:89]).outcome == NOT_YET
        assert judged("learned", ep_rew_mean=rewards[:30]).outcome == "earns-nothing"
        assert judged("learned", ep_rew_mean=rewards[:29]).outcome == NOT_YET

    @pytest.mark.parametrize(
        ("counter", "apart", "least"),
        [
            *[("episode", 1, 90), ("episode", 2, 60), ("episode", 50, 60)],
            *[("frame", 900, 90), ("frame", 2000, 60), ("frame", 6400, 60)],
        ],
    )
    def test_an_evaluation_now_and_then_tells_of_the_episodes_between_too(
        self, tmp_path: Path, counter: str, apart: int, least: int
    ):
        rewards = [20 + one for _ in range(4) for one in self.NOISE]
        for rows, outcome in ((least - 1, NOT_YET), (least, "earns-nothing")):
            log = tmp_path / f"{rows}.csv"
            lines = (f"{apart * row},{reward}" for row, reward in enumerate(rewards[:rows]))
            log.write_text("\n".join([f"{counter},episode_reward", *lines]))
            assert apply("learned", readers.read(log), numbers("learned")).outcome == outcome

    @pytest.mark.parametrize(
        ("name", "last", "outcome"),
        [
            ("epsilon", 0.3, "earns-nothing"),
            ("epsilon", 0.8, NOT_YET),
            ("rollout/exploration_rate", 0.8, NOT_YET),
            ("eps", 1e-8, "earns-nothing"),  # of an optimizer
            ("eps", 90.0, "earns-nothing"),  # episodes
            ("steps_epsilon_greedy", 0.8, NOT_YET),
        ],
    )
    def test_while_most_actions_are_drawn_at_random_nothing_is_said(
        self, name: str, last: float, outcome: str
    ):
        rewards = [20 + one for _ in range(4) for one in self.NOISE]
        drawn = [1 + (last - 1) * row / 159 for row in range(160)]
        assert judged("learned", episode_reward=rewards, **{name: drawn}).outcome == outcome

    def test_one_that_fell_within_its_noise_is_not_lost(self):
        rewards = [40.0 + 8 * one - row / 8 for row, one in enumerate([*self.NOISE] * 4)]
        assert judged("learned", episode_reward=rewards).outcome == "earns-nothing"
        sure = [40.0 + 4 * one - row / 5 for row, one in enumerate([*self.NOISE] * 4)]
        assert judged("learned", episode_reward=sure).outcome != "earns-nothing"
        fell = [40.0 + one - row / 5 for row, one in enumerate([*self.NOISE] * 4)]
        assert judged("learned", episode_reward=fell).outcome != "earns-nothing"

    @pytest.mark.parametrize(
        "columns",
        [
            {"ep_rew_mean": [20 + one + row / 4 for row, one in enumerate(NOISE)]},  # it rises
            {"ep_rew_mean": [20 + one for one in NOISE[:29]] + [None] * 11},  # few
            {"ep_rew_mean": [500.0] * 40},  # perhaps all that there is to earn
            {"ep_rew_mean": [498 + one / 4 for one in NOISE]},  # and so within its noise
            {"ep_rew_mean": list(NOISE), "eval/mean_reward": [float(row) for row in range(40)]},
            {"rewards/chosen": list(NOISE)},
            {"ep_rew_mean": list(NOISE), "reward": [float(row) for row in range(40)]},  # however few
            {"ep_rew_mean": list(NOISE), "lr": [row / 1e5 for row in range(40)]},  # in warm-up
            {"ep_rew_mean": list(NOISE), "step": [*range(5000, 5040)]},  # a log that begins mid-way
            {"episode_reward": list(NOISE)},  # of single episodes that is few
        ],
    )
    def test_else_the_loss_decides(self, columns: dict[str, list]):
        assert judged("learned", loss=list(self.FLAT), **columns).outcome in ("no", "earns", NO_DATA, NOT_YET)

    def test_a_loss_that_came_down_has_learned_whatever_the_reward_says(self):
        assert judged("learned", loss=CALM, ep_rew_mean=list(self.NOISE)).outcome == "yes"


def test_a_reward_that_rises_answers_what_the_loss_can_not():
    earned = [20.0 + row / 2 for row in range(40)]
    found = judged("learned", ep_rew_mean=earned)
    assert (found.outcome, found.facts["reward"]) == ("earns", "ep_rew_mean")
    assert (found.facts["top"], found.facts["best"]) == (pytest.approx(20.75), pytest.approx(38.75))
    kept = judged("validation_turns", loss=CALM, ep_rew_mean=earned)
    assert (kept.outcome, kept.facts["score"]) == ("score-kept", "ep_rew_mean")


class TestSinksWhileLearning:
    """A score that falls from evaluation to evaluation, while the training loss falls on."""

    UP = (24.5, 26.3, 27.3, 27.5)

    @pytest.mark.parametrize(
        ("since", "outcome"),
        [
            ((27.2, 27.1, 27.0, 26.8, 26.6), "score-lost"),  # 30 % of the gain
            ((27.2, 27.1, 27.0, 26.9, 26.85), NO_DATA),  # 22 %
            ((27.2, 26.9, 27.2, 27.1, 26.6), NO_DATA),  # not in order
            ((27.2, 27.0, 26.8, 26.6), NO_DATA),  # few
            ((27.2, 27.1, 27.0, 26.8, 26.5, 26.6), NO_DATA),  # it may come back
        ],
    )
    def test_in_order(self, since: tuple[float, ...], outcome: str):
        scores = [*self.UP, *since]
        found = judged("validation_turns", loss=falling(len(scores), 1.0, 0.5), PSNR=scores)
        assert found.outcome == outcome
        if outcome == "score-lost":
            assert (found.facts["best"], found.facts["best_step"], found.facts["end"]) == (27.5, 3, 26.6)
            assert found.facts["given"] == pytest.approx(30)
            assert found.facts["bound"] == pytest.approx(27.5)  # 3 % of the best
        still = judged("validation_turns", loss=[1.0] * len(scores), PSNR=scores)
        assert still.outcome == NO_DATA  # training hasn't learned on

    def test_or_lies_below_many_before_it(self):
        rng = random.Random(3)
        scores = [*[10 + row * 3.7 for row in range(10)], *[rng.uniform(44, 47) for _ in range(20)]]
        scores += [rng.uniform(28, 36) for _ in range(10)]
        scores[-1] = 35.5  # neither in order nor the lowest
        loss = falling(len(scores), 1.0, 0.5)
        found = judged("validation_turns", loss=loss, acc=scores)
        assert found.outcome == "score-lost"
        assert found.facts["given"] < 50
        assert outcome(loss, acc=[*scores[:30], *scores[:10]]) == NO_DATA  # some stand above where it was
        assert outcome([1.0] * len(scores), acc=scores) == NO_DATA  # training hasn't learned on


def test_noise_as_large_as_the_fall_where_the_last_ones_lie_below_many():
    rng = random.Random(1)
    rewards = [2800.0, 3800.0, *[rng.uniform(4000, 7200) for _ in range(24)], 3100.0, 2900.0, 3090.0, 3150.0]
    assert judged("validation_turns", avg_reward=rewards).outcome == "score-lost"
    assert judged("validation_turns", avg_reward=[*rewards, 6100.0]).outcome != "score-lost"
    assert judged("validation_turns", avg_reward=rewards[-12:]).outcome != "score-lost"


class TestSingleEpisodes:
    """Rewards whose noise few rows don't tell: a level is a median of several."""

    NOISE = tuple(random.Random(5).gauss(0, 0.03) for _ in range(60))

    def test_one_good_episode_is_no_level(self):
        rewards = [-1 + one for one in self.NOISE[:39]]
        rewards[8:10] = [24.0, 23.0]
        assert judged("validation_turns", reward=rewards, loss=CALM[:39]).outcome == NO_DATA

    def test_a_collapse_of_many_rows_is_one(self):
        rewards = [min(0.1 + row / 50, 0.8) if row < 36 else 0.05 for row in range(60)]
        rewards = [one + more for one, more in zip(rewards, self.NOISE, strict=True)]
        assert judged("validation_turns", reward=rewards).outcome == "score-lost"

    @pytest.mark.parametrize("name", ["win_rate", "success rate", "eval/success_rate"])
    def test_what_is_won_of_an_opponent_may_be_lost_as_it_learns(self, name: str):
        assert outcome(**{name: [*RISEN, *[0.15] * 10]}) == NO_DATA
