"""Detectors of the first step: the loss and the gradient of a model that was never trained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tutor.detectors import NO_DATA, Finding, detector
from tutor.detectors.answers import counts_answers
from tutor.detectors.beginning import begins_late
from tutor.detectors.grouped import BelowZero, Gain, NormBound, Twice
from tutor.detectors.has_learned import has_learned, untold
from tutor.detectors.loss import times_the_mean
from tutor.detectors.objective import earnings, is_objective, opposed, scores_rise
from tutor.detectors.twice import softmax_twice
from tutor.detectors.windows import finite
from tutor.run import Run, known_float, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_FIRST = ("first", "vocab", "expected", "low", "high")
_TWICE = ("first", "classes", "floor", "ceiling", "lowest", "rows")


def _around_ln_v(run: Run, above: float, below: float) -> dict[str, float] | None:
    """The loss of a model that knows nothing of its V tokens, ln V, with a bound `above` and one `below` it.

    None where the run doesn't say how many tokens there are, or has fewer than two.
    """
    vocab = run.manifest.vocab_size
    if not vocab or vocab < 2:
        return None
    expected = math.log(vocab)
    return {"vocab": vocab, "expected": expected, "low": expected - below, "high": expected + above}


@detector(
    signals=("loss",),
    outcomes=("near", "off", "above", "below", "loaded", "non-finite", "negative", "twice", "twice-scored"),
    facts={
        **dict.fromkeys(("near", "off", "above", "below", "loaded", "non-finite"), (*_FIRST, "near")),
        "negative": ("first", "near", "lowest", "step", "count", "rows"),
        "twice": ("near", *_TWICE, "highest"),
        "twice-scored": ("near", *_TWICE, "right", "of_each"),
    },
    configured=("vocab_size",),
)
def initial_loss(
    run: Run,
    at: int | None,
    *,
    near: float,
    above: float,
    below: float,
    floor: BelowZero,
    twice: Twice,
) -> Finding:
    """How far the first loss is from ln V, that of a model which knows nothing of its V tokens.

    The flaw: above, weights that begin wrong, or a head with a bias; below, a model that was trained before,
    where the manifest has the weights as drawn. Where it hasn't, weights may have been loaded on purpose, as
    for a fine-tune. A NaN or an Inf says nothing of the weights' size. Below 0 no cross-entropy can be: of
    tokens, or of classes where an accuracy is logged. Where that rises with it, it is another loss,
    as that of a random field. Nor does any loss that has a floor fall on and on. What is "twice" the softmax
    it should be keeps to a nat (`softmax_twice`), and begins at ln V as any other.
    Source: the tree, whose bounds for 512 tokens are kept as distances from ln V; ours: below 0.
    """
    if found := _below_zero(run, near, floor):
        return found
    if found := softmax_twice(run, twice):
        return replace(found, facts={**found.facts, "near": near})
    around, step = _around_ln_v(run, above, below), int(run.steps[0])
    if around is None:
        return Finding(NO_DATA, facts={"missing": ["vocab_size"]})
    if step > 1:
        return Finding(NO_DATA, facts={"missing": ["loss[0]"]})
    first, expected = float(run["loss"][0]), around["expected"]
    facts = {"first": first, **around, "near": near}
    if not math.isfinite(first):
        return Finding("non-finite", step, facts, expected)
    distance, beyond = abs(first - expected), above if first > expected else below
    outcome = "near" if distance <= near else "off" if distance <= beyond else None
    low = "below" if run.knows("initial") else "loaded"
    outcome = outcome or ("above" if first > expected else low)
    bound = near if distance < (near + beyond) / 2 else beyond
    return Finding(outcome, step, facts, expected, measured=distance, bound=bound)


def _below_zero(run: Run, near: float, bound: BelowZero) -> Finding | None:
    """The finding that a loss is below 0 that can't be there; None where it isn't, or may be."""
    loss = finite(run["loss"])
    if (lowest := known_float(loss.min())) is None or lowest >= 0:  # as of nearly every log, however long
        return None
    known = loss.drop_nulls()
    if len(known) < bound.rows or not is_objective(run) or opposed(run) or earnings(run):
        return None
    first, last, count = float(known[0]), float(known[-1]), int((known < 0).sum())
    another = scores_rise(run) or (_settles(known, bound) and _mostly_right(run))
    classes = counts_answers(run) and lowest < -bound.alike and not another
    entropy = run.knows("vocab_size") or classes
    deep = lowest <= -bound.beyond and lowest <= -bound.times * abs(first) and last <= lowest / 2
    if not (deep or (entropy and count >= bound.negative * len(known))):
        return None
    step = int(run.steps[loss.arg_min() or 0])
    facts = {"first": first, "near": near, "lowest": lowest, "step": step, "count": count, "rows": len(known)}
    return Finding("negative", step, facts, 0.0, (int(run.steps[0]), int(run.steps[-1])))


def _mostly_right(run: Run) -> bool:
    """Whether a share of right answers, or a percentage, ends above one half: classes are told apart then."""
    scored = (run.frame[name] for name in run.frame.columns if scoring.is_share(name))
    known = (finite(one).drop_nulls() for one in scored if one.dtype.is_numeric())
    return any(float(one[-1]) > _HALF * scoring.whole(to_float(one.max())) for one in known if len(one))


_HALF = 0.5
"""Of the answers: more of them right than wrong."""


def _settles(known: pl.Series, bound: BelowZero) -> bool:
    """Whether a loss gained next to nothing in its later half, of what it gained in all."""
    part = max(1, len(known) // 4)
    middle = len(known) // 2
    first, half, last = (
        to_float(some.median()) for some in (known[:part], known[middle : middle + part], known[-part:])
    )
    return abs(half - last) < bound.settled * (first - last)


@detector(
    signals=("loss",),
    outcomes=("untrained", "high", "low", "unknown", "late"),
    facts={
        **dict.fromkeys(("untrained", "high", "low"), _FIRST),
        "unknown": ("first",),
        "late": ("first", "step"),
    },
    configured=("vocab_size",),
)
def first_loss(run: Run, at: int | None, *, above: float, below: float) -> Finding:
    """Whether the first loss is what a model gives that knows nothing: ln V, with V tokens to choose from.

    The flaw: weights that begin wrong; lower, a model that was trained before. Source: the tree. "late" where
    the log begins later, "unknown" where the run doesn't name its vocabulary.
    """
    first, step, around = finite(run["loss"])[0], int(run.steps[0]), _around_ln_v(run, above, below)
    if step > 1:
        return Finding("late", None, {"first": first, "step": step})
    if first is None or around is None:
        return Finding("unknown", None, {"first": first})
    expected, low, high = around["expected"], around["low"], around["high"]
    outcome = "high" if first > high else "low" if first < low else "untrained"
    nearest = high if first > expected else low
    return Finding(outcome, step, {"first": first, **around}, expected, measured=first, bound=nearest)


_NORM = ("first", "low", "high", "above", "below")
_REDUCED = (*_NORM, "times")


@detector(
    signals=("grad_norm",),
    outcomes=("usual", "off", "summed", "above", "learns", "below"),
    facts={
        **dict.fromkeys(("usual", "off", "learns"), _NORM),
        **dict.fromkeys(("summed", "above"), _REDUCED),
        "below": (*_NORM, "reduced"),
    },
)
def first_gradient(
    run: Run,
    at: int | None,
    *,
    low: float,
    high: float,
    above: NormBound,
    below: float,
    gain: Gain,
) -> Finding:
    """Whether the first gradient norm is that of an untrained model: between `low` and `high`.

    The flaw: over `above`, the loss was summed (what is trained on is more than `above.of_loss` times the
    mean loss) or the weights begin wrong; under `below`, nothing reaches the weights. Source: the tree.
    Healthy fine-tunes begin anywhere: where the log doesn't hold what is trained on, and the run learns
    (`gain`), a tall norm is a remark. So is a low one; a norm of exactly 0 wasn't computed then. Where the
    log is too short to say whether it learns, so is it for the flaw; one that begins later than by its own
    distance of rows doesn't show the first norm.
    """
    if begins_late(run):
        return Finding(NO_DATA, facts={"missing": ["grad_norm[0]"]})
    norms = finite(run["grad_norm"])
    known = norms.is_not_null().arg_true()
    row = int(known[0]) if len(known) else 0
    first, step = known_float(norms[row]), int(run.steps[row])
    bounds = {"low": low, "high": high, "above": above.norm, "below": below}
    facts: dict[str, Any] = {"first": math.nan if first is None else first} | bounds
    if first is None:  # NaN or Inf at every row: tree phase-19 asks why
        return Finding("off", step, facts)
    if first < below:
        facts["reduced"] = known_float(run["reduced_loss"][row]) if run.has("reduced_loss") else None
        return _next_to_nothing(run, step, facts, first, has_learned(run, gain))
    if first > above.norm:
        facts |= {"times": times_the_mean(run, row)}
        found = Finding("above", step, facts, above.norm, measured=first, bound=above.norm)
        return _too_tall(run, found, facts["times"], above, gain)
    outcome = "usual" if low <= first <= high else "off"
    nearest = high if first > math.sqrt(low * high) else low
    return Finding(outcome, step, facts, None, measured=first, bound=nearest)


def _too_tall(run: Run, found: Finding, times: float | None, above: NormBound, gain: Gain) -> Finding:
    """What a first norm over its bound says: a loss that was summed, or by design."""
    micro_batches = run.manifest.batch.accumulation or 1
    if times is not None:
        return replace(found, outcome="summed") if times > above.of_loss * micro_batches else found
    learned = has_learned(run, gain)
    return untold(run) if learned is None else replace(found, outcome="learns") if learned else found


def _next_to_nothing(
    run: Run, step: int, facts: Mapping[str, Any], first: float, learned: bool | None
) -> Finding:
    """What a first norm under its bound says: nothing where a norm of 0 wasn't computed, or by design."""
    if run.has("loss") and not is_objective(run):
        return Finding(NO_DATA, facts={"missing": []})
    if first == 0 and learned:
        return Finding(NO_DATA, facts={"missing": ["grad_norm"]})
    if learned is None:
        return untold(run)
    outcome, bound = "off" if learned else "below", facts["below"]
    return Finding(outcome, step, facts, bound, measured=first, bound=bound)
