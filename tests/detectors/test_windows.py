"""Statistics over windows: a few passes of polars give what the definitions say row by row."""

import math
import random
from dataclasses import replace
from statistics import median

import polars as pl
import pytest
from polars.testing import assert_series_equal

from tests.conftest import make_run, numbers
from tutor.detectors import apply
from tutor.detectors.beginning import begins_late
from tutor.detectors.despiking import FEWEST, LONG, NORMAL_MAD, TOWERS, calm, finite, rolling_median
from tutor.detectors.trends import lasting_trend, sunk, trend
from tutor.detectors.windows import Window, rolling_baseline
from tutor.run import Run, once

SPAN = 20


def noisy(rows: int, spikes: dict[int, float], missing: set[int]) -> list[float | None]:
    """A falling loss with noise, spikes at some rows and nothing logged at others."""
    draw = random.Random(3)
    values = [3 - row / rows + draw.gauss(0, 0.1) + spikes.get(row, 0) for row in range(rows)]
    return [None if row in missing else value for row, value in enumerate(values)]


def usual(values: list[float | None], row: int) -> float | None:
    """The median of the SPAN values before a row."""
    known = [value for value in values[max(0, row - SPAN) : row] if value is not None]
    return median(known) if len(known) >= FEWEST else None


def towers(values: list[float | None], row: int) -> bool:
    """Whether the value of a row lies far above those before it."""
    here, level = values[row], usual(values, row)
    apart = [
        abs(value - middle)
        for other in range(max(0, row - SPAN), row)
        if (value := values[other]) is not None and (middle := usual(values, other + 1)) is not None
    ]
    if here is None or level is None or len(apart) < FEWEST:
        return False
    return here - level > TOWERS * NORMAL_MAD * median(apart) > 0


@pytest.mark.parametrize("missing", [set(), {0, 1, 60, 61, 149}])
@pytest.mark.parametrize("spikes", [{}, {70: 5.0}, {40: 9.0, 41: 9.0, 90: 4.0, 130: 8.0, 147: 6.0}])
def test_calm_is_what_its_definition_says(spikes: dict[int, float], missing: set[int]) -> None:
    values = noisy(150, spikes, missing)
    backwards = values[::-1]
    struck = [towers(values, row) and towers(backwards, 149 - row) for row in range(150)]
    expected = [None if gone else value for gone, value in zip(struck, values, strict=True)]
    assert calm(pl.Series(values), SPAN).to_list() == expected
    assert any(struck) == any(row < 145 for row in spikes)


@pytest.mark.parametrize("span", [5, 100, LONG // 2, 2 * LONG])
def test_medians_of_a_long_log_are_those_of_one_piece(span: int) -> None:
    values = pl.Series(noisy(LONG + 1, {70: 5.0}, {0, 1, 60, LONG // 2, LONG}))
    expected = values.rolling_median(span, min_samples=FEWEST)
    assert_series_equal(rolling_median(values, span, FEWEST), expected, check_names=False)


@pytest.mark.parametrize("stretch", [1, 7, 71, 149])
def test_calm_is_the_same_wherever_a_long_log_is_cut(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = pl.Series(noisy(150, {40: 9.0, 41: 9.0, 70: 5.0, 71: 6.0, 130: 8.0}, {0, 1, 60, 61}))
    expected = calm(values, SPAN).to_list()
    monkeypatch.setattr("tutor.detectors.despiking.STRETCH", stretch)
    assert calm(values, SPAN).to_list() == expected
    assert expected.count(None) > 4 + 3


@pytest.mark.parametrize("part", [7, 50, 300])
@pytest.mark.parametrize("apart", [0.1, 0.0])
def test_where_no_spike_can_be_is_passed_over_and_none_is_missed(
    apart: float, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, spikes = random.Random(1), {40: 9.0, 41: 9.0, 70: 1.1, 71: 1.3, 300: 8.0, 599: 4.0}
    noise = [draw.gauss(0, apart) for _ in range(600)]  # without any, a spike stands above a deviation of 0
    loss = [3 + off + spikes.get(row, 0) + row // 500 for row, off in enumerate(noise)]
    values = pl.Series([None if row % 97 == 5 else value for row, value in enumerate(loss)])
    with monkeypatch.context() as everywhere:
        everywhere.setattr("tutor.detectors.despiking._may_tower", lambda *_: True)
        expected = calm(values, SPAN).to_list()
    monkeypatch.setattr("tutor.detectors.despiking.PART", part)
    assert calm(values, SPAN).to_list() == expected
    assert (expected[300] is None) == (expected[40] is None) == bool(apart)


@pytest.mark.parametrize("odd", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("huge", [0.0, 1.7e308])
def test_what_is_finite_stays(odd: float | None, huge: float) -> None:
    assert finite(pl.Series([1.0, huge, huge, odd])).to_list() == [1.0, huge, huge, None]


def test_calm_leaves_the_log_as_it_is() -> None:
    values = noisy(150, {70: 5.0}, set())
    loss = pl.Series(values)
    assert calm(loss, SPAN)[70] is None
    assert loss.to_list() == values


def test_a_window_is_taken_by_steps_where_it_holds_enough_rows() -> None:
    """A log that is dense, then sparse, then dense again."""
    steps = [*range(60), *range(60, 360, 10), *range(360, 420)]
    draw = random.Random(1)
    loss = [draw.gauss(2, 0.1) for _ in steps]
    run, window = make_run({"step": steps, "loss": loss}), Window(20, 8)
    mean, std = rolling_baseline(run, run["loss"], window)
    for row, step in enumerate(steps):
        near = [value for other, value in zip(steps, loss, strict=True) if step - 20 <= other < step]
        if len(near) < 8 or step < 20:
            near = loss[max(0, row - 8) : row]
        if row < 8:
            assert mean[row] is None
            continue
        assert mean[row] == pytest.approx(sum(near) / len(near))
        spread = sum((value - mean[row]) ** 2 for value in near) / len(near)
        assert std[row] == pytest.approx(spread**0.5)


def test_a_window_of_epochs_is_as_many_rows_as_it_holds_at_least() -> None:
    run, window = make_run({"loss": [1.0] * 50}), Window(steps=200, rows=20)
    epochs = replace(run, counts="epochs")
    assert (window.of(run).count(run), window.of(epochs).count(epochs)) == (200, 20)
    assert window.of(epochs).start(epochs, 40) == 20
    found = apply("rising_loss", epochs, numbers("rising_loss"))
    assert (found.outcome, found.window) == ("no", (30, 49))


@pytest.mark.parametrize(
    ("values", "deviations"),
    [
        (list(range(8)), 27 / math.sqrt(8 * 7 * 21 / 18)),
        (list(range(8))[::-1], -27 / math.sqrt(8 * 7 * 21 / 18)),
        ([1.0] * 8, 0.0),
        ([1.0, None, math.nan, 2.0], 0.0),  # one pair says nothing
        ([], 0.0),
    ],
)
def test_a_trend_is_told_by_the_order_of_each_pair(values: list[float | None], deviations: float) -> None:
    assert trend(pl.Series(values, dtype=pl.Float64)) == pytest.approx(deviations)


@pytest.mark.parametrize(
    ("steps", "late"),
    [
        ([0, 1, 2], False),
        ([1, 2], False),
        ([500, 1000, 1500], False),
        ([2, 3, 4], True),
        ([5900, 6000], True),
    ],
)
def test_where_a_log_begins(steps: list[int], late: bool) -> None:
    assert begins_late(make_run({"step": steps, "loss": [1.0] * len(steps)})) is late


def test_what_was_measured_once_is_not_measured_again() -> None:
    asked: list[tuple[str, str]] = []

    @once
    def highest(run: Run, signal: str) -> float:
        asked.append((run.name, signal))
        return float(run[signal].max())  # type: ignore[arg-type]

    run = make_run({"loss": [3.0, 2.0]})
    assert [highest(run, "loss"), highest(run, "loss"), highest(run, "step")] == [3.0, 3.0, 1.0]
    assert asked == [("a-run", "loss"), ("a-run", "step")]
    assert highest(make_run({"loss": [4.0, 2.0]}), "loss") == 4.0


def test_values_that_resemble_the_one_before_count_for_fewer() -> None:
    """A straight rise keeps all of its trend; two levels, which wandering explains, lose half."""
    straight, steps = pl.Series(range(20)), pl.Series([0.0] * 10 + [1.0] * 10)
    assert lasting_trend(straight) == pytest.approx(trend(straight))
    assert 0 < lasting_trend(steps) < 0.6 * trend(steps)


def test_a_long_trend_is_that_of_medians() -> None:
    assert lasting_trend(pl.Series(range(1_000))) == pytest.approx(trend(pl.Series(range(50))))


@pytest.mark.parametrize("gap", [1, 3, 30, 60])
def test_windows_of_even_steps_are_those_of_uneven_ones(gap: int) -> None:
    loss = noisy(150, {70: 5.0}, {60, 61})
    even = make_run({"step": [gap * row for row in range(150)], "loss": loss})
    uneven = make_run({"step": [*(gap * row for row in range(150)), 10**6], "loss": [*loss, None]})
    for alone, among in zip(
        *(rolling_baseline(one, one["loss"], Window(60, 5)) for one in (even, uneven)), strict=True
    ):
        assert_series_equal(alone, among[:150], check_exact=True)


@pytest.mark.parametrize(
    ("before", "last", "found"),
    [
        (10, 5, True),  # one in 3,003
        (9, 5, False),
        (14, 4, True),
        (13, 4, False),
        (25, 3, True),
        (24, 3, False),
        (1000, 2, False),
        (0, 10, False),
    ],
)
def test_last_values_that_lie_below_many_before_them(before: int, last: int, found: bool):
    high = [5.0 + (-1) ** row for row in range(before)]
    assert sunk(pl.Series([*high, *[3.9] * last])) is found
    assert sunk(pl.Series([0.0, *high, math.nan, *[3.9] * last])) is found  # it had come from below
    assert not sunk(pl.Series([*high, *[4.0] * last]))  # no lower than some of them


def test_of_many_values_stretches_are_compared():
    high = [1.0 + (-1) ** row for row in range(100_000)]
    assert not sunk(pl.Series([*high, *[-1.0] * 1_000]))
    assert sunk(pl.Series([*high, *[-1.0] * 20_000]))
