"""What a log's columns are, told by its rows: resumed on other data, or divided at first."""

from pathlib import Path

import polars as pl
import pytest

from tutor.run.normalise import normalise
from tutor.run.other_data import other_data_from

BEFORE = [0.2, 0.4, 0.6]
SINCE = [0.01 * row for row in range(1, 31)]


@pytest.mark.parametrize(
    ("epochs", "row"),
    [
        ([*BEFORE, *SINCE], 3),
        ([*BEFORE, *BEFORE, *SINCE], 6),
        ([*BEFORE, float("nan"), *SINCE], 4),
        ([*BEFORE, *(0.6 + one for one in SINCE)], None),
        ([*BEFORE, *SINCE[:5]], None),
        ([*BEFORE * 5, *SINCE], None),
        ([1.0, 2.0, 3.0, *(float(row) for row in range(30))], None),
        ([], None),
    ],
    ids=["once", "twice", "beside-nan", "goes-on", "few-rows", "often", "whole-epochs", "empty"],
)
def test_of_a_run_that_was_resumed_on_other_data_the_epoch_begins_anew(epochs: list[float], row: int | None):
    assert other_data_from(pl.DataFrame({"epoch": pl.Series(epochs, dtype=pl.Float64)})) == row


def test_a_log_without_epochs_tells_nothing():
    assert other_data_from(pl.DataFrame({"step": [1, 2, 3]})) is None
    assert other_data_from(pl.DataFrame({"epoch": [5, 6, *range(30)]})) is None


def test_that_a_run_was_resumed_on_other_data_is_said(tmp_path: Path):
    epochs = [*BEFORE, *SINCE]
    frame = pl.DataFrame({"step": range(100, 100 * len(epochs) + 100, 100), "loss": 2.0, "epoch": epochs})
    _, remarks = normalise(frame, {}, tmp_path)
    assert [remark.facts for remark in remarks if remark.key == "other_data"] == [{"step": 400}]
    assert "step 400" in remarks[0].says("en")


@pytest.mark.parametrize(
    ("losses", "every", "divided"),
    [
        ([1.05, 10.3, 9.5, 9.1, 8.7], 10, True),
        ([1.05, 10.3, 9.5, 9.1, 8.7], 20, False),
        ([1.05, 10.3, 9.5, 9.1, 10.4], 10, False),
        ([1.05, 10.3, 9.5, 9.1, 1.2], 10, False),
        ([1.05, 10.3, 9.5], 10, False),
        ([1.05, 1.04, 1.03, 1.02], 1, False),
        ([0.0, 10.3, 9.5, 9.1], 10, False),
        ([float("nan"), 10.3, 9.5, 9.1], 10, False),
        ([-1.0, -10.0, -11.0, -12.0], 10, False),
    ],
)
def test_a_first_loss_of_one_batch_divided_by_many_is_passed_over(
    losses: list[float], every: int, divided: bool, tmp_path: Path
):
    frame = pl.DataFrame({"step": range(0, every * len(losses), every), "loss": losses})
    rows, remarks = normalise(frame, {}, tmp_path)
    assert ("first_divided" in [remark.key for remark in remarks]) is divided
    assert (rows["loss"][0] is None) is divided
