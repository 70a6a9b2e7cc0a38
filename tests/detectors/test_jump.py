"""Detectors of a long run's spikes, on small arrays with known answers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_run, numbers
from tutor.detectors import NO_DATA, NOT_YET, Finding, apply

JUMP, OTHERS = numbers("jump", "scale"), numbers("other_jumps", "scale")
COURSES = {name: numbers(name, "scale") for name in ("broken_after", "oscillates", "comes_back", "settles")}
ROWS, AT = 900, 300


def wave(length: int, level: float = 1.0) -> list[float]:
    """level ± 5 %, alternating."""
    return [level * (1.05 if i % 2 else 0.95) for i in range(length)]


def spiked(after: list[float], before: int = AT, first: float = 6.0) -> list[float]:
    """A loss that falls from `first` to 1, stays there until step `before`, and goes on with `after`."""
    falling = [first - (first - 1) * i / 50 for i in range(50)]
    return [*falling, *wave(before - 50), *after]


def returned(peak: float = 5.0, lasting: int = 30) -> list[float]:
    """What follows a jump that is back after `lasting` steps."""
    return [*([peak] * lasting), *wave(ROWS - AT - lasting)]


def course(loss: list[float], at: int = AT) -> tuple[str, Finding | None]:
    """The first course that a rule finds, with its finding."""
    run, facts = make_run({"loss": loss}), {}
    for name, given_numbers in COURSES.items():
        found = apply(name, run, given_numbers, at, facts)
        if found.outcome in ("recoverable", "lingering", "divergent"):
            return found.outcome, found
        facts |= found.facts if found.outcome not in (NO_DATA, NOT_YET) else {}
    return NOT_YET, None


class TestJump:
    def test_of_a_factor_of_two(self):
        found = apply("jump", make_run({"loss": spiked(returned(2.5, 3))}), JUMP)
        assert (found.outcome, found.step, found.facts["count"]) == ("yes", AT, 1)
        assert found.facts["ratio"] == pytest.approx(2.5, rel=0.05)
        assert apply("jump", make_run({"loss": spiked(returned(1.8, 3))}), JUMP).outcome == "no"

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_what_is_not_finite_is_beyond_any_factor(self, bad: float):
        loss = spiked(returned(50.0, 5))
        loss[500] = bad
        found = apply("jump", make_run({"loss": loss}), JUMP)
        assert (found.outcome, found.step, found.margin) == ("not-finite", 500, None)
        assert found.facts["peak"] == pytest.approx(bad, nan_ok=True)
        assert found.others == (AT,)

    def test_a_climb_of_less_than_a_window_counts_and_a_slow_one_does_not(self):
        quick = [1 + i / 60 for i in range(90)]
        slow = [1 + i / 600 for i in range(600)]
        assert apply("jump", make_run({"loss": spiked(quick + wave(300, 2.5))}), JUMP).outcome == "yes"
        assert apply("jump", make_run({"loss": spiked(slow)}), JUMP).outcome == "no"

    def test_batches_that_differ_twofold_are_no_jump(self):
        loss = [1.0 + 0.8 * math.sin(7 * i) for i in range(600)]
        assert apply("jump", make_run({"loss": loss}), JUMP).outcome == "no"

    def test_rows_of_one_event_are_one_jump(self):
        loss = spiked(returned())
        for step in (350, 390, 700):
            loss[step] = 6.0
        found = apply("jump", make_run({"loss": loss}), JUMP)
        assert found.facts["count"] == 2
        others = apply("other_jumps", make_run({"loss": loss}), OTHERS, AT)
        assert (others.outcome, others.facts["places"]) == ("yes", [700])

    def test_a_single_hard_batch_gives_way_to_a_jump_that_lasts(self):
        loss = spiked(returned(4.0, 30))
        loss[700] = 9.0
        assert apply("jump", make_run({"loss": loss}), JUMP).step == AT

    def test_short_logs_and_objectives_around_zero_can_tell_nothing(self):
        assert apply("jump", make_run({"loss": [1.0] * 4}), JUMP).outcome == NOT_YET
        assert apply("jump", make_run({"loss": [0.0, -1.0] * 200}), JUMP).outcome == NO_DATA
        assert apply("jump", make_run({"lr": [1.0] * 200}), JUMP).facts == {"missing": ["loss"]}

    def test_gaps_and_sparse_rows(self):
        loss = spiked(returned(5.0, 30))
        run = make_run({"loss": loss[::10], "step": list(range(0, ROWS, 10))})
        assert apply("jump", run, JUMP).step == AT
        holes = [value if i % 3 == 0 else None for i, value in enumerate(loss)]
        assert apply("jump", make_run({"loss": holes}), JUMP).step == AT

    @given(st.lists(st.floats(0.5, 0.9), min_size=120, max_size=300))
    def test_a_loss_within_a_factor_of_two_never_jumps(self, loss: list[float]):
        assert apply("jump", make_run({"loss": loss}), JUMP).outcome == "no"

    @given(st.floats(0.01, 1000), st.floats(3, 90))
    def test_it_doesnt_depend_on_the_unit(self, unit: float, times: float):
        loss = [unit * value for value in spiked(returned(times, 10))]
        found = apply("jump", make_run({"loss": loss}), JUMP)
        assert (found.outcome, found.step) == ("yes", AT)


class TestCourse:
    def test_type_1_is_back(self):
        outcome, found = course(spiked(returned(lasting=30)))
        assert outcome == "recoverable"
        assert found and 25 <= found.facts["after"] <= 35

    def test_a_few_lucky_batches_are_no_return(self):
        lucky = [5.0, 0.02, 0.02, *wave(ROWS - AT - 3, 1.5)]
        assert course(spiked(lucky))[0] == "lingering"

    def test_type_2_settles_higher(self):
        outcome, found = course(spiked([*([5.0] * 20), *wave(ROWS - AT - 20, 1.5)]))
        assert outcome == "lingering"
        assert found and found.facts["share"] == pytest.approx(10, abs=2)  # 0.5 of the 5 nats gained

    @pytest.mark.parametrize(
        "after",
        [
            [math.nan] * 300,
            [5.0, *([math.inf] * 100)],
            [2.5 + 0.01 * i for i in range(600)],
            [value for _ in range(6) for value in [*([5.0] * 40), *wave(60)]],
            wave(600, 6.0),
        ],
        ids=["nan", "inf", "climbs", "oscillates", "gave-all-back"],
    )
    def test_type_3_diverges(self, after: list[float]):
        assert course(spiked(after))[0] == "divergent"

    def test_a_nan_on_the_way_is_no_end(self):
        after = returned()
        after[0] = math.nan
        assert course(spiked(after))[0] == "recoverable"

    @pytest.mark.parametrize(("rows", "outcome"), [(150, NOT_YET), (250, "lingering")])
    def test_what_has_not_come_back_is_judged_from_200_steps_on(self, rows: int, outcome: str):
        assert course(spiked([5.0, *wave(rows, 1.5)]))[0] == outcome

    def test_a_log_that_ends_soon_after_may_have_shown_a_return(self):
        assert course(spiked([*([5.0] * 10), *wave(60)]))[0] == "recoverable"

    @given(st.integers(5, 120), st.floats(2.5, 60))
    def test_what_is_back_for_good_is_type_1(self, lasting: int, peak: float):
        assert course(spiked(returned(peak, lasting)))[0] == "recoverable"
