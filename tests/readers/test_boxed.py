"""Boxes of a name and a value a line.

What lies in `fixtures` was printed by stable-baselines3 2.9: PPO in a world of one number, evaluated twice.
"""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor import readers
from tutor.readers import boxed
from tutor.run import BadRunError, Run

PRINTED = Path(__file__).parent / "fixtures" / "sb3-output.txt"
EPOCHS = """---------------------------------------
|             Epoch |               {0} |
|      AverageEpRet |            20.5 |
|            LossPi |          {1} |
|             LossV |             3.5 |
| TotalEnvInteracts |            4e+03 |
---------------------------------------
saved to disk
"""


def read(tmp_path: Path, text: str) -> Run:
    (tmp_path / "train.log").write_text(text)
    return readers.read(tmp_path / "train.log")


def test_what_stable_baselines3_prints():
    run = readers.read(PRINTED)
    assert readers.sources(PRINTED)[0].format == "boxes of names and values"
    assert run.steps.to_list() == [64, 128, 192, 256, 320, 384]
    assert run["loss"].to_list()[:3] == [None, 1.69, 2.48]
    assert run["lr"].drop_nulls().to_list() == [0.0003] * 5
    assert [run[name][2] for name in ("eval/mean_reward", "rollout/ep_rew_mean")] == [15.5, 0.422]
    assert run.aggregation("loss").over == "instant"
    assert [one.key for one in run.remarks] == ["rewarded"]


def test_the_loss_of_other_algorithms_is_a_mean(tmp_path: Path):
    text = PRINTED.read_text().replace("clip_range", "exploring ")
    assert read(tmp_path, text).aggregation("loss").over == "window"


def test_boxes_of_rewards_alone(tmp_path: Path):
    section = "| {name}/ |  |\n"
    box = f"-------\n{section.format(name='rollout')}| ep_rew_mean | {{at}}.5 |\n"
    box += f"{section.format(name='time')}| total_timesteps | {{at}} |\n"
    run = read(tmp_path, "".join(box.format(at=at) for at in (1, 2, 3)))
    assert run.steps.to_list() == [1, 2, 3]
    assert run["rollout/ep_rew_mean"].to_list() == [1.5, 2.5, 3.5]


def test_one_that_begins_and_ends_in_a_box(tmp_path: Path):
    lines = PRINTED.read_text().splitlines(keepends=True)
    run = read(tmp_path, "".join(lines[16:-5]))
    assert run.steps.to_list()[0] == 128
    assert run["loss"][0] == 1.69


def test_a_first_box_without_its_sections_and_counter_names_nothing(tmp_path: Path):
    run = read(tmp_path, "|    loss    | 0.5  |\n|    std     | 0.2  |\n" + PRINTED.read_text())
    assert run["loss"].to_list()[:3] == [None, 1.69, 2.48]
    assert "std" not in run.frame.columns


def test_spinning_ups_epochs(tmp_path: Path):
    run = read(tmp_path, "".join(EPOCHS.format(at, -0.25 * at) for at in range(1, 5)))
    assert (run.steps.to_list(), run.counts) == ([1, 2, 3, 4], "epochs")
    assert run["loss"].to_list() == [-0.25, -0.5, -0.75, -1.0]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"-----\n| width | {at} |\n| loss | mse |\n-----\n" for at in range(3)),  # settings
        "-----\n| step | 1 |\n| loss | 2.5 |\n-----\n",  # one box
        "| step | loss |\n|------|------|\n"
        + "".join(f"| {at} | {4 - at} |\n" for at in range(3)),  # a table
    ],
)
def test_others_are_left_to_others(tmp_path: Path, text: str):
    (tmp_path / "log.txt").write_text(text)
    assert not boxed.sources(tmp_path / "log.txt")


def test_a_nan_shows(tmp_path: Path):
    run = read(tmp_path, PRINTED.read_text().replace("| 2.48 ", "| nan  "))
    assert math.isnan(run["loss"][2])


@given(cut=st.integers(0, 5584), junk=st.binary(max_size=40))
def test_whatever_it_holds_it_is_read_or_refused(tmp_path: Path, cut: int, junk: bytes):
    data = PRINTED.read_bytes()
    (tmp_path / "log.txt").write_bytes(data[:cut] + junk + data[cut:])
    try:
        run = readers.read(tmp_path / "log.txt")
    except BadRunError as error:
        assert b"\0" in junk or not cut  # the first bytes say what packed the file
        assert "\n" not in str(error)
        return
    assert run.steps.to_list() == sorted(set(run.steps.to_list()))
    assert run["loss"].count() >= 3
