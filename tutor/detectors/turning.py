"""Detector of a held-out loss that turns: it was lowest on the way, and has risen for good since."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, any_of, detector
from tutor.detectors.behind import BEHIND, left_behind, never_follows
from tutor.detectors.grouped import Rise, Scores
from tutor.detectors.held_out import broken_evaluation, costs_nothing
from tutor.detectors.objective import earnings, is_likelihood, reweighted
from tutor.detectors.rise import (
    beyond_chance,
    beyond_training,
    learned_since,
    never_again,
    not_slight,
    training_too,
)
from tutor.detectors.scores_lost import (
    gains_on,
    never_so_good_again,
    score_kept,
    score_lost,
    sinks_while_learning,
    sinks_with_it,
)
from tutor.detectors.standstill import exact
from tutor.detectors.unturned import (
    EXTREMES,
    GAINED_NOTHING,
    STAYS,
    WORST,
    ends_worst,
    extremes,
    never_gains,
    stays,
)
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, names, to_float
from tutor.words import cut, plain

if TYPE_CHECKING:
    import polars as pl

NAMED = 5
"""So many steps are named in a sentence."""

_TURNED = (
    "first", "best", "best_step", "end", "rise", "bound", "rows", "span", *EXTREMES,
)  # fmt: skip
_SCORED = ("score", "begin", "best", "best_step", "end", "given", "bound")


@detector(
    signals=(any_of("val_loss", "loss", "step"),),  # a score alone is enough
    outcomes=(
        "non-finite",
        "all-zero",
        "turns",
        "scores-on",
        "both",
        "rises",
        "jumps",
        "ends-worst",
        "never-gains",
        "stays",
        "score-lost",
        "left-behind",
        "never-follows",
        "one-set",
        "some",
        "slightly",
        "score-kept",
        "no",
    ),
    facts={
        **dict.fromkeys(("score-lost", "score-kept"), _SCORED),
        "one-set": (*_TURNED, "set", "sets"),
        "left-behind": BEHIND,
        "never-follows": (*BEHIND, "began", "rows"),
        "non-finite": ("step", "count", "rows"),
        "all-zero": ("step", "rows", "train"),
        **dict.fromkeys(("turns", "both", "rises", "slightly", "no"), _TURNED),
        "scores-on": (*_TURNED, "score", "before", "after", "most"),
        "some": (*_TURNED, "count", "named"),
        "jumps": (*_TURNED, "step", "peak", "times", "level", "least", "count"),
        "ends-worst": WORST,
        "never-gains": GAINED_NOTHING,
        "stays": STAYS,
    },
    every_row=True,
    scores=True,
)
def validation_turns(
    run: Run,
    at: int | None,
    *,
    of_improvement: float,
    of_level: float,
    last: int,
    chance: Rise,
    scores: Scores,
) -> Finding:
    """Whether the validation loss turns and rises for good, or isn't finite, or a score is lost for good.

    The flaw: the model learns its training data by heart; or evaluation itself is broken. It compares levels,
    medians of `last` evaluations in a row (single ones where there are few): the last level stands above the
    lowest by more than `of_improvement` of what had been gained since the first evaluation, and by more than
    `of_level` of the lowest; "slightly" where only by the latter, or where it creeps up by less than that,
    and than a part of its level (`chance.high`). It also turns where all that was gained is lost again, above
    the first level too, or where it has risen for long (`chance` says when). None of it counts that noise
    explains. Where training goes on to fall, it is enough to lose a part of the gain (`chance.lost`), to rise
    in order, or by little (`chance.onset`) in order at the end of many evaluations, or of all, where the
    first was lowest; where it falls to half (`chance.halves`), the many since then may lie that high in the
    median, whatever their noise. Where it turns by less than a part of its level (`scores.costlier`), and a
    held-out score goes on to rise (`gains_on`), it "scores-on". Where the training loss rises with it
    (`chance.beside`), "both" do, and nothing is learned by heart; where a part of the loss has come to weigh
    more, and training didn't fall, nothing is told. One that stands far above those before and after it, and
    comes back, "jumps" (`chance.jumps`); a last one far above the first and the lowest ("ends-worst") is no
    noise either. One that ends where it began while training learned ("never-gains", "stays") holds nothing
    of that. Without a training loss to hold it against it only "rises", which as many evaluations have
    to show, or few that rise to `chance.times` the lowest, or lose all that they gained; so high, and all
    above the first one, two in a row are enough, and a quarter above it (`chance.above`) where the training
    loss falls to half (`chance.halves`), a tenth (`chance.high`) where the first one was lowest. A lowest
    evaluation that none comes near again (`chance.above`) needs no levels. Where the loss says nothing of the
    kind, a score or a reward may: "score-lost" (see `score_lost`), "left-behind" (see `left_behind`),
    "never-follows" (see `never_follows`), and where no loss is logged, or a reward is what the run is after,
    "score-kept". NaN and Inf count where they fill `chance.broken` of the evaluations, or the last one;
    elsewhere "some" are; and where `last` or more are all exactly 0 ("all-zero"), nothing was evaluated. Of
    several held-out sets the mean is judged; where "one-set" turns all the same, that is told. Source: ours.
    """
    if not run.has("val_loss"):
        kept = None if run.has("loss") and not earnings(run) else score_kept(run, chance, scores)
        lost = _of_scores(run, chance, scores, last, of_level)
        return lost or kept or Finding(NO_DATA, facts={"missing": ["val_loss"]})
    if is_likelihood(run, chance.few):
        return _of_scores(run, chance, scores, last, of_level) or Finding(NO_DATA, facts={"missing": []})
    if broken := broken_evaluation(run, chance.broken):
        return Finding("non-finite", broken["step"], broken)
    if nothing := costs_nothing(run, last):
        return Finding("all-zero", nothing["step"], nothing)
    found = _turns(run, of_improvement, of_level, last, chance)
    if found.outcome in ("slightly", "no", "some", NOT_YET):
        of_one = partial(_turns, of_improvement=of_improvement, of_level=of_level, last=last, chance=chance)
        scored = _of_scores(run, chance, scores, last, of_level)
        unturned = (
            ends_worst(run, last, chance)
            or never_gains(run, last, chance)
            or stays(run, last, of_level, chance)
        )
        return scored or unturned or _one_set(run, of_one) or found
    if gains := _gains_meanwhile(run, found, chance, scores):
        found = replace(found, outcome="scores-on", facts={**found.facts, **gains})
    beside = None if gains else _of_scores(run, chance, scores, last, of_level)
    return replace(found, also=(beside.outcome,)) if beside else found


def _gains_meanwhile(run: Run, found: Finding, chance: Rise, scores: Scores) -> dict[str, Any]:
    """The score that goes on to rise while validation turns by little; empty where it doesn't, or by much."""
    little = found.outcome == "turns" and found.facts["rise"] < scores.costlier * abs(found.facts["best"])
    gains = gains_on(run, found.step, chance, scores) if little and found.step is not None else {}
    return gains | {"most": 100 * scores.costlier} if gains else {}


def _one_set(run: Run, turns: Callable[[Run], Finding]) -> Finding | None:
    """The finding that one of several held-out sets turns, whose mean doesn't; the one that rises most."""
    sets = [name for name in names.losses_of_sets(run.frame.columns) if run.frame[name].dtype.is_numeric()]
    found = {
        name: turns(replace(run, frame=run.frame.with_columns(run.frame[name].cast(float).alias("val_loss"))))
        for name in sets
    }
    turned = {name: one for name, one in found.items() if one.outcome in ("turns", "both", "rises")}
    if len(sets) < 2 or not turned:
        return None
    name = max(turned, key=lambda one: turned[one].facts["rise"] / abs(turned[one].facts["best"] or 1.0))
    facts = {**turned[name].facts, "set": plain(cut(name)), "sets": len(sets)}
    there = finite(run.frame[name]).is_not_null()
    curve = Smoothed(name, run.steps.filter(there), run.frame[name].filter(there))
    return replace(turned[name], outcome="one-set", facts=facts, level=None, curve=curve)


def _of_scores(run: Run, chance: Rise, scores: Scores, last: int, of_level: float) -> Finding | None:
    """What is wrong with a score, where the validation loss says nothing."""
    return (
        score_lost(run, chance, scores, last)
        or never_so_good_again(run, chance, scores, last)
        or sinks_while_learning(run, chance, scores, last, of_level)
        or left_behind(run, chance, scores, last, of_level)
        or never_follows(run, chance, scores, last, of_level)
    )


def _turns(run: Run, of_improvement: float, of_level: float, last: int, chance: Rise) -> Finding:
    """What the validation loss says."""
    whole, alone, run = run, not run.has("loss"), run.logged("val_loss")
    known = finite(run["val_loss"]).is_not_null()
    steps, bad = run.steps.filter(known), run.steps.filter(~known)
    values = run["val_loss"].filter(known).cast(float)
    if _loaded_again(whole):
        steps, values = steps[:-1], values[:-1]
    if len(values) < last:
        return Finding(NOT_YET, facts={"rows": len(values), "needed": last})
    lowest = values.arg_min() or 0
    low = float(values[lowest])
    apart = max(of_improvement * (float(values[0]) - low), of_level * abs(low))
    never = never_again(whole, values, int(steps[lowest]), apart, last, chance)
    span = last if len(values) > 2 * last and not never else 1
    levels = values.rolling_median(span).drop_nulls()
    place = levels.arg_min() or 0
    best, first, end = float(levels[place]), float(values[0]), float(levels[-1])
    slight = of_level * abs(best)
    least, certain = slight, True
    learned = learned_since(whole, int(steps[lowest]), last)
    high = not_slight(values, learned, chance)
    if not never:
        large = max(min(of_improvement * (first - best), high * abs(best)), slight)
        in_all = learned_since(whole, int(steps[0]), last)
        least, certain = beyond_chance(
            values,
            levels,
            large=large,
            slight=slight,
            learned=learned,
            in_all=in_all,
            last=last,
            chance=chance,
        )
        certain |= beyond_training(whole, values, last, chance)
        if not certain and learned > chance.dive and sinks_with_it(whole, chance, last, of_level):
            least, certain = large, True
    creeps = certain and end - best > least
    least = max(least, min(of_improvement * (first - best), high * abs(best)))
    turn = place + (values[place : place + span].arg_min() or 0)  # a level's middle may be no low one
    step = int(steps[turn])
    facts = {
        "first": first,
        "best": best,
        "best_step": step,
        "end": end,
        "rise": end - best,
        "bound": best + least,
        "rows": len(values),
        "span": span,
    } | extremes(values, steps)
    ends_lowest = lowest == len(values) - 1  # its level may lie higher for the noise before
    outcome = "slightly" if not ends_lowest and (creeps or end - best > slight) else "no"
    alone_too = never or (certain and float(values[-1]) > chance.times * float(values[lowest]) > 0)
    if end - best > least and not (alone_too if alone else certain) and len(values) < chance.evaluations:
        return Finding(NOT_YET, facts={"rows": len(values), "needed": chance.evaluations})
    rises = end - best > least and certain
    if rises and reweighted(whole, step, best, end) and learned_since(whole, step, last) <= 0:
        return Finding(NO_DATA, step, {"missing": []})
    if rises:
        too = not alone and training_too(whole, step, end - best, last, chance)
        outcome = "rises" if alone else "both" if too else "turns"
    elif jump := _jump(values, steps, _untrained(whole, first), last, chance):
        outcome, step, facts = "jumps", int(jump["step"]), facts | jump
    elif len(bad):
        more = " ..." if len(bad) > NAMED else ""
        facts |= {"count": len(bad), "named": ", ".join(map(str, bad[:NAMED])) + more}
        outcome = "some"
    seen = (int(run.steps[0]), int(run.steps[-1]))
    if outcome == "jumps":
        measured, bound = facts["times"], chance.jumps
        return Finding(outcome, step, facts, bound * facts["level"], seen, measured=measured, bound=bound)
    return Finding(outcome, step, facts, best + least, seen, measured=end - best, bound=least)


_DIGITS = 5
"""Digits in which two evaluations of other weights don't agree: a constant of the method."""


def _loaded_again(run: Run) -> bool:
    """Whether the last evaluation is the lowest one again, digit by digit, after others.

    Many trainers load the best checkpoint at the end, and evaluate it once more. A number of few digits may
    come again by chance; all that was evaluated doesn't.
    """
    known = run.frame.filter(finite(run["val_loss"]).is_not_null())
    values = known["val_loss"].cast(float)
    if len(values) < 3 or values[-1] == values[-2] or values[-1] != values[:-1].min():
        return False
    lowest = values[:-1].arg_min() or 0
    beside = (known[one] for one in known.columns if names.says_held_out(one) and one != "val_loss")
    both = [(one[lowest], one[-1]) for one in beside if None not in (one[lowest], one[-1])]
    return exact(float(values[-1]), _DIGITS) or (len(both) > 0 and all(one == last for one, last in both))


_OF_ITS_SIZE = 10
"""A first row so many times as high as the first evaluation is in another unit, or a spike."""


def _untrained(run: Run, first: float) -> float:
    """What a run cost that knew nothing yet: its first evaluation or, where it is higher, its first row."""
    begun = finite(run["loss"]).drop_nulls().head(1).to_list() if run.has("loss") else []
    return max([first, *(one for one in begun if one < _OF_ITS_SIZE * first)])


_UNSTEADY = 0.2
"""By such a share evaluations that are unsteady differ from row to row: a constant of the method."""


def _jump(values: pl.Series, steps: pl.Series, untrained: float, last: int, chance: Rise) -> dict[str, float]:
    """The evaluation that stands farthest above those before and after it; empty where none does.

    It stands above what an `untrained` run costs, too: below it may be a step on the way. The
    level beside it is the higher of the medians of up to `last` before it, two at least, and after it. Where
    validation has come under half of that since (`chance.halves`), and differs much from row to row, it was
    still on its way, and unsteady. Fewer than twice as many in all don't tell what is usual.
    """
    if len(values) < 2 * last:
        return {}
    before = values.rolling_median(last, min_samples=2).shift(1)
    after = values.reverse().rolling_median(last, min_samples=1).reverse().shift(-1)
    beside = before.zip_with(before > after, after)
    tall = ((beside > 0) & (values > untrained) & (values > beside * chance.jumps)).fill_null(False)
    noise = chance.deviations * noise_of(values.filter(~tall))
    calm = noise_of(values.filter(~tall & (values > 0)).log()) < _UNSTEADY
    settled = beside <= (math.inf if calm else to_float(values[-last:].median()) / chance.halves)
    places = (tall & settled & (values - beside > noise)).arg_true()
    if not len(places):
        return {}
    times = values / beside
    place = max(places, key=lambda one: float(times[one]))
    return {
        "step": int(steps[place]),
        "peak": float(values[place]),
        "level": float(beside[place]),
        "times": float(times[place]),
        "least": chance.jumps,
        "count": len(places),
    }
