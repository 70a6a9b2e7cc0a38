"""Spark: a curve in one line of text."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_run
from tutor.plots.spark import BAD, LEVELS, NOTHING, spark


def of(loss: Sequence[float | None], width: int = 8) -> str:
    return spark(make_run({"loss": loss}), "loss", width)


def test_one_tall_row_of_many_is_seen():
    curve = of([1.0] * 5000 + [9.0] + [1.0] * 5000)
    assert curve.count(LEVELS[-1]) == 1
    assert curve.count(LEVELS[0]) == 7


def test_it_falls_as_the_loss_does():
    assert of([8.0 - i for i in range(8)]) == LEVELS[::-1]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_a_mark_and_leaves_the_scale_alone(bad):
    curve = of([2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, bad])
    assert curve[-1] == BAD
    assert LEVELS[-1] in curve


def test_a_flat_loss_is_flat_and_a_gap_is_blank():
    assert of([3.0] * 80) == LEVELS[0] * 8
    assert of([3.0, None, None, None, None, None, None, 1.0])[3] == NOTHING
    assert of([None] * 8) == ""


@given(st.lists(st.none() | st.floats(), min_size=1), st.integers(1, 40))
def test_whatever_was_logged_fits_the_width(loss, width):
    assert len(of(loss, width)) in (0, width)
