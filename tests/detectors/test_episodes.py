"""Spikes of a loss: how long each lasts, on small arrays with known answers."""

import polars as pl
import pytest

from tutor.detectors.episodes import Losses

LOSS = [1.0, 5.0, 6.0, 1.0, 4.0, None, 3.0, 3.0, 3.0, 3.0, 3.0, 1.0, 3.0]


@pytest.fixture(params=[2, 3, 1000], autouse=True)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.detectors.episodes._BLOCK", request.param)


@pytest.mark.parametrize(
    ("row", "end", "expected"),
    [
        (1, 3, [slice(1, 3)]),
        (1, 5, [slice(1, 3), slice(4, 11)]),  # what isn't finite isn't under the bound
        (4, 99, [slice(4, 11), slice(12, 13)]),
        (12, 13, [slice(12, 13)]),
        (0, 1, []),
    ],
)
def test_rows_above_a_bound_are_found_stretch_by_stretch(row: int, end: int, expected: list[slice]):
    assert Losses(pl.Series(LOSS)).stretches(row, end, 2.0) == expected


def test_a_spike_has_its_first_tallest_row_and_its_longest_stretch():
    found = Losses(pl.Series(LOSS)).episode(1, 6, 2.0, 1.0, 0.25)
    assert (found.row, found.rows, found.peak_row, found.peak) == (1, 7, 2, 6.0)
    assert Losses(pl.Series([3.0, 3.0])).episode(0, 2, 2.0, 1.0, 0.25).peak_row == 0


def test_what_never_comes_back_lasts_to_the_end():
    assert Losses(pl.Series([1.0] + 20 * [3.0])).stretches(1, 2, 2.0) == [slice(1, 21)]


def test_a_row_of_noise_well_before_a_spike_that_lasts_is_not_its_beginning():
    noisy = Losses(pl.Series([1.0, 3.0, *[1.0] * 20, *[4.0] * 9, 1.0]))
    found = noisy.episode(1, 25, 2.0, 1.0, 0.25)
    assert (found.row, found.rows) == (22, 9)
    led = Losses(pl.Series([1.0, 3.0, 1.0, *[3.0] * 9, 1.0]))
    assert led.episode(1, 10, 2.0, 1.0, 0.25).row == 1  # a row or two may lead it
    tall = Losses(pl.Series([1.0, 9.0, *[1.0] * 20, *[3.0] * 9, 1.0]))
    assert tall.episode(1, 25, 2.0, 1.0, 0.25).row == 1  # its peak is no noise
