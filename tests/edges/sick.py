"""Runs that are sick, and the leaves that a careful reader might end at.

A case that names a question ends there: what it asks is in no log.
"""

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.conftest import make_run
from tests.edges.columns import (
    INF,
    NAN,
    Columns,
    every,
    hump,
    lifted,
    only,
    put,
    scaled,
    steady,
    training,
    without,
)
from tutor.run import Run

Case = tuple[Callable[[], Run], frozenset[str]]


def of(columns: Callable[[], Columns], ends: str, manifest: Mapping[str, Any] | None = None) -> Case:
    """A case of columns, with the leaves that are right, set apart by spaces."""
    return lambda: make_run(columns(), manifest, checkpoints=(0, 200)), frozenset(ends.split())


def turning(rows: int, evaluations: list[float], seed: int) -> Columns:
    """Training that improves to the end while these evaluations don't."""
    columns = training(rows, seed, floor=0.3, first=2.0)
    return columns | {"val_loss": every(rows, rows // len(evaluations), evaluations)}


TURNED = [1.9, 1.4, 1.22, 1.2, 1.25, 1.38, 1.51]


def rising_after(start: float, times: float, rows: int, seed: int) -> Columns:
    """From a share `start` of the rows on, the loss rises steadily to `times` its level there."""
    columns, at = training(rows, seed, over=0.1, noise=0.02, evaluations=0), round(start * rows)
    return lifted(columns, "loss", at, [1 + (times - 1) * i / (rows - at) for i in range(rows - at)])


def coherent_batch(clip: float | None, seed: int, harm: float = 1.8) -> Columns:
    """One batch with a norm of 80 times its usual, and 25 rows that feel it; both norms are logged."""
    columns = training(400, seed)
    columns["grad_norm"] = steady(400, seed)
    lifted(columns, "loss", 300, [2.5, *hump(harm, 25)])
    lifted(columns, "grad_norm", 300, [80.0, *[3.0] * 10])
    most = math.inf if clip is None else clip
    return columns | {"grad_norm_clipped": [min(norm, most) for norm in columns["grad_norm"]]}


def polluted() -> Columns:
    """A blip of one row, ten times the loss; 60 rows later a spike of 1.6 times that lasts for 30."""
    columns = training(400, 61, noise=0.02)
    lifted(columns, "loss", 200, [10.0])
    lifted(columns, "grad_norm", 200, [5.0])
    return lifted(columns, "loss", 260, hump(1.6, 30))


def state_lost() -> Columns:
    """A log from step 5000 on whose loss jumps for 50 rows, since Adam begins anew, and comes back."""
    columns = training(400, 62, begin=5000, first=2.4, floor=2.2, over=0.5, noise=0.02)
    lifted(columns, "loss", 1, hump(1.35, 50, rise=6))
    return lifted(columns, "grad_norm", 1, hump(3.0, 40))


def frozen(rows: int = 400, norm: float = 1.0) -> Columns:
    """The loss stays at ln 512."""
    rng, columns = Random(63), training(rows, 63)
    columns["loss"] = [math.log(512) * (1 + 0.002 * rng.gauss(0, 1)) for _ in range(rows)]
    columns["val_loss"] = every(rows, rows // 10, [math.log(512)] * 10)
    return columns | {"grad_norm": steady(rows, 64, norm)}


def no_gradient() -> Columns:
    """Nothing requires a gradient: the norm is exactly 0, the loss that of one batch after another."""
    columns = frozen()
    columns["loss"] = [math.log(512)] * 400
    return columns | {"grad_norm": [0.0] * 400}


def halving(rows: int, logged: bool) -> Columns:
    """A loss scale that halves at every row; whether each step was skipped is logged or not."""
    columns: Columns = {
        "step": list(range(1, rows + 1)),
        "loss": [10.8] * rows,
        "loss_scale": [2.0 ** (32 - row) for row in range(rows)],
        "lr": [0.0] * rows,
    }
    return columns | ({"skipped": [1.0] * rows} if logged else {})


def growing_norm() -> Columns:
    """The norm grows tenfold, evenly in its logarithm, while the loss still falls."""
    columns = training(400, 65)
    return columns | {"grad_norm": [10 ** (row / 400) * x for row, x in enumerate(steady(400, 66, 1, 0.2))]}


def rate_jump() -> Columns:
    """The rate had decayed to a tenth and is back at its top; the loss follows for 60 rows."""
    columns = training(400, 67, noise=0.02)
    columns["lr"] = [3e-4 * (1 - 0.9 * row / 280) if row < 280 else 3e-4 for row in range(400)]
    return lifted(columns, "loss", 281, hump(1.8, 60))


def repeated_batch() -> Columns:
    """The loader serves one batch twice; the loss stands out there."""
    columns = lifted(training(400, 68, noise=0.02), "loss", 300, [1.5, 1.2])
    columns["batch_hash"] = [f"{(298 if row == 300 else row):08x}" for row in range(400)]
    return columns


def hidden_nan() -> Columns:
    """Hugging Face's filter: a loss of 0.0 where the norm is NaN, to the end."""
    columns = training(100, 69)
    put(columns, "loss", 60, [0.0] * 40)
    return put(columns, "grad_norm", 60, [NAN] * 40)


def scattered_nan() -> Columns:
    """A gradient in seven is NaN all along."""
    columns = training(350, 70)
    return columns | {"grad_norm": [NAN if row % 7 == 3 else x for row, x in enumerate(columns["grad_norm"])]}


def blown_up_early() -> Columns:
    """Twelve rows: 3 times the first loss, then back."""
    losses = [12.4, 12.4, 24.0, 37.5, 36.9, 30.2, 24.8, 20.1, 16.4, 13.3, 11.8, 11.0]
    return {"loss": losses, "grad_norm": [60.0, 61, 90, 120, 80, 60, 50, 40, 30, 20, 10, 8]}


def upside_down() -> Columns:
    """The learning rate grows from row 100 on, and the loss with it from row 250."""
    columns = rising_after(0.6, 1.6, 400, 71)
    columns["lr"] = [1e-4 * (1 + row / 100) if row > 5 else 1e-4 * (1 - 0.02 * row) for row in range(400)]
    return columns


def never_right() -> Columns:
    """From the first row on the loss only rises: the rate is far too high."""
    rng, columns = Random(72), training(200, 72, evaluations=0)
    levels = [10.8 * (1 + 0.4 * min(1, row / 40)) for row in range(200)]
    return columns | {"loss": [level * (1 + 0.01 * rng.gauss(0, 1)) for level in levels]}


def plateau_far_above() -> Columns:
    """Down to 2 in a third of the run, then up within ten rows to 5, and there for good."""
    columns = training(450, 73, over=0.08, noise=0.02)
    columns["val_loss"][150:] = [value and 5.0 for value in columns["val_loss"][150:]]
    return put(columns, "loss", 150, [2.3 + 0.27 * i for i in range(10)] + steady(290, 74, 5, 0.02))


SLOW = {"settings": {"grad_clip": 1.0, "beta2": 0.999}}
QUICK = {"settings": {"grad_clip": 1.0, "beta2": 0.95}}
OFF = {"settings": {"grad_clip": None, "beta2": 0.95}}

SICK: dict[str, Case] = {
    "three rows of NaN gradients": of(
        lambda: {"loss": [0.2, 0.0, 0.0], "grad_norm": [NAN] * 3},
        "3.4",  # nobody says in which dtype
    ),
    "eleven rows, blow-up": of(
        lambda: {"loss": [10.9, 8.2, 7.0, 6.2, 5.6, 5.2, 5.0, 4.9, 31.0, 140.0, 260.0]},
        "instability diverged",
    ),
    "early blow-up, 12 rows": of(blown_up_early, "instability"),
    "seven evaluations that turn": of(lambda: turning(400, TURNED, 80), "overfitting"),
    "overfits, no gradient norm": of(lambda: without(turning(400, TURNED, 81), "grad_norm"), "overfitting"),
    "overfits from the first evaluation": of(
        lambda: turning(200, [0.32, 0.36, 0.39, 0.41, 0.42], 82), "overfitting"
    ),
    "overfits, evaluated before training": of(
        lambda: turning(300, [5.7, 1.1, 1.12, 1.25, 1.4, 1.6, 1.7, 1.9, 2.2, 2.4], 83), "overfitting"
    ),
    "diverges without a spike": of(
        lambda: rising_after(0.4, 2.5, 600, 84), "diverged away-from-minimum instability"
    ),
    "diverges slowly": of(lambda: rising_after(0.4, 1.35, 600, 85), "diverged away-from-minimum"),
    "diverges slowly, no norm": of(
        lambda: without(rising_after(0.3, 1.5, 600, 86), "grad_norm"), "diverged"
    ),
    "high to the end after a plateau": of(plateau_far_above, "diverged instability"),
    "rises from the first row": of(never_right, "diverged never-learned instability"),
    "every step skipped": of(lambda: halving(4, True), "every-step-skipped", {"dtype": "fp16"}),
    "scale halves to the end, skips not logged": of(lambda: halving(12, False), "every-step-skipped"),
    "frozen at ln V": of(frozen, "never-learned", {"vocab_size": 512}),
    "gradient of 0": of(no_gradient, "never-learned zero-gradient", {"vocab_size": 512}),
    "norm grows tenfold": of(growing_norm, "gradient-grows"),
    "every evaluation NaN": of(
        lambda: training(400, 87) | {"val_loss": every(400, 40, [NAN] * 10)}, "evaluation-not-finite"
    ),
    "evaluation infinite from the middle": of(
        lambda: put(training(400, 88), "val_loss", 219, [INF if i % 20 == 0 else None for i in range(181)]),
        "evaluation-not-finite",
    ),
    "rate jumps": of(rate_jump, "schedule-bug"),
    "batch served twice": of(repeated_batch, "loader-bug"),
    "coherent batch, unclipped": of(lambda: coherent_batch(None, 89), "unclipped-batch", OFF),
    "coherent batch, norm after clipping": of(lambda: coherent_batch(None, 90), "unclipped-batch"),
    "coherent batch, clipped, slow v": of(lambda: coherent_batch(1.0, 91), "slow-second-moment", SLOW),
    "coherent batch, clipped, quick v": of(lambda: coherent_batch(1.0, 92), "bad-batch", QUICK),
    "unstable for 40 rows": of(
        lambda: lifted(training(500, 93), "loss", 300, hump(2.0, 40, rise=5)), "instability"
    ),
    "second spike after a taller blip": of(polluted, "instability"),
    "state lost on resume": of(state_lost, "state-lost"),
    "NaN loss that comes back": of(lambda: put(training(400, 94), "loss", 220, [NAN] * 5), "1.2"),
    "NaN loss that comes back, bf16": of(
        lambda: put(training(400, 95), "loss", 220, [NAN] * 5), "1.3", {"dtype": "bf16"}
    ),
    "NaN hidden as a loss of 0": of(hidden_nan, "non-finite-gradient", {"dtype": "bf16"}),
    "a gradient in seven is NaN": of(scattered_nan, "non-finite-gradient", {"dtype": "bf16"}),
    "fp16, constant scale, NaN gradients": of(
        lambda: scattered_nan() | {"loss_scale": [1.0] * 350}, "scaling-not-engaged", {"dtype": "fp16"}
    ),
    "fp16, scale under 1": of(
        lambda: scattered_nan() | {"loss_scale": [2.0 ** (6 - row // 40) for row in range(350)]},
        "systematic-overflow",
        {"dtype": "fp16"},
    ),
    "rate grows, loss rises": of(upside_down, "schedule-inverted"),
    "weight norm doubles, loss rises": of(
        lambda: rising_after(0.5, 1.8, 400, 96) | {"param_norm": [50 * 1.006**row for row in range(400)]},
        "decay-too-low",
    ),
    "spike in a row per 500 steps": of(
        lambda: lifted(training(60, 97, apart=500, noise=0.01), "loss", 40, [2.4, 2.0, 1.7, 1.4, 1.2]),
        "instability",
    ),
    "loss only, one row of 1,000 times": of(
        lambda: lifted(only(training(400, 98), "loss"), "loss", 300, [1000.0]), "instability"
    ),
    "error of 1e-5 diverges": of(
        lambda: scaled(rising_after(0.6, 2.5, 300, 99), 1e-5), "diverged instability away-from-minimum"
    ),
}  # fmt: skip
