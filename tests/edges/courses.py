"""Logs whose columns have courses: flat, falling, stepping, in few values, with spikes, gaps and NaN in them.

Single numbers drawn by chance make none of these, and the rules look for them.
"""

import math
from random import Random

from tests.conftest import make_run
from tests.edges.columns import INF, NAN, Columns
from tutor.run import Run

NAMES = (
    *("loss", "val_loss", "eval_a_loss", "eval_b_loss", "objective", "grad_norm", "lr", "loss_scale"),
    *("param_norm", "update_norm", "accuracy", "val_accuracy", "val_f1", "val_r2"),
    *("reward", "episode_reward", "ep_rew_mean", "kl_weight"),
)
ROWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 33, 60, 150, 400)
MANIFESTS = ({}, {}, {"vocab_size": 50257}, {"dtype": "fp16"}, {"dtype": "bf16", "vocab_size": 10})


def _course(rng: Random, rows: int) -> list[float]:
    size = 10 ** rng.uniform(-4, 4) * rng.choice((1, 1, 1, 1, 1, -1))
    shapes = (
        lambda at: 1.0,
        lambda at: math.exp(-3 * at / rows),
        lambda at: 1 + at / rows,
        lambda at: rng.choice((0.0, 1.0)),
        lambda at: rng.random(),
        lambda at: 1.0 if at < rows // 2 else 10.0,
        lambda at: math.sin(at),
        lambda at: round(rng.random(), 1),
        lambda at: rng.choice((0.5, 1.0, 1.7, 2.0, 9.0)),
    )
    shape, noise = rng.choice(shapes), rng.choice((0.0, 0.001, 0.05, 0.3, 1.0))
    return [size * shape(at) * (1 + noise * rng.gauss(0, 1)) for at in range(rows)]


def _spoilt(rng: Random, course: list[float]) -> list[float | None]:
    """The course with a few stretches of other values in it, and with gaps."""
    spoilt: list[float | None] = [*course]
    for _ in range(rng.randrange(4)):
        at = rng.choice((0, rng.randrange(len(course))))
        other = rng.choice((NAN, INF, -INF, 0.0, 100 * course[0], 3 * course[0], -course[0], 1e308))
        end = min(len(course), at + rng.choice((1, 2, 3, 8, len(course) // 2 + 1)))
        spoilt[at:end] = [other] * (end - at)
    gaps = rng.choice((0.0, 0.0, 0.0, 0.5, 0.9))
    return [None if rng.random() < gaps else value for value in spoilt]


def log_of(rng: Random) -> Run:
    """Such a log."""
    rows, step = rng.choice(ROWS), rng.choice((1, 1, 10, 50, 500))
    begin = rng.choice((0, 0, 1, 1000))
    columns: Columns = {"step": [begin + step * row for row in range(rows)]}
    for name in rng.sample(NAMES, rng.randrange(1, 7)):
        columns[name] = _spoilt(rng, _course(rng, rows))
    return make_run(columns, rng.choice(MANIFESTS))
