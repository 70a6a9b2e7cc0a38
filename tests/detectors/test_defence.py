"""Detectors of the defences, on small arrays with known answers."""

import math

import pytest

from tests.conftest import make_run, numbers
from tutor.detectors import NO_DATA, Finding, apply

CLIPPING, MEMORY = numbers("clipping"), numbers("second_moment")


class TestClipping:
    """The largest norm of 200 rows is 50.0, at step 100."""

    def found(self, at: int = 100, clip: object = "unknown", after: object = "unknown") -> Finding:
        columns = {"grad_norm": [50.0 if i == 100 else 0.5 for i in range(200)]}
        if after != "unknown":
            columns["grad_norm_clipped"] = [after if i == 100 else 0.5 for i in range(200)]
        settings = {} if clip == "unknown" else {"grad_clip": clip}
        return apply("clipping", make_run(columns, {"settings": settings}), CLIPPING, at)

    @pytest.mark.parametrize(
        ("after", "outcome"), [(1.0, "clipped"), (49.4, "clipped"), (49.5, "unclipped"), (50.0, "unclipped")]
    )
    def test_the_norm_after_decides(self, after: float, outcome: str):
        assert CLIPPING["equal"] == 0.01
        found = self.found(after=after)
        assert (found.outcome, found.step, found.facts) == (
            outcome,
            100,
            {"norm": 50.0, "after": after, "clip": None},
        )

    def test_it_is_believed_over_the_configured_clip(self):
        assert self.found(after=50.0, clip=1.0).outcome == "unclipped"
        assert self.found(after=1.0, clip=None).outcome == "clipped"

    @pytest.mark.parametrize(
        ("clip", "outcome"), [(1.0, "clipped"), (60.0, "unclipped"), (None, "unclipped")]
    )
    def test_without_it_the_configured_clip_does(self, clip: float | None, outcome: str):
        assert self.found(clip=clip).outcome == outcome

    @pytest.mark.parametrize("hole", [None, math.nan, math.inf])
    def test_a_hole_at_that_row_leaves_it_to_the_configured_clip(self, hole: float | None):
        found = self.found(after=hole, clip=1.0)
        assert (found.outcome, found.facts["after"]) == ("clipped", 1.0)
        assert self.found(after=hole).outcome == NO_DATA

    def test_neither_is_no_data(self):
        found = self.found()
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["grad_norm_clipped"])
        assert self.found(clip="auto").outcome == NO_DATA
        found = apply("clipping", make_run({"loss": [1.0] * 9}), CLIPPING, 5)
        assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["grad_norm"])

    @pytest.mark.parametrize(("at", "norm"), [(90, 50.0), (110, 50.0), (89, 0.5), (111, 0.5)])
    def test_where_the_norm_is_largest_around_the_step(self, at: int, norm: float):
        assert CLIPPING["around"].steps == 10
        assert self.found(at, clip=1.0).facts["norm"] == norm

    def test_the_ends_of_a_short_log(self):
        run = make_run({"grad_norm": [9.0, 1.0]}, {"settings": {"grad_clip": 1.0}})
        assert apply("clipping", run, CLIPPING, 0).outcome == "clipped"
        assert apply("clipping", run, CLIPPING, 1).facts["norm"] == 9.0


class TestSecondMoment:
    def found(self, settings: dict) -> Finding:
        return apply("second_moment", make_run({"loss": [1.0]}, {"settings": settings}), MEMORY)

    @pytest.mark.parametrize(
        ("beta2", "outcome", "memory"), [(0.999, "slow", 1000), (0.95, "quick", 20), (0, "quick", 1)]
    )
    def test_how_long_v_remembers(self, beta2: float, outcome: str, memory: float):
        found = self.found({"beta2": beta2})
        assert (found.outcome, found.facts["memory"]) == (outcome, pytest.approx(memory))
        assert found.bound == MEMORY["memory"] == 100

    def test_on_the_bound(self):
        assert self.found({"beta2": 0.989}).outcome == "quick"
        assert self.found({"beta2": 0.991}).outcome == "slow"

    @pytest.mark.parametrize("beta2", [1.0, -0.1, math.nan, "0.9", None])
    def test_a_beta2_that_is_none(self, beta2: object):
        assert self.found({"beta2": beta2, "lr": 1.0}).facts == {"missing": ["beta2"]}

    def test_no_beta2_configured(self):
        assert self.found({"lr": 1.0}).outcome == NO_DATA
        assert apply("second_moment", make_run({"loss": [1.0]}), MEMORY).facts == {"missing": ["settings"]}
