"""Bests: which checkpoint a log calls its best, where its evaluations don't agree on one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tutor.detectors.windows import finite
from tutor.run import Run
from tutor.run.names import spelled
from tutor.words import plain, say

LOWER = {"wer", "cer", "ter", "mae", "mse", "rmse", "error"}
HIGHER = {"accuracy", "acc", "f1", "auc", "map", "bleu", "chrf", "meteor", "rouge1", "rouge2", "rougel"}
"""What metrics are called of which everybody knows whether lower or higher is better."""

_HELD_OUT = re.compile(r"(?:eval|val|valid|validation)[_/](?P<metric>.+)")


@dataclass(frozen=True)
class Best:
    """The best evaluation.

    Attributes:
        by: the metric; "" for a choice of the trainer's of which nobody knows by what.
        step: of the evaluation.
        value: of the metric there, None where it isn't known.
        chosen: whether it is the trainer's own choice.
    """

    by: str
    step: int
    value: float | None
    chosen: bool = False


def bests(run: Run) -> list[Best]:
    """The best evaluations: by validation loss, and the trainer's choice or else those by other metrics."""
    lowest = _extreme(run, "val_loss", lowest=True)
    others = _by_metrics(run)
    if own := run.chosen:
        others = iter([Best(own.metric, own.step, own.value, chosen=True)])
    return [*([lowest] if lowest else []), *others]


def of_bests(run: Run, lang: str) -> str:
    """The best evaluations in a sentence; "" where they are one and the same."""
    found = bests(run)
    if len({best.step for best in found}) <= 1:
        return ""
    return say("leaf.bests", lang, bests="; ".join(_said(best, lang) for best in found))


def _said(best: Best, lang: str) -> str:
    if best.chosen:
        key = "chosen_by" if best.by and best.value is not None else "chosen"
    else:
        key = "loss" if best.by == "val_loss" else "metric"
    return say(f"leaf.best.{key}", lang, metric=plain(best.by), step=best.step, value=best.value)


def _by_metrics(run: Run) -> Iterator[Best]:
    for name in run.frame.columns:
        named = _HELD_OUT.fullmatch(spelled(name))
        if not (named and named["metric"] in LOWER | HIGHER and run.frame[name].dtype.is_numeric()):
            continue
        if best := _extreme(run, name, lowest=named["metric"] in LOWER):
            yield best


def _extreme(run: Run, name: str, *, lowest: bool) -> Best | None:
    """The row where a column is lowest or highest, the first of equals; None where it has no finite value."""
    if not run.has(name):
        return None
    values = finite(run[name])
    row = values.arg_min() if lowest else values.arg_max()
    return None if row is None else Best(name, int(run.steps[row]), float(values[row]))
