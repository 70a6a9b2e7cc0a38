"""A posterior that has collapsed, on small arrays with known answers."""

import math

import pytest

from tests.detectors.test_course import falling, judged
from tutor.detectors import Finding

ROWS = 20
GONE = [0.0517, 0.0037, 0.0011, *[0.0001] * 17]


def found(
    kl: list[float], *, recon: str = "Recon-Loss", name: str = "KL-Loss", **more: list[float]
) -> Finding:
    return judged(
        "learned", loss=falling(ROWS, 9.0, 5.0), **{recon: falling(ROWS, 9.0, 5.0), name: kl}, **more
    )


@pytest.mark.parametrize("name", ["KL-Loss", "kl_loss", "train/KLD"])
@pytest.mark.parametrize("recon", ["Recon-Loss", "reconstruction_loss", "recons_loss"])
def test_a_divergence_that_is_gone_beside_a_reconstruction(name: str, recon: str):
    one = found(GONE, recon=recon, name=name)
    assert (one.outcome, one.facts["term"], one.facts["highest"]) == ("collapsed", name, 0.0517)
    assert (one.step, one.facts["later"], one.measured) == (10, 10, 0.0001)
    assert one.bound == pytest.approx(0.000517)
    assert one.facts["rows"] == ROWS


@pytest.mark.parametrize(
    "kl",
    [
        falling(ROWS, 0.0001, 12.0),  # it grows, as latents come to say more
        [120.0, *[11.0] * 19],
        [*[0.0001] * 20],  # small from the first row on: a mean over pixels, it may be
        [0.05, 0.01, *[0.0001] * 17, 0.02],  # it comes back
        [math.nan] * ROWS,
        [-0.001, *GONE[1:]],
    ],
)
def test_one_that_is_not(kl: list[float]):
    assert found(kl).outcome == "yes"


def test_no_divergence_of_another_kind():
    assert found(GONE, recon="lm_loss").outcome == "yes"  # of a policy
    assert found(GONE, recon="nll_loss").outcome == "yes"  # of a teacher
    learns = [9.0] * 5 + falling(15, 8.0, 1.0)
    assert (
        judged("learned", loss=learns, recon_loss=learns, kl=GONE).outcome == "yes"
    )  # of how sparse latents are
    assert found(GONE, name="kl_weight").outcome == "yes"
    assert found(GONE, reward=falling(ROWS, 0.0, 1.0)).outcome != "collapsed"
