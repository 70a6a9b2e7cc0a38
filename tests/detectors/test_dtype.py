"""The dtype: as it is configured or, where nothing says, by a loss scale that moves."""

import pytest

from tests.detectors.test_course import judged
from tutor.detectors import NO_DATA

LOSS = [2.0] * 6
FALLING = [65536.0, 32768.0, 16384.0, 8192.0, 4096.0, 2048.0]


def test_a_scale_that_moves_says_fp16():
    found = judged("dtype", loss=LOSS, loss_scale=FALLING)
    assert (found.outcome, found.facts) == ("scaled", {"highest": 65536.0, "lowest": 2048.0})


@pytest.mark.parametrize("columns", [{}, {"loss_scale": [1.0] * 6}, {"loss_scale": [65536.0] * 6}])
def test_one_that_stays_says_nothing(columns: dict[str, list[float]]):
    assert judged("dtype", loss=LOSS, **columns).outcome == NO_DATA


def test_what_is_configured_comes_first():
    assert judged("dtype", {"dtype": "bf16"}, loss=LOSS, loss_scale=FALLING).outcome == "bf16"
