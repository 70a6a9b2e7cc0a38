"""Runs whose last messages say that every step overflows, until the trainer gives up."""

from pathlib import Path

import pytest

from tests.readers.test_printed import read

FAIRSEQ = (
    "2026-03-01 10:00:00 | INFO | train_inner | epoch 001: {at:6d} / 400 loss={loss:.3f}, "
    "num_updates={at}, lr=1e-05, gnorm=1.300, loss_scale=128\n"
)
OVERFLOWS = {
    "fairseq": (
        FAIRSEQ,
        "2026-03-01 10:41:00 | INFO | fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, "
        "setting loss scale to: {scale}\n",
    ),
    "DeepSpeed": (
        "[INFO] [logging.py] step={at}, skipped=0, lr=[0.0001], mom=[[0.9, 0.999]]\nloss: {loss:.4f}\n",
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 1.0, reducing to {scale}\n",
    ),
    "apex": (
        "Step: {at}, Loss: {loss:.4f}\n",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}\n",
    ),
}


def text(name: str, overflows: int, again: int = 1) -> str:
    row, message = OVERFLOWS[name]
    rows = "".join(row.format(at=10 * at, loss=8 - at / 10) for at in range(1, 21))
    return rows + "".join(again * message.format(scale=64 * 0.5**at) for at in range(overflows))


@pytest.mark.parametrize("name", OVERFLOWS)
def test_each_is_a_row_after_the_last(tmp_path: Path, name: str):
    run = read(tmp_path, text(name, 8))
    assert run.steps.to_list() == [*range(10, 201, 10), *range(201, 209)]
    assert run["loss_scale"].to_list()[-8:] == [64 * 0.5**at for at in range(8)]
    assert run["loss"].drop_nulls().to_list() == pytest.approx([8 - at / 10 for at in range(1, 21)])


@pytest.mark.parametrize("name", OVERFLOWS)
def test_one_or_two_are_usual(tmp_path: Path, name: str):
    assert read(tmp_path, text(name, 2)).steps.to_list() == [*range(10, 201, 10)]


def test_what_two_processes_say_happened_once(tmp_path: Path):
    assert len(read(tmp_path, text("apex", 8, again=2))) == 28


def test_of_fairseqs_each_is_a_step_that_was_skipped(tmp_path: Path):
    assert read(tmp_path, text("fairseq", 8))["skipped_steps"].to_list()[-8:] == [*range(1, 9)]


def test_epochs_are_no_steps_that_overflow(tmp_path: Path):
    rows = "".join(f"Epoch: {at}, Loss: {8 - at / 10:.4f}\n" for at in range(1, 21))
    message = OVERFLOWS["apex"][1]
    run = read(tmp_path, rows + "".join(message.format(scale=0.5**at) for at in range(8)))
    assert (run.steps.to_list(), run["loss_scale"][-1]) == ([*range(1, 21)], 0.5**7)
