"""A discriminator that has won, on small arrays with known answers."""

import math

import pytest

from tests.detectors.test_course import falling, judged
from tutor.detectors import Finding

ROWS = 40
COSTS = [*falling(20, 0.7, 0.01), *[1e-4] * 20]
PAYS = falling(ROWS, 1.5, 34.0)


def found(costs: list[float], pays: list[float], names: tuple[str, str] = ("d_loss", "g_loss")) -> Finding:
    other = {"loss": [a + b for a, b in zip(costs, pays, strict=True)]}
    return judged("learned", **other, **dict(zip(names, (costs, pays), strict=True)))


@pytest.mark.parametrize("names", [("d_loss", "g_loss"), ("Loss_D", "Loss_G"), ("disc_loss", "adv_loss")])
def test_one_that_costs_next_to_nothing_while_its_generator_pays(names: tuple[str, str]):
    one = found(COSTS, PAYS, names)
    assert (one.outcome, one.facts["judge"], one.facts["maker"]) == ("won", *names)
    assert (one.measured, one.bound) == (1e-4, pytest.approx(0.001 * 2 * math.log(2)))
    assert (one.facts["first"], one.facts["last"]) == (1.5, pytest.approx(PAYS[34] / 2 + PAYS[35] / 2))
    assert one.facts["rows"] == ROWS


def test_it_may_win_at_once():
    assert found([0.7, 0.01, *[1e-5] * 38], [0.6, *falling(39, 9.0, 15.0)]).outcome == "won"


@pytest.mark.parametrize(
    ("costs", "pays"),
    [
        ([0.3] * ROWS, PAYS),  # it still costs something
        (COSTS, falling(ROWS, 4.0, 9.0)),  # the generator pays hardly more
        (COSTS, [-one for one in PAYS]),  # a critic's
        ([1e-4] * ROWS, PAYS),  # it was so from the first row on: another unit, it may be
        (COSTS, [math.nan] * ROWS),
    ],
)
def test_one_that_has_not(costs: list[float], pays: list[float]):
    assert found(costs, pays).outcome != "won"


def test_few_rows_tell_nothing():
    assert (
        judged("learned", loss=[1.0] * 8, d_loss=[1.0] * 4 + [1e-5] * 4, g_loss=falling(8, 1.0, 9.0)).outcome
        != "won"
    )
