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
        ([*BEFORE, 0.02, 0.22, 0.42, *SINCE], 6),
        ([*BEFORE, float("nan"), *SINCE], 4),
        ([*BEFORE, *(0.6 + one for one in SINCE)], None),
        ([*BEFORE, *(0.3 + one for one in SINCE)], None),
        ([*(0.01 * row for row in range(1, 100)), *SINCE], None),
        ([*BEFORE, *SINCE[:5]], None),
        ([*BEFORE * 5, *SINCE], None),
        ([1.0, 2.0, 3.0, *(float(row) for row in range(30))], None),
        ([], None),
    ],
    ids=["once", "twice", "beside-nan", "goes-on", "not-from-0", "whole", "few", "often", "counts", "empty"],
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
    ("losses", "every", "more", "divided"),
    [
        ([1.05, 10.3, 9.5, 9.1, 8.7], 10, {}, True),
        ([1.05, 10.3, 9.5, 9.1, 8.7], 10, {"grad_norm": [5.0, 5.2, 2.0, 1.0, 1.0]}, True),
        ([1.05, 10.3, 9.5, 9.1, 8.7], 10, {"val_loss": [None, 10.3, 9.4, 9.0, 8.8]}, True),
        ([1.05, 10.3, 9.5, 9.1, 8.7], 10, {"grad_norm": [0.5, 80.0, 70.0, 60.0, 9.0]}, False),
        ([1.05, 10.3, 9.5, 9.1, 8.7], 10, {"val_loss": [1.1, 10.3, 9.4, 9.0, 8.8]}, False),
        ([1.05, 10.3, 9.5, 9.1, 8.7], 20, {}, False),
        ([1.05, 10.3, 9.5, 9.1, 10.4], 10, {}, False),
        ([1.05, 10.3, 10.2, 10.1, 10.2], 10, {}, False),
        ([1.05, 10.3, 9.5, 9.1, 1.2], 10, {}, False),
        ([1.05, 10.3, 9.5], 10, {}, False),
        ([1.15, 2.31, 2.2, 2.1, 2.0], 2, {}, False),
        ([1.05, 1.04, 1.03, 1.02], 1, {}, False),
        ([0.0, 10.3, 9.5, 9.1], 10, {}, False),
        ([float("nan"), 10.3, 9.5, 9.1], 10, {}, False),
        ([-1.0, -10.0, -11.0, -12.0], 10, {}, False),
    ],
)
def test_a_first_loss_of_one_batch_divided_by_many_is_passed_over(
    losses: list[float], every: int, more: dict[str, list[float | None]], divided: bool, tmp_path: Path
):
    frame = pl.DataFrame({"step": range(0, every * len(losses), every), "loss": losses} | more)
    rows, remarks = normalise(frame, {}, tmp_path)
    assert ("first_divided" in [remark.key for remark in remarks]) is divided
    assert (rows["loss"][0] is None) is divided
    mid_way, remarks = normalise(frame.with_columns(pl.col("step") + 5000), {}, tmp_path)
    assert "first_divided" not in [remark.key for remark in remarks]
    assert mid_way["loss"][0] is not None


def test_it_is_that_of_the_first_row_that_has_a_loss(tmp_path: Path):
    losses = [None, 1.05, 10.3, 9.5, 9.1, 8.7]
    frame = pl.DataFrame({"step": [0, 1, 11, 21, 31, 41], "loss": losses, "val_loss": [10.4, *[None] * 5]})
    rows, remarks = normalise(frame, {}, tmp_path)
    assert "first_divided" in [remark.key for remark in remarks]
    assert rows["loss"].to_list() == [None, None, 10.3, 9.5, 9.1, 8.7]
