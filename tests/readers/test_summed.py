"""A loss that is printed as the sum of its epoch so far."""

import random

import polars as pl
import pytest

from tests.readers.test_printed import read
from tutor.run.summed import added


def course(epochs: int, rows: int, seed: int = 0) -> list[list[float]]:
    """What each row of each epoch adds: less and less."""
    drawn = random.Random(seed)
    return [[20 * 0.8**epoch * drawn.uniform(0.9, 1.1) for _ in range(rows)] for epoch in range(epochs)]


def sums(parts: list[list[float]]) -> list[float]:
    return [sum(part[: row + 1]) for part in parts for row in range(len(part))]


def test_what_each_row_adds_is_the_loss():
    parts = course(4, 5)
    found = added(pl.Series(sums(parts)))
    assert found is not None
    assert found.drop_nulls().to_list() == pytest.approx([one for part in parts for one in part[1:]])
    assert found.is_null().to_list() == [row == 0 for part in parts for row in range(len(part))]


@pytest.mark.parametrize("blank", [None, 2])
def test_rows_without_a_loss_stay_so(blank: int | None):
    values: list[float | None] = [*sums(course(4, 5))]
    if blank is not None:
        values.insert(blank, None)
    found = added(pl.Series(values))
    assert found is not None
    assert len(found) == len(values)
    assert blank is None or found[blank] is None


@pytest.mark.parametrize(
    "values",
    [
        [],
        [None] * 8,
        [3.0] * 30,
        [3 - at / 50 for at in range(100)],  # it falls
        [0.1 * 1.5**at for at in range(30)],  # it diverges, once
        [0.1 * 3**at for at in range(6)] * 4,  # it spikes, again and again
        [1.0, 2.0, 3.1] * 2,  # two epochs are no rule
        [0.0, 0.0, 0.0, -4.0, 0.0, 1.5, 0.0, 0.0, 0.0],  # nothing is added
        [*sums(course(4, 5)), float("nan")],
    ],
)
def test_no_other_loss_is_taken_for_a_sum(values: list[float | None]):
    assert added(pl.Series(values, dtype=pl.Float64)) is None


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_sum(seed: int):
    drawn = random.Random(seed)
    assert added(pl.Series([3 + drawn.gauss(0, 0.5) for _ in range(200)])) is None


def test_a_log_of_such_sums_is_said_to_be_one(tmp_path):
    values = sums(course(5, 4))
    rows = "".join(f"{at // 4},{at % 4 * 100},{one}\n" for at, one in enumerate(values))
    run = read(tmp_path, "epoch,batch,loss\n" + rows, "log.csv")
    assert "running_sum" in [one.key for one in run.remarks]
    assert run["loss"].count() == 15
