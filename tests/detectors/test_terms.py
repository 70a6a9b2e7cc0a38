"""NaN or Inf in another loss of training than the one that is read, or in a divergence."""

import math

import pytest

from tests.conftest import make_run
from tests.detectors.test_course import judged
from tutor import tree
from tutor.run import names

LOSS = [2.0 - 0.01 * row for row in range(20)]
FINE = [0.5] * 20


def with_(*values: float | None) -> list[float | None]:
    return [0.5, *values, *FINE[len(values) + 1 :]]


@pytest.mark.parametrize("name", ["kl", "approx_kl", "objective/kl", "g_loss", "loss_box", "Loss_G"])
@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_a_term_or_a_divergence_that_is_not_finite_is_found(name: str, value: float):
    found = judged("non_finite", loss=LOSS, **{name: with_(value, 0.5, value, None)})
    assert (found.outcome, found.step) == ("another", 1)
    assert found.facts | {"value": 0} == {
        **{"term": name, "step": 1, "last": 3, "value": 0, "count": 2, "rows": 19},
    }


@pytest.mark.parametrize(
    "name",
    [
        "entropy",
        "ppl",
        "best_loss",
        "kl_coef",
        "val_kl",
        "Validation loss from",
        "loss_ema",
        "target_kl",
        "loss_std",
    ],
)
def test_not_in_what_is_no_term_of_training(name: str):
    assert judged("non_finite", loss=LOSS, **{name: with_(math.inf, math.inf)}).outcome == "no"


@pytest.mark.parametrize(
    "values",
    [
        with_(math.inf),  # once
        [math.inf, math.inf, *FINE[2:]],  # before there was anything
        [math.nan] * 20,  # of nothing that the run has
        FINE,
    ],
)
def test_not_once_nor_before_the_first_finite_value(values: list[float]):
    assert judged("non_finite", loss=LOSS, kl=values).outcome == "no"


def test_no_nan_between_finite_rows_where_nothing_was_measured():
    assert judged("non_finite", loss=LOSS, kl=[0.5, math.nan] * 10).outcome == "no"
    assert judged("non_finite", loss=LOSS, kl=[0.5] * 5 + [math.nan] * 15).outcome == "another"


def test_a_nan_that_comes_again_and_again_and_that_the_gradient_shows_was_measured():
    kl = [0.5, math.nan, 0.5, math.nan, 0.5, math.nan, math.nan, *FINE[8:], math.nan]
    norms = [0.1, 0.1, 0.1, math.nan, 0.1, math.inf, 0.1, *FINE[8:], 0.1]
    found = judged("non_finite", loss=LOSS, kl=kl, grad_norm=norms)
    assert (found.outcome, found.step, found.facts["count"]) == ("another", 3, 5)
    assert judged("non_finite", loss=LOSS, kl=kl, grad_norm=FINE).outcome == "no"
    scales = [1024.0, 512.0] * 10
    assert judged("non_finite", loss=LOSS, kl=kl, grad_norm=norms, loss_scale=scales).outcome == "no"


@pytest.mark.parametrize("rows", [range(0, 20, 2), (3, 12)])
def test_both_may_be_written_so_where_neither_was_measured(rows: range | tuple[int, ...]):
    """Every so many rows, or of a batch that was left out."""
    kl, norms = ([math.nan if row in rows else one for row, one in enumerate(FINE)] for _ in range(2))
    assert judged("non_finite", loss=LOSS, kl=kl, grad_norm=norms).outcome == "no"


def test_no_inf_that_a_loss_scale_skips():
    scales = [1024.0, 512.0, 256.0, *[256.0] * 17]
    columns = {"kl": with_(math.inf, math.inf), "loss_scale": scales}
    assert judged("non_finite", loss=LOSS, **columns).outcome == "no"


def test_a_loss_that_is_nan_itself_comes_first():
    found = judged("non_finite", loss=[*LOSS[:10], *[math.nan] * 10], kl=with_(math.inf, math.inf))
    assert found.outcome == "yes"


def test_the_answer_is_offered_where_a_log_has_terms():
    outcome = tree.find("phase-19", checked=False).questions["1.1"].outcomes["another"]
    assert outcome.shows_in(make_run({"loss": LOSS, "kl": FINE}))
    assert not outcome.shows_in(make_run({"loss": LOSS, "entropy": FINE}))


@pytest.mark.parametrize("name", ["kl", "kld", "approxkl", "train/kl", "policy_loss"])
def test_names_of_terms(name: str):
    assert names.is_term(name)
