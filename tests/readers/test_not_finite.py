"""Messages in words that the loss is NaN or Inf, by which a loop stops or passes over a batch."""

import math
from pathlib import Path

import pytest

from tests.readers.test_printed import losses, read
from tutor.readers.common.phrases import in_pairs
from tutor.run import Run

SAY_SO = [
    "Loss is nan, stopping training",
    "FloatingPointError: Loss became infinite or NaN at iteration!",
    "[WARNING] NaN loss detected! Skipping batch.",
    "WARNING: non-finite loss, ending training tensor([nan], device='cuda:0')",
    "Encountered NaN loss. Stopping.",
    "NaN detected in loss, exiting",
    "The loss returned in `training_step` is nan.",
    "Invalid loss, terminating training",
    "RuntimeWarning: loss is NaN or Inf, skipping this step",
    "ValueError: NaN loss encountered during training",
    "2026-01-01 10:00:00,123 - INFO - NaN/Inf loss detected, skipping batch",
    "ERROR:tensorflow:Model diverged with loss = NaN.",
    "NanLossDuringTrainingError: NaN loss during training.",
    "The training loss went to NaN; aborting",
    "RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",
    "AssertionError: Non-finite loss: nan",
    "WARNING: NaN/Inf loss at step, skipping update",
]
DONT = [
    "no NaN loss detected",
    "if loss is nan: stop",
    "Stop training when loss is NaN: true",
    "early stopping if the loss is nan",
    "stop_if_nan_loss: True",
    'raise ValueError(f"Loss is {loss_value}, stopping training")',
    "loss is 2.31",
    "NaN loss detected: 0",
    "NaN loss detected? No",
    "Training finished. NaN loss detected in 0 batches",
    "EarlyStopping: best val loss is inf, saving model",
    "# NaN loss detected -> stop",
    """    raise ValueError('NaN loss detected at step %d')""",
    "nan_policy: NaN loss (skip batch)",
    "aux loss is nan for empty batch, skipped",
    "[WARN] NaN validation loss detected, skipping evaluation",
    "3/9 ━━━━ 4s 1s/step - dice_coef: nan - loss: nan - val_dice_coef: nan - val_loss: nan",
    "epoch 4, train loss: nan val loss: nan, time 3s",
]


def rows(first: int, last: int) -> str:
    return "".join(f"Step: {at}, Loss: {5 - at / 10:.2f}\n" for at in range(first, last))


def nans(run: Run) -> list[int]:
    return run.steps.filter(run["loss"].is_nan().fill_null(False)).to_list()


@pytest.mark.parametrize("message", SAY_SO)
def test_a_run_that_stops_at_such_a_message_ends_in_nan(tmp_path: Path, message: str):
    run = read(tmp_path, rows(0, 20) + message + "\n")
    assert losses(run)[:-1] == losses(read(tmp_path, rows(0, 20), "without.txt"))
    assert nans(run) == [20]
    assert [one.facts for one in run.remarks if one.key == "nan_told"] == [{"count": 1}]


@pytest.mark.parametrize("line", DONT)
def test_what_may_happen_or_did_not_is_no_message(tmp_path: Path, line: str):
    assert in_pairs(line) == line
    assert "nan_told" not in [one.key for one in read(tmp_path, rows(0, 20) + line + "\n").remarks]


def test_a_message_between_two_rows_is_of_the_step_after_the_first(tmp_path: Path):
    text = "".join(f"Step: {at}, Loss: 3.{at:02}\n" for at in range(0, 50, 5))
    lines = text.splitlines(keepends=True)
    lines[4:4] = ["NaN loss detected! Skipping batch.\n"]
    run = read(tmp_path, "".join(lines))
    assert nans(run) == [16]
    assert run["loss"].count() == 11


def test_where_the_next_row_is_of_that_step_only_the_first_message_counts(tmp_path: Path):
    message = "NaN loss detected, skipping batch\n"
    text = rows(0, 5) + message + rows(5, 9) + message + rows(9, 12)
    run = read(tmp_path, text)
    assert nans(run) == [5]
    assert run["loss"].count() == 12
    assert next(one.facts["count"] for one in run.remarks if one.key == "nan_told") == 2


@pytest.mark.parametrize(
    "message",
    ["Batch 30: Invalid loss, terminating training\n", "RuntimeError: Loss is NaN at batch 30\n"],
)
def test_what_a_message_counts_itself_is_no_counter_of_the_run(tmp_path: Path, message: str):
    text = "".join(f"Epoch {at}, Loss: {5 - at / 4:.2f}\n" for at in range(1, 9))
    run = read(tmp_path, text + message)
    assert (run.steps.to_list(), nans(run), run.counts) == ([*range(1, 10)], [9], "epochs")


def test_a_run_that_was_started_anew_keeps_its_values(tmp_path: Path):
    again = "".join(f"Step: {at}, Loss: {4 - at / 50:.2f}\n" for at in range(20))
    text = rows(0, 10) + "Loss is nan, stopping training\n"
    run = read(tmp_path, text + again)
    assert nans(run) == [10]
    assert [one for one in losses(run) if one != "nan"] == [5 - at / 10 for at in range(10)] + [
        round(4 - at / 50, 2) for at in range(20)
    ]


def test_one_above_the_first_loss_may_be_a_setting(tmp_path: Path):
    assert not nans(read(tmp_path, "Loss is nan, stopping training\n" + rows(0, 20)))


@pytest.mark.parametrize(
    "row",
    [
        "step {at:5d} | loss: {loss:.6f} | lr 6.0000e-04 | norm: 0.4300 | dt: 98.00ms\n",
        "iter {at}: loss {loss:.4f}, time 98.00ms, mfu 15.00%\n",
        " iteration {at:8d}/ 100 | consumed samples: 8 | elapsed time per iteration (ms): 400.1 |"
        " lm loss: {loss:.6E} | grad norm: 1.300 | number of skipped iterations:   0 |\n",
    ],
)
def test_what_a_reader_of_its_own_knows_says_it_too(tmp_path: Path, row: str):
    text = "".join(row.format(at=at, loss=5 - at / 10) for at in range(20))
    run = read(tmp_path, text + "AssertionError: found NaN in local forward loss calculation.\n")
    assert nans(run) == [20]
    assert math.isnan(run["loss"][-1])
    assert not nans(read(tmp_path, text, "without.txt"))
