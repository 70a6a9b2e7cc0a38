"""A held-out score that training left behind, on small arrays with known answers."""

import math

import pytest

from tests.detectors.test_course import falling, judged
from tutor.detectors import NO_DATA

LOSS = falling(30, 2.0, 0.1)
LEARNED = [min(0.98, 0.4 + 0.03 * row) for row in range(30)]
STILL = [min(0.55, 0.385 + 0.03 * row) for row in range(30)]


def found(trained: list[float], held_out: list[float], names: tuple[str, str] = ("acc", "val_acc"), **more):
    return judged("validation_turns", loss=LOSS, **dict(zip(names, (trained, held_out), strict=True)), **more)


@pytest.mark.parametrize(
    "names",
    [("acc", "val_acc"), ("Train Acc", "Val Acc"), ("tr_acc", "va_acc"), ("accuracy", "test_accuracy")],
)
@pytest.mark.parametrize("whole", [1, 100])
def test_one_that_stands_still_while_training_goes_on(names: tuple[str, str], whole: int):
    one = found([whole * score for score in LEARNED], [whole * score for score in STILL], names)
    assert (one.outcome, one.facts["score"], one.facts["other"]) == ("left-behind", *reversed(names))
    assert one.step == 6  # the median of three is within 0.02 of 0.55 from here on
    assert one.facts["apart"] == pytest.approx(43)
    assert (one.facts["before"], one.facts["after"]) == (pytest.approx(whole * 0.55), whole * 0.98)
    assert (one.measured, one.bound) == (pytest.approx(0.43), 0.25)


@pytest.mark.parametrize(
    ("trained", "held_out"),
    [
        (LEARNED, [score - 0.2 for score in LEARNED]),  # it follows
        (LEARNED, [0.6 + 0.006 * row for row in range(30)]),  # near enough, and it rises
        ([0.9] * 30, STILL),  # training stands still, too
        ([*LEARNED[:9], *[math.nan] * 21], [*STILL[:9], *[math.nan] * 21]),  # few
        (LEARNED, [math.nan] * 30),
        ([0.0] * 30, [0.0] * 30),
    ],
)
def test_one_that_is_not_left_behind(trained: list[float], held_out: list[float]):
    assert found(trained, held_out).outcome == NO_DATA


@pytest.mark.parametrize(
    "names", [("train_acc", "val_f1"), ("train_acc5", "val_acc1"), ("train_r2", "val_r2")]
)
def test_another_score_is_no_pair(names: tuple[str, str]):
    assert found(LEARNED, STILL, names).outcome == NO_DATA


def test_validation_that_turns_speaks_first():
    turned = [*falling(15, 2.0, 0.5), *[0.5 + row / 10 for row in range(15)]]
    assert found(LEARNED, STILL, val_loss=turned).outcome == "turns"
    assert found(LEARNED, STILL, val_loss=[1.3] * 30).outcome == "left-behind"


def test_percent_beside_parts_of_1():
    near = [score - 0.02 for score in LEARNED]
    assert found([100 * score for score in LEARNED], near).outcome == NO_DATA
    one = found([100 * score for score in LEARNED], STILL)
    assert (one.outcome, one.facts["apart"]) == ("left-behind", pytest.approx(43))


def test_what_lowers_the_validation_loss_still_serves_held_out_data():
    assert found(LEARNED, STILL, val_loss=falling(30, 1.5, 0.6)).outcome == "no"
    assert found(LEARNED, STILL, val_loss=[*falling(15, 1.5, 0.6), *[0.6] * 15]).outcome == "left-behind"


WANDERS = [0.4 + 0.05 * (row % 3) for row in range(30)]


LEVEL = [1.5 + 0.01 * (row % 2) for row in range(30)]


@pytest.mark.parametrize("whole", [1, 100])
def test_one_that_never_rises_while_training_does(whole: int):
    gains = [0.5 + 0.004 * row for row in range(30)]
    scores = [[whole * score for score in gains], [whole * score for score in WANDERS]]
    one = found(*scores, val_loss=LEVEL)
    assert (one.outcome, one.facts["rows"]) == ("never-follows", 30)
    assert (one.facts["began"], one.facts["held"]) == pytest.approx((whole * 0.45, whole * 0.45))
    assert one.facts["apart"] == pytest.approx(14.8)
    assert (one.measured, one.bound) == (pytest.approx(0.148), 0.1)
    assert found(*scores).outcome == NO_DATA  # without a validation loss it takes more


@pytest.mark.parametrize(
    ("trained", "held_out"),
    [
        ([0.5 + 0.001 * row for row in range(30)], WANDERS),  # training gains too little
        ([0.4 + 0.004 * row for row in range(30)], WANDERS),  # near enough
        ([0.5 + 0.004 * row for row in range(30)], [0.4 + 0.002 * row for row in range(30)]),  # it rises
        ([0.5 + 0.02 * row for row in range(9)], WANDERS[:9]),  # few
    ],
)
def test_one_that_follows_or_has_nothing_to_follow(trained: list[float], held_out: list[float]):
    padding = [math.nan] * (30 - len(trained))
    assert found([*trained, *padding], [*held_out, *padding], val_loss=LEVEL).outcome == "no"


@pytest.mark.parametrize(
    ("trained", "held_out", "outcome"),
    [
        ([0.52, 0.55, 0.6, 0.7, 0.8, 0.9], [0.5, 0.5, 0.5, 0.55, 0.45, 0.4], "never-follows"),
        ([0.52, 0.55, 0.6, 0.7, 0.72, 0.74], [0.5, 0.5, 0.5, 0.55, 0.45, 0.4], "no"),  # it gains too little
        ([0.42, 0.45, 0.6, 0.7, 0.7, 0.7], [0.5, 0.5, 0.5, 0.55, 0.45, 0.5], "no"),  # near enough
        ([0.52, 0.55, 0.6, 0.7, 0.8, 0.9], [0.5, 0.5, 0.5, 0.55, 0.6, 0.6], "no"),  # it rises
        ([0.52, 0.6, 0.7, 0.8, 0.9], [0.5, 0.5, 0.55, 0.45, 0.4], "no"),  # too few
    ],
)
def test_of_few_evaluations_both_have_to_be_far(trained: list[float], held_out: list[float], outcome: str):
    padding = [math.nan] * (30 - len(trained))
    assert found([*trained, *padding], [*held_out, *padding], val_loss=LEVEL).outcome == outcome


def test_while_the_validation_loss_falls_few_tell_nothing():
    trained, held_out = [0.52, 0.55, 0.6, 0.7, 0.8, 0.9], [0.5, 0.5, 0.5, 0.55, 0.45, 0.4]
    padding = [math.nan] * 24
    costs = [*falling(6, 2.8, 1.8), *[None] * 24]
    assert found([*trained, *padding], [*held_out, *padding], val_loss=costs).outcome == "no"


def test_one_that_a_coin_would_give_is_left_behind_sooner():
    gains = [0.5 + 0.007 * row for row in range(30)]
    tossed = [0.51 + 0.001 * row / 2 + 0.01 * (row % 3) for row in range(30)]  # in order, but by little
    assert found(gains, tossed).outcome == "never-follows"
    assert found([100 * one for one in gains], [100 * one for one in tossed]).outcome == "never-follows"
    assert found(gains, [one + 0.01 for one in tossed]).outcome == NO_DATA  # up to 0.5545
    assert found([0.5 + 0.003 * row for row in range(30)], tossed).outcome == NO_DATA  # near enough


@pytest.mark.parametrize(("start", "outcome"), [(0.5, "no"), (0.62, "never-follows")])
def test_while_the_validation_loss_falls_it_has_to_be_far_behind(start: float, outcome: str):
    gains = [start + 0.004 * row for row in range(30)]
    assert found(gains, WANDERS, val_loss=falling(30, 1.5, 0.6)).outcome == outcome


def test_one_that_begins_near_its_ceiling_has_little_left_to_rise():
    gains, high = [0.85 + 0.0045 * row for row in range(30)], [0.84 + 0.01 * (row % 3) for row in range(30)]
    assert found(gains, high, val_loss=LEVEL).outcome == "no"
