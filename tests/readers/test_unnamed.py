"""Numbers without names: what can be told of them by their places, and what the user has to say."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import same_numbers
from tests.readers.texts import UNNAMED
from tutor import readers
from tutor.run import BadRunError, Run, called

FALLING = [f"{4 - at / 4}" for at in range(9)]


def read(tmp_path: Path, text: str, name: str = "log.txt") -> Run:
    (tmp_path / name).write_text(text)
    return readers.read(tmp_path / name)


def keys(run: Run) -> list[str]:
    return [one.key for one in run.remarks]


@pytest.mark.parametrize("shape", UNNAMED)
def test_a_counter_and_a_column_are_steps_and_the_loss(tmp_path: Path, shape: str):
    run = read(tmp_path, UNNAMED[shape])
    assert readers.sources(run.path)[0].format == "numbers without names"
    assert run.steps.to_list()[:3] == [0, 10, 20]
    assert run["loss"][0] == 4.25
    assert keys(run) == ["unnamed"]
    assert "step = `1`, loss = `2`" in run.remarks[0].says("en")


@pytest.mark.parametrize(
    "text",
    [
        ",".join(FALLING),
        "[" + ", ".join(FALLING) + "]\n",
        "[\n  " + ",\n  ".join(FALLING) + "\n]\n",
        " ".join(FALLING) + "\n",
        "\n".join(FALLING),
    ],
)
def test_values_alone_are_counted(tmp_path: Path, text: str):
    run = read(tmp_path, text)
    assert (run.steps.to_list(), run["loss"].to_list()) == (list(range(9)), [float(one) for one in FALLING])
    assert keys(run) == ["unnamed", "no_steps"]


def test_a_counter_that_begins_again_goes_on(tmp_path: Path):
    text = "".join(f"{1 + at % 5},{9 - at / 4}\n" for at in range(12))
    run = read(tmp_path, text, "loss_log.txt")
    assert (run.steps.to_list(), run["loss"][-1]) == (list(range(1, 13)), 6.25)


def test_a_line_longer_than_what_is_looked_at_is_read_whole(tmp_path: Path):
    run = read(tmp_path, ",".join(f"{9 - at / 20_000:.6f}" for at in range(40_000)))
    assert (len(run), run["loss"][-1]) == (40_000, pytest.approx(7.00005, abs=1e-6))


def test_of_several_columns_the_command_that_is_named_works(tmp_path: Path):
    text = "".join(f"{at},{4 - at / 4},{5 - at / 8}\n" for at in range(9))
    with pytest.raises(BadRunError, match="nothing names its 3 columns") as caught:
        read(tmp_path, text)
    (said,) = re.findall(r"--map (\S+)", str(caught.value))
    with called.called(called.parsed([said])):
        run = read(tmp_path, text)
    assert (run.steps.to_list(), run["loss"][1], run["val_loss"][1]) == (list(range(9)), 3.75, 4.875)
    assert keys(run) == ["called", "called", "unnamed"]


def test_two_columns_of_a_file_called_after_its_losses_are_training_and_validation(tmp_path: Path):
    run = read(tmp_path, "".join(f"{at},{4 - at / 4},{5 - at / 8}\n" for at in range(9)), "loss_history.csv")
    assert (run["loss"][1], run["val_loss"][1], keys(run)) == (3.75, 4.875, ["unnamed"])


@pytest.mark.parametrize("name", ["loss.txt", "log.txt"])
@pytest.mark.parametrize("row", ["{at} {falls} {rises}", "{at} {rises} {falls}"])
def test_what_rises_as_a_share_while_the_loss_falls_is_no_validation_loss(
    tmp_path: Path, name: str, row: str
):
    """What was right, it seems; taken for a loss, every such run would overfit."""
    rows = [row.format(at=at, falls=0.9 - at / 20, rises=0.5 + at / 20) for at in range(9)]
    run = read(tmp_path, "\n".join(rows) + "\n", name)
    assert (run["loss"][8], run.has("val_loss"), keys(run)) == (pytest.approx(0.5), False, ["unnamed"])


@pytest.mark.parametrize("ends", [(4, 5), (0.5, 0.6), (0.5, 1.1)])
def test_of_two_that_rise_or_fall_together_or_beyond_1_none_is_the_loss(
    tmp_path: Path, ends: tuple[float, float]
):
    rows = [f"{at} {one + at / 20} {other + at / 20}" for at, (one, other) in enumerate([ends] * 9)]
    with pytest.raises(BadRunError, match="nothing names its 3 columns"):
        read(tmp_path, "\n".join(rows) + "\n", "log.txt")


@pytest.mark.parametrize("name", ["loss_acc.csv", "log.csv"])
def test_of_two_columns_one_of_which_may_be_something_else_the_user_is_asked(tmp_path: Path, name: str):
    with pytest.raises(BadRunError, match="nothing names its 3 columns"):
        read(tmp_path, "".join(f"{at},{4 - at / 4},{5 - at / 8}\n" for at in range(9)), name)


def test_what_is_said_of_the_places_comes_first(tmp_path: Path):
    with called.called({"loss": "1", "step": "2"}):
        run = read(tmp_path, UNNAMED["commas"].replace("nan", "4").replace("4.25", "5").replace(".5", ""))
    assert (run.steps.dtype.is_integer(), "unnamed" in keys(run)) == (True, False)


@pytest.mark.parametrize("name", ["accuracy.txt", "lr.csv", "log.txt"])
def test_what_may_be_something_else_is_asked_for(tmp_path: Path, name: str):
    """A share that rises is no loss, and a file's name may say that its numbers are none."""
    values = [at / 10 for at in range(9)] if name == "log.txt" else [4 - at / 4 for at in range(9)]
    with pytest.raises(BadRunError, match=r"if they are losses, say so with --map loss=1"):
        read(tmp_path, "".join(f"{value}\n" for value in values), name)
    with called.called({"loss": "1"}):
        assert len(read(tmp_path, "".join(f"{value}\n" for value in values), name)) == 9
    assert len(read(tmp_path, "".join(f"{value}\n" for value in values), "losses.txt")) == 9


@pytest.mark.parametrize(
    "text",
    [
        "1\n2\n3\n4\n5\n6\n",  # labels
        "0.5\n0.4\n0.3\n",  # too few
        "a list: 0.5 0.4 0.3 0.2 0.1\n",
        "10:20\n10:21\n10:19\n10:22\n10:23\n",  # no counter
        "v 0.5 0.4 0.3\n" * 9,
    ],
)
def test_other_numbers_are_no_log(tmp_path: Path, text: str):
    with pytest.raises(BadRunError):
        read(tmp_path, text)


def test_beside_a_log_with_names_a_list_of_numbers_is_no_other_run(tmp_path: Path):
    (tmp_path / "numbers.txt").write_text(UNNAMED["commas"])
    assert [one.path.name for one in readers.sources(tmp_path)] == ["numbers.txt"]
    (tmp_path / "out.log").write_text("Epoch 1, Loss: 4\nEpoch 2, Loss: 3\n")
    assert [one.path.name for one in readers.sources(tmp_path)] == ["out.log"]


def test_lines_that_are_no_row_are_counted(tmp_path: Path):
    rows = "".join(f"{at} {4 - at / 40}\n" for at in range(60))
    run = read(tmp_path, f"{rows}killed\n99 1 2\n")
    assert len(run) == 60
    assert ("unnamed_odd", {"count": 2}) in [(one.key, one.facts) for one in run.remarks]
    assert run.unseen


@given(
    losses=st.lists(st.floats(width=32), min_size=5, max_size=40),
    between=st.sampled_from([",", ", ", ";", "\t", " ", "  "]),
    counted=st.booleans(),
)
def test_any_numbers_come_back(tmp_path: Path, losses: list[float], between: str, counted: bool):
    rows = [f"{at}{between}{loss!r}" if counted else repr(loss) for at, loss in enumerate(losses)]
    if losses[0] == 0 or (not counted and all(loss == loss // 1 for loss in losses)):
        return  # a first 0 may be no measure
    run = read(tmp_path, "\n".join(rows), "losses.txt")
    assert run.steps.to_list() == list(range(len(losses)))
    assert same_numbers(run["loss"], losses)


@pytest.mark.parametrize(("rows", "passed_over"), [(11, True), (9, False)])
def test_a_first_loss_of_exactly_0_was_set_up_and_not_measured(tmp_path: Path, rows: int, passed_over: bool):
    run = read(tmp_path, "\n".join(["0", *(f"{2 - at / 20:.3f}" for at in range(rows - 1))]), "losses.txt")
    assert run["loss"][0] == (None if passed_over else 0.0)
    assert ("first_zero" in [one.key for one in run.remarks]) is passed_over


@pytest.mark.parametrize(
    "wrapped",
    [
        "tensor({}, device='cuda:0')",
        "tensor({}, device='cuda:0', dtype=torch.float64, grad_fn=<MeanBackward0>)",
        "array({}, dtype=float32)",
        "np.float64({})",
    ],
)
def test_numbers_as_pytorch_and_numpy_print_them(tmp_path: Path, wrapped: str):
    values = [3.25, 2.5, 2.25, 2.125, 2.0, "nan"]
    run = read(tmp_path, "\n".join(wrapped.format(one) for one in values), "output.log")
    assert run["loss"].to_list()[:5] == values[:5]
    assert math.isnan(run["loss"][5])
    counted = read(tmp_path, "\n".join(f"{at} {wrapped.format(3 - at / 8)}" for at in range(6)), "output.log")
    assert (counted.steps.to_list(), counted["loss"][5]) == ([0, 1, 2, 3, 4, 5], 2.375)


@pytest.mark.parametrize("gap", [1, 100])
def test_a_counter_may_stand_last(tmp_path: Path, gap: int):
    text = "".join(f"{4 - at / 4}\t{5 - at / 8}\t{gap * at}\n" for at in range(9))
    run = read(tmp_path, text, "losses.txt")
    assert run.steps.to_list() == [gap * at for at in range(9)]
    assert (run["loss"][-1], run["val_loss"][-1]) == (2.0, 4.0)
    assert "step = `3`, loss = `1`, val_loss = `2`" in run.remarks[0].says("en")


def test_a_counter_that_stands_last_may_follow_any_loss(tmp_path: Path):
    run = read(tmp_path, "".join(f"{-1 - at / 4} {at}\n" for at in range(9)))
    assert (run.steps.to_list(), run["loss"][-1]) == ([*range(9)], -3.0)


def test_epochs_stand_above_the_rows_of_each(tmp_path: Path):
    rows = [
        f"Epoch: {epoch}\n" + "".join(f"{9 - epoch - at / 8}, {100 * at}\n" for at in range(5))
        for epoch in (0, 1)
    ]
    run = read(tmp_path, "".join(rows))
    assert (len(run), run["loss"][0], run["loss"][-1]) == (10, 9.0, 7.5)
    assert (run.steps.diff().drop_nulls() > 0).all()


def test_a_file_called_after_rewards_holds_rewards(tmp_path: Path):
    run = read(tmp_path, "".join(f"{at},{at * 10 - 40}\n" for at in range(9)), "rewards.csv")
    assert run.frame["reward"].to_list() == [at * 10 - 40 for at in range(9)]
    assert not run.has("loss")
