"""Columns of made-up runs: curves with fixed seeds, and what can happen to them.

A run is a mapping of columns, each a list with a value for every row (None: not logged there). `training`
gives a whole healthy one; the functions after it change columns in place and give the run back, so that a
case reads as what happened, in order.
"""

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Columns = dict[str, list[Any]]
Noise = Callable[[Random, int], float]

NAN, INF = math.nan, math.inf


def gaussian(rng: Random, row: int) -> float:
    """Independent noise with a standard deviation of 1."""
    return rng.gauss(0, 1)


def log_normal(rng: Random, row: int) -> float:
    """Skewed upwards, as losses of small batches are."""
    return rng.lognormvariate(0, 0.6) - 1.2


def heavy_tailed(rng: Random, row: int) -> float:
    """Student's t with 3 degrees of freedom: a row in a hundred lies 4.5 away."""
    return rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2) / 3)


def periodic(rng: Random, row: int) -> float:
    """A wave of 16 rows, as of data that is sorted inside a shard, under some noise."""
    return math.sin(2 * math.pi * row / 16) + rng.gauss(0, 0.5)


def falling(
    rows: int, seed: int, *, first: float = 6.0, floor: float = 2.0, over: float = 0.2, noise: float = 0.04,
    kind: Noise = gaussian,
) -> list[float]:  # fmt: skip
    """A loss from `first` towards `floor`, by a factor of e in each share `over` of the rows.

    Args:
        rows: how many.
        seed: of the noise.
        noise: its scale, as a share of the level.
        kind: its distribution.
    """
    rng = Random(seed)
    levels = [floor + (first - floor) * math.exp(-row / (over * rows)) for row in range(rows)]
    return [level * (1 + noise * kind(rng, row)) for row, level in enumerate(levels)]


def steady(rows: int, seed: int, level: float = 1.0, noise: float = 0.1) -> list[float]:
    """Positive values around one level; `noise` is the deviation of their logarithm."""
    rng = Random(seed)
    return [level * math.exp(rng.gauss(0, noise)) for _ in range(rows)]


def cosine(rows: int, top: float = 3e-4, warmup: float = 0.05) -> list[float]:
    """A learning rate with a linear warm-up over a share of the rows, if any, then a cosine to 0."""
    warm = round(warmup * rows)
    ramp = [top * (row + 1) / warm for row in range(warm)]
    rest = rows - warm
    return ramp + [top * (1 + math.cos(math.pi * row / max(1, rest - 1))) / 2 for row in range(rest)]


def every(rows: int, apart: int, values: Sequence[float | None]) -> list[float | None]:
    """A column that holds the next of `values` at the last row of every `apart`."""
    column: list[float | None] = [None] * rows
    for row, value in zip(range(apart - 1, rows, apart), values, strict=False):
        column[row] = value
    return column


def training(
    rows: int = 400, seed: int = 0, *, begin: int = 0, apart: int = 1, evaluations: int = 20, **loss: Any
) -> Columns:
    """A healthy run: loss, gradient norm, learning rate, and a validation loss now and then.

    Args:
        rows: how many are logged.
        seed: of every column's noise.
        begin: the first step; a log that begins mid-way has no warm-up.
        apart: steps between rows.
        evaluations: how many there are.
        loss: of the loss, as `falling` takes it.
    """
    smooth = falling(rows, seed, **{**loss, "noise": 0.0})
    rng = Random(seed + 1)
    stretch = max(1, rows // max(1, evaluations))
    held_out = [value * (1.03 + rng.gauss(0, 0.004)) for value in smooth[stretch - 1 :: stretch]]
    norms = enumerate(steady(rows, seed))
    return {
        "step": [begin + apart * row for row in range(rows)],
        "loss": falling(rows, seed, **loss),
        "grad_norm": [norm * (1 + 3 * math.exp(-20 * row / rows)) for row, norm in norms],
        "lr": cosine(rows, warmup=0 if begin > 20 * apart else 0.05),
        "val_loss": every(rows, stretch, held_out) if evaluations else [None] * rows,
    }


def put(columns: Columns, name: str, at: int, values: Sequence[Any]) -> Columns:
    """The column's rows from `at` on are these."""
    columns[name][at : at + len(values)] = values
    return columns


def lifted(columns: Columns, name: str, at: int, factors: Sequence[float]) -> Columns:
    """The column's rows from `at` on are multiplied by these factors."""
    for row, factor in zip(range(at, len(columns[name])), factors, strict=False):
        if columns[name][row] is not None:
            columns[name][row] *= factor
    return columns


def scaled(columns: Columns, factor: float) -> Columns:
    """The same run with its losses in another unit."""
    for name in ("loss", "val_loss", "probe_loss"):
        if name in columns:
            columns[name] = [None if value is None else factor * value for value in columns[name]]
    return columns


def hump(height: float, rows: int, rise: int = 2) -> list[float]:
    """Factors that rise to `height` in a few rows and come back to 1 by the last of `rows`."""
    up = [1 + (height - 1) * (row + 1) / rise for row in range(rise)]
    return up + [1 + (height - 1) * (1 - row / (rows - rise)) for row in range(1, rows - rise)]


def without(columns: Columns, *names: str) -> Columns:
    """The run without these columns."""
    return {name: values for name, values in columns.items() if name not in names}


def only(columns: Columns, *names: str) -> Columns:
    """The run with these columns and its steps alone."""
    return {name: columns[name] for name in ("step", *names)}
