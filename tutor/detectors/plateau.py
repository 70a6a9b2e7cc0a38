"""A loss that comes to a stop: high up, where one pays who knows next to nothing, or after its first rows; or
that hardly falls while few answers are right."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.answers import accuracies
from tutor.detectors.beginning import begins_late
from tutor.detectors.grouped import Enough, Guess
from tutor.detectors.objective import is_objective, scores_rise
from tutor.detectors.trends import ordered, share_fallen
from tutor.detectors.windows import FEWEST, cadence, finite
from tutor.run import Run, names, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_BEGIN = 0.4
"""Where the later part of a run begins: of two evaluations, half-way and at the end, both are in it."""
_NATS = math.log(1e6)
"""What a choice among a million tokens costs: a loss above that is in another unit."""
_TOKENS = re.compile(r"token|perplexity|(?<![a-z])(?:train_|val_)?(?:ppl|bpc|bpb)(?![a-z])", re.IGNORECASE)
"""Columns of a run that predicts tokens."""
_MEANS = 50
"""Steps whose mean hardly varies, however single steps do: a constant of the method."""


def stops_high(run: Run, least: Enough, sigmas: float) -> Finding | None:
    """The finding that the loss lies still above `least.high` in the later part of the run, "stops-high".

    Two evaluations or more, or as many means of the training loss over many steps, lie within the share
    `least.flat` of each other, and it came down by less than the share `least.gained` of its first value.
    One that costs more than a choice among a million tokens came down by less than `least.still`. Not where a
    log begins mid-way, or a score rises beyond `sigmas` of chance.
    """
    if begins_late(run) or (run.has("loss") and not is_objective(run)) or scores_rise(run, sigmas):
        return None
    first, last = int(run.steps[0]), int(run.steps[-1])
    for signal in ("val_loss", "loss"):
        if not run.has(signal) or (signal == "loss" and not _means(run)):
            continue
        known = run.logged(signal)
        values, steps = finite(known[signal]), known.steps
        later = values.filter(steps >= first + _BEGIN * (last - first))
        if len(later) < 2 or later.null_count() or not values[0] or to_float(later.min()) < least.high:
            continue
        begun, level = float(values[0]), float(later[-1])
        spread, gained = to_float(later.max()) - to_float(later.min()), 1 - level / begun
        most = least.gained if level < _NATS else least.still
        if spread > least.flat * level or gained > most:
            continue
        facts = {
            "top": begun,
            "best": level,
            "gain": 100 * max(0.0, gained),
            "bound": 100 * most,
            "rows": len(later),
            "since": int(steps[len(values) - len(later)]),
            "spread": 100 * spread / level,
            "high": least.high,
        }
        return Finding("stops-high", None, facts, least.high, (first, last), measured=gained, bound=most)
    return None


def stops_early(run: Run, least: Enough, sigmas: float) -> Finding | None:
    """The finding that the loss stands still but for its first rows, the share `least.early`: "stops-early".

    All others, `least.rows` less one or more, lie within the share `least.stands` of their level, which is
    `least.costly` or more, and from their first third to their last they gain less than `least.flat`. Not
    where a log begins mid-way, validation gains, or a score rises beyond `sigmas` of chance.
    """
    if begins_late(run) or not (run.has("loss") and is_objective(run)) or scores_rise(run, sigmas):
        return None
    known = run.logged("loss")
    values, first = finite(known["loss"]), max(1, int(least.early * len(known)))
    later, begun = values[first:], to_float(values[:first].max() or 0.0)
    if len(later) < least.rows - 1 or later.null_count() or share_fallen(later) >= least.flat:
        return None
    level = to_float(later.median())
    spread = to_float(later.max()) - to_float(later.min())
    held_out = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else later[:0]
    gains = len(held_out) > 0 and share_fallen(held_out) >= least.flat
    if level < least.costly or spread > least.stands * level or gains:
        return None
    facts = {"top": begun, "best": level, "gain": 100 * max(0.0, 1 - level / begun) if begun else 0.0}
    facts |= {"rows": len(later), "since": int(known.steps[first]), "before": first}
    facts |= {"spread": 100 * spread / level, "bound": 100 * least.stands}
    seen = (int(run.steps[0]), int(run.steps[-1]))
    return Finding("stops-early", None, facts, None, seen, measured=spread / level, bound=least.stands)


def few_right(run: Run, least: Enough, guess: Guess) -> Finding | None:
    """The finding that few answers in training are right, and hardly more than at first: "few-right".

    Of `least.rows` rows or more, the middle one of the later half has under `guess.few` right, and of what
    was wrong in the worst of the first `FEWEST` the share `guess.skill` at most. Meanwhile the loss, between
    what so many right answers cost at least and what guessing among `guess.classes` classes does, came down
    from its second row on by less than `least.gained`: from the first alone it falls as the weights forget
    how they were drawn. Not where a log begins mid-way, validation gains, or tokens are predicted.
    """
    if not run.has("loss") or begins_late(run) or _of_tokens(run) or _validation_gains(run, least, guess):
        return None
    costs = finite(run["loss"]).drop_nulls()
    if len(costs) < least.rows or costs[1] <= 0:
        return None
    begun, later = float(costs[1]), _later(costs)
    level, fell = to_float(later.median()), 1 - to_float(later.median()) / begun
    if fell >= least.gained or level > (1 + guess.sure) * math.log(guess.classes):
        return None
    for name, curve in accuracies(run):
        first, value = to_float(curve.values[:FEWEST].min()), to_float(_later(curve.values).median())
        if names.says_held_out(curve.signal) or len(curve.values) < least.rows or not 0 < value < guess.few:
            continue
        gained = (value - first) / (1 - first) if first < 1 else 0.0
        if first > value or gained > guess.skill or level < -math.log(value):
            continue
        facts = {"score": name, "value": value, "first": first, "rows": len(curve.values)}
        facts |= {"since": int(curve.steps[len(curve.values) // 2]), "top": begun, "best": level}
        facts |= {"gain": 100 * max(0.0, fell), "bound": 100 * least.gained}
        facts |= {"spread": 100 * (to_float(later.max()) - to_float(later.min())) / level}
        seen = (int(run.steps[0]), int(run.steps[-1]))
        return Finding("few-right", None, facts, None, seen, measured=gained, bound=guess.skill, curve=curve)
    return None


def _of_tokens(run: Run) -> bool:
    """Whether what is predicted are tokens, of which a third right may be much."""
    return run.of_tokens or run.knows("vocab_size") or any(map(_TOKENS.search, run.frame.columns))


def _validation_gains(run: Run, least: Enough, guess: Guess) -> bool:
    """Whether the validation loss falls by `least.gained`, or a score rises in order and by `guess.skill`."""
    held_out = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if held_out is not None and len(held_out) > 1:
        begun = float(held_out[0])
        if begun > 0 and 1 - to_float(_later(held_out).median()) / begun >= least.gained:
            return True
    for name in run.frame.columns:
        if not scoring.rises(name) or not run.frame[name].dtype.is_numeric():
            continue
        known = finite(run.frame[name]).drop_nulls()
        values = known / scoring.whole(to_float(known.max() or 0.0))
        if len(values) < FEWEST:
            continue
        rose = to_float(_later(values).median()) - to_float(values[:FEWEST].median())
        if rose > guess.skill and ordered(values) > guess.order:
            return True
    return False


def _later(values: pl.Series) -> pl.Series:
    return values[len(values) // 2 :]


def _means(run: Run) -> bool:
    """Whether each row of the training loss is a mean over many steps."""
    return run.aggregation("loss").over == "window" and cadence(run) >= _MEANS
