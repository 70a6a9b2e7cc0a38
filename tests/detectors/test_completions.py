"""What reinforcement learning of a language model logs of its answers."""

import math

import pytest

from tests.detectors.test_course import judged
from tutor.run import scoring

REWARD = [0.0625, 0.0, 0.0, 0.0, 0.0625, 0.0625, 0.0, 0.0625]
ALIKE = [0.75, 1.0, 1.0, 1.0, 0.75, 0.75, 1.0, 0.75]
RISES = [0.1 * row for row in range(8)]


def outcome(**columns: list[float]) -> str:
    return judged("learned", loss=[-0.02, 0.01, 0.0, 0.0, -0.03, -0.02, 0.0, 0.02], **columns).outcome


def test_groups_of_which_all_earn_the_same_teach_nothing():
    found = judged("learned", reward=REWARD, frac_reward_zero_std=ALIKE)
    assert found.outcome == "no-contrast"
    assert (found.facts["share"], found.facts["count"], found.measured) == (87.5, 8, 0.875)
    assert found.curve is not None
    assert found.curve.signal == "frac_reward_zero_std"


def test_nor_do_they_while_the_learning_rate_warms_up():
    assert outcome(reward=REWARD, frac_reward_zero_std=ALIKE, lr=RISES) == "no-contrast"


@pytest.mark.parametrize(
    "columns",
    [
        {"frac_reward_zero_std": [0.4] * 8, "reward": REWARD},  # in more than half they differ
        {"frac_reward_zero_std": ALIKE, "reward": RISES},  # all are right by now, perhaps
        {"frac_reward_zero_std": [*ALIKE[:3], *[math.nan] * 5], "reward": REWARD},  # few rows
        {"completions/clipped_ratio": [0.8] * 8, "reward": REWARD},
        {"clip_ratio": [1.0] * 8, "reward": REWARD},  # of PPO's ratio
    ],
)
def test_else_they_may(columns: dict[str, list[float]]):
    assert outcome(**columns) not in ("no-contrast", "cut-off")


@pytest.mark.parametrize(
    "name", ["completions/clipped_ratio", "train/completions/clipped_ratio", "response_length/clip_ratio"]
)
def test_answers_that_are_cut_off_have_no_end_to_be_rewarded(name: str):
    assert outcome(reward=REWARD, **{name: [0.9, 0.98, 0.975, 0.988, 0.931, 0.944, 0.956, 0.95]}) == "cut-off"


def test_neither_is_a_reward():
    for name in ("frac_reward_zero_std", "completions/clipped_ratio"):
        assert not scoring.is_reward(name)
