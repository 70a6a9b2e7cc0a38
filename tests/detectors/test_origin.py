"""Where the first non-finite value arose, and whether fp16 alone made it."""

import math

import pytest

from tests.conftest import make_run
from tutor import detectors
from tutor.detectors import NO_DATA
from tutor.detectors.windows import Window
from tutor.run import Run

NAN, INF = math.nan, math.inf
SOUND = {"loss": 1.0, "reduced_loss": 1.0, "grad_norm": 1.0, "grad_norm_rest": 0.9}
LAYERS = [1.0, 2.0, 3.0]


def broken(dtype: str = "fp32", layers: list[float] = LAYERS, row: int = 3, **values: float) -> Run:
    """Six rows, from `row` on with these values."""
    columns: dict = {name: [value] * row for name, value in SOUND.items()}
    columns |= {name: [*columns[name], *[values.get(name, SOUND[name])] * (6 - row)] for name in SOUND}
    columns["activation_norms"] = [LAYERS] * row + [layers] * (6 - row)
    return make_run(columns, {"dtype": dtype})


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (broken(loss=INF, reduced_loss=INF, grad_norm=NAN), "log-softmax"),
        (broken(reduced_loss=NAN, grad_norm=NAN), "reduction"),
        (broken(grad_norm=INF), "embedding-gradient"),
        (broken(grad_norm=NAN, grad_norm_rest=NAN), "elsewhere"),
        (broken(layers=[1.0, INF, NAN], loss=NAN, reduced_loss=NAN), "elsewhere"),
        (broken(layers=[1.0, INF, NAN], dtype="fp16", loss=NAN, reduced_loss=NAN), "fp16-activation"),
        (broken(loss=NAN, reduced_loss=NAN, grad_norm=NAN), NO_DATA),
        (broken(), NO_DATA),
    ],
)
def test_what_fails_first_tells_where(run: Run, outcome: str):
    assert detectors.apply("first_non_finite", run, {}).outcome == outcome


def test_the_step_and_the_layer_are_named():
    found = detectors.apply("first_non_finite", broken(layers=[1.0, INF, NAN], loss=NAN), {})
    assert (found.step, found.facts["layer"]) == (3, 1)


def test_without_the_norm_of_the_rest_the_log_cannot_tell():
    run = make_run(
        {"loss": [1.0, 1.0], "grad_norm": [1.0, INF], "activation_norms": [LAYERS, LAYERS]}, {"dtype": "fp32"}
    )
    found = detectors.apply("first_non_finite", run, {})
    assert (found.outcome, found.facts["missing"]) == (NO_DATA, ["grad_norm_rest"])


@pytest.mark.parametrize(
    ("layers", "norms", "scale", "outcome"),
    [
        ([LAYERS, LAYERS, [1.0, INF, NAN]], [1.0, 1.0, NAN], [None] * 3, "yes"),
        ([LAYERS] * 3, [INF, 1.0, 1.0], [65536.0, 32768.0, 32768.0], "yes"),
        ([LAYERS] * 3, [1.0, INF, INF], [65536.0] * 3, NO_DATA),
        ([LAYERS] * 3, [NAN] * 3, [65536.0, 32768.0, 16384.0], "no"),
    ],
)
def test_an_overflow_of_fp16_comes_and_goes_with_the_size_of_values(
    layers: list, norms: list, scale: list, outcome: str
):
    run = make_run({"grad_norm": norms, "activation_norms": layers, "loss_scale": scale}, {"dtype": "fp16"})
    assert detectors.apply("range_of_fp16", run, {}).outcome == outcome


def resumed_at(row: int, left: float) -> Run:
    """A loss that leaps two rows after `row`, where v falls to `left` times what it was."""
    v = [1.0] * row + [left] * (200 - row)
    loss = [1.0] * (row + 2) + [2.0] * (198 - row)
    return make_run({"loss": loss, "adam_v_norm": v}, {"settings": {"beta2": 0.95}})


@pytest.mark.parametrize(("left", "outcome"), [(0.05, "state"), (0.96, "no"), (5.0, "no")])
def test_a_v_that_falls_faster_than_beta2_was_built_anew(left: float, outcome: str):
    numbers = {"window": Window(100, 20), "within": Window(20, 5), "kept": 0.2}
    found = detectors.apply("lost_state", resumed_at(150, left), numbers, at=152)
    assert found.outcome == outcome
    if outcome == "state":
        assert (found.facts["first"], found.facts["after"]) == (150, 2)


def test_a_stuck_loader_shows_in_the_rows_before_the_spike():
    hashes = [f"h{i}" for i in range(20)] + ["same"] * 5 + ["new"]
    run = make_run({"batch_hash": hashes})
    found = detectors.apply("repeated_batch", run, {"look_back": 20}, at=25)
    assert (found.outcome, found.facts["twin"], found.facts["again"]) == ("loader", 23, 24)
    long_ago = make_run({"batch_hash": ["same"] * 5 + [f"h{i}" for i in range(30)]})
    assert detectors.apply("repeated_batch", long_ago, {"look_back": 20}, at=34).outcome == "no"
