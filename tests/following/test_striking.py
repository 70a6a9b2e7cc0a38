"""What rings: a spike or a NaN among the rows that came, once."""

import math

from tests.conftest import ROOT, make_run
from tutor import readers
from tutor.following.striking import Strike, strikes

CALM = [2.0 - step / 1000 + (0.02 if step % 2 else -0.02) for step in range(300)]


def test_a_spike_rings_with_its_step_loss_and_bound():
    run = make_run({"loss": [*CALM, 9.0, 8.0, 7.0]})
    [strike] = strikes(run, 299)
    assert (strike.step, strike.loss) == (300, 9.0)
    assert strike.bound is not None
    assert strike.bound < 9
    assert "spike at step 300: loss 9" in strike.says("en")


def test_it_is_one_event_however_it_goes_on():
    run = make_run({"loss": [*CALM, 9.0, *[6.0] * 40, 1.7, 9.0]})
    assert [one.step for one in strikes(run, 299)] == [300]
    assert strikes(run, 300) == []


def test_a_healthy_run_does_not_ring():
    assert strikes(make_run({"loss": CALM}), -1) == []
    assert strikes(readers.read(ROOT / "runs" / "19-break"), 400) == []


def test_the_first_nan_rings_and_those_after_it_do_not():
    run = make_run({"loss": [*CALM[:3], math.nan, *[math.nan] * 5]})
    assert strikes(run, 2) == [Strike(3, math.inf)]
    assert strikes(run, 2)[0].says("en") == "NaN or Inf at step 3"
    assert strikes(run, 3) == []


def test_a_reward_is_no_loss():
    assert strikes(make_run({"loss": [-1.0, 1.0] * 100 + [50.0]}), 199) == []
