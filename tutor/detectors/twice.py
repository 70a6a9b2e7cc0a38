"""A cross-entropy of probabilities: a softmax before a loss that has one of its own.

Probabilities lie within 1 of each other. So the loss's own softmax makes of the surest answer no more than e
times what it makes of any other, and among C classes an answer costs ln(e + C - 1) nats where it is wrong
beyond doubt, and 1 nat less, the floor, where it is right beyond doubt.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.answers import accuracies
from tutor.detectors.windows import finite
from tutor.run import Run, names, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

    from tutor.detectors.grouped import Twice

_ROUNDING = 0.003
"""Nats by which logs round, and means of batches of unlike size differ: numerics, no judgement."""


def softmax_twice(run: Run, twice: Twice) -> Finding | None:
    """The finding that the loss is that of a softmax of a softmax; None where it isn't, or nothing tells.

    - "twice": no token ever costs more than ln(e + V - 1), although the loss has come down from ln V by
      `twice.fell` in `twice.rows` rows or more. Whoever learns anything is wrong now and then, and pays.
    - "twice-scored": most answers are right, and the loss stands at the floor of C classes plus 1 nat for
      each answer that is wrong, in training and in evaluation.
    """
    return _by_tokens(run, twice) or _by_answers(run, twice)


def _floor(classes: float) -> float:
    """The least that an answer among so many classes costs, in nats."""
    return math.log(math.e + classes - 1) - 1


def _classes(floor: float) -> float:
    """Among how many classes an answer costs so little at least."""
    return math.exp(floor + 1) - math.e + 1


def _by_tokens(run: Run, twice: Twice) -> Finding | None:
    """By the costliest tokens of every step."""
    vocab = run.manifest.vocab_size
    if not vocab or not run.has("worst_token_losses") or not run.has("loss"):
        return None
    known, tallest = run["loss"].drop_nulls(), run.frame["worst_token_losses"].list.max()
    if len(known) < twice.rows or tallest.count() < twice.rows or not known.is_finite().all():
        return None
    highest, lowest, ceiling = to_float(tallest.max()), to_float(known.min()), _floor(vocab) + 1
    within = highest <= ceiling + _ROUNDING and lowest >= ceiling - 1 - _ROUNDING
    if not within or lowest > math.log(vocab) - twice.fell:
        return None
    facts = {"first": float(known[0]), "classes": vocab, "floor": ceiling - 1, "ceiling": ceiling}
    facts |= {"lowest": lowest, "highest": highest, "rows": len(known)}
    # At first all tokens cost the same, whatever the loss gets: the floor shows where it is lowest.
    step = int(run.steps[run["loss"].arg_min() or 0])
    return Finding("twice", step, facts, ceiling, (int(run.steps[0]), int(run.steps[-1])))


def _by_answers(run: Run, twice: Twice) -> Finding | None:
    """By the share of right answers beside the loss, in training and in evaluation."""
    known = finite(run["loss"]).drop_nulls()
    if not len(known):
        return None
    seen = _points(run, twice)
    wrong, cost = seen["wrong"], seen["cost"]
    if len(seen) < twice.least or to_float(wrong.max()) - to_float(wrong.min()) < twice.apart:
        return None
    middle, usual = to_float(wrong.mean()), to_float(cost.mean())
    of_each = to_float(((wrong - middle) * (cost - usual)).sum()) / to_float(((wrong - middle) ** 2).sum())
    least = usual - of_each * middle
    if not 0 < least <= _floor(twice.most) + twice.within:  # a loss in another unit, however large
        return None
    classes = run.manifest.vocab_size or int(_classes(least + _ROUNDING))
    if not 1 < classes <= twice.most or not 1 / twice.times <= of_each <= twice.times:
        return None
    off = to_float((cost - least - of_each * wrong).abs().max())
    if off > twice.within or not -_ROUNDING <= least - _floor(classes) <= twice.within:
        return None
    facts = {
        "first": float(known[0]),
        "classes": classes,
        "floor": _floor(classes),
        "ceiling": _floor(classes) + 1,
    }
    facts |= {"lowest": to_float(cost.min()), "right": 100 * (1 - to_float(wrong.min())), "of_each": of_each}
    seen_in, bound = (int(run.steps[0]), int(run.steps[-1])), _floor(classes)
    return Finding("twice-scored", int(run.steps[0]), facts | {"rows": len(seen)}, bound, seen_in)


def _points(run: Run, twice: Twice) -> pl.DataFrame:
    """The share of `wrong` answers and what they `cost`, in the later half of the rows that have both.

    Only those in which most answers are right: before, none is sure.
    """
    import polars as pl

    found = [pl.DataFrame(schema={"wrong": pl.Float64, "cost": pl.Float64})]
    for _, score in accuracies(run):
        signal = "val_loss" if names.says_held_out(score.signal) else "loss"
        if not run.has(signal):
            continue
        known = finite(run.frame[score.signal])
        wrong = 1 - known / scoring.whole(to_float(known.max()))
        both = pl.DataFrame({"wrong": wrong, "cost": finite(run[signal])}).drop_nulls()
        found.append(both[len(both) // 2 :].filter(pl.col("wrong") <= 1 - twice.right))
    return pl.concat(found)
