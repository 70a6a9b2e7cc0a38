"""Detector of a held-out loss that turns: it was lowest on the way, and has risen for good since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from tutor.catalog import cut
from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, any_of, detector
from tutor.detectors.behind import BEHIND, left_behind, never_follows
from tutor.detectors.grouped import Rise, Scores
from tutor.detectors.held_out import broken_evaluation, costs_nothing
from tutor.detectors.objective import earnings, is_likelihood
from tutor.detectors.scores_lost import (
    gains_on,
    never_so_good_again,
    score_kept,
    score_lost,
    sinks_while_learning,
)
from tutor.detectors.turned import turns
from tutor.detectors.unturned import (
    EXTREMES,
    GAINED_NOTHING,
    STAYS,
    WORST,
    ends_worst,
    never_gains,
    stays,
)
from tutor.detectors.windows import finite
from tutor.run import Run, names
from tutor.words import plain

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

    The flaw: the model learns its training data by heart; or evaluation itself is broken. `last` is a count
    of evaluations: the median of so many in a row is a level, and levels are compared. What is found, in the
    order in which it is looked for:

    - "non-finite": the last evaluation, or the share `chance.broken` of all, is NaN or Inf.
    - "all-zero": `last` evaluations or more are all exactly 0, so that nothing was evaluated.
    - "rises": the last level stands far above the lowest, and there is no training loss to hold it against.
    - "both": so it does, and the training loss rises, too, so that nothing is learned by heart.
    - "scores-on": so it does, by less than the share `scores.costlier`, and a held-out score gets better.
    - "turns": so it does, and neither is the case.
    - "jumps": one evaluation stands far above those before and after it.
    - "score-lost": a score or a reward has fallen for good.
    - "left-behind": a held-out score stands still while that of training rises on.
    - "never-follows": a held-out score never rises while that of training does.
    - "ends-worst": the last evaluation stands far above the first one and the lowest.
    - "never-gains": no level comes under the first evaluation, while training learns.
    - "stays": validation ends where it began, while the training loss falls to half.
    - "one-set": of several held-out sets one rises, though their mean doesn't.
    - "some": NaN and Inf are among the evaluations, but few.
    - "slightly": the last level stands above the lowest, but not far, or by what noise may explain.
    - "no": it doesn't.
    - "score-kept": no loss is logged, or a reward is what the run is after, and no score has fallen far.

    Far above the lowest level is what lies above it by a share of what was gained, or of that level
    (`turns`), and by more than noise explains (`beyond_chance`). Of a log-likelihood, which rises as it gets
    better, the scores alone tell. Where a part of the loss comes to weigh more, and explains the rise,
    nothing is told. Source: ours.
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
    judge = partial(turns, of_improvement=of_improvement, of_level=of_level, last=last, chance=chance)
    found = judge(run)
    if found.outcome in ("slightly", "no", "some", NOT_YET):
        scored = _of_scores(run, chance, scores, last, of_level)
        unturned = (
            ends_worst(run, last, chance)
            or never_gains(run, last, chance)
            or stays(run, last, of_level, chance)
        )
        return scored or unturned or _one_set(run, judge) or found
    if gains := _gains_meanwhile(run, found, chance, scores):
        found = replace(found, outcome="scores-on", facts={**found.facts, **gains})
    beside = None if gains else _of_scores(run, chance, scores, last, of_level)
    return replace(found, also=(beside.outcome,)) if beside else found


def _gains_meanwhile(run: Run, found: Finding, chance: Rise, scores: Scores) -> dict[str, Any]:
    """The score that gets better while validation turns; empty where none does, or it turns by much."""
    little = found.outcome == "turns" and found.facts["rise"] < scores.costlier * abs(found.facts["best"])
    gains = gains_on(run, found.step, chance, scores) if little and found.step is not None else {}
    return gains | {"most": 100 * scores.costlier} if gains else {}


def _one_set(run: Run, judge: Callable[[Run], Finding]) -> Finding | None:
    """The finding that one of several held-out sets rises, the one that rises most; None where none does."""
    sets = [name for name in names.losses_of_sets(run.frame.columns) if run.frame[name].dtype.is_numeric()]
    found = {
        name: judge(replace(run, frame=run.frame.with_columns(run.frame[name].cast(float).alias("val_loss"))))
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
    """What is wrong with a score or a reward; None where nothing is."""
    return (
        score_lost(run, chance, scores, last)
        or never_so_good_again(run, chance, scores, last)
        or sinks_while_learning(run, chance, scores, last, of_level)
        or left_behind(run, chance, scores, last, of_level)
        or never_follows(run, chance, scores, last, of_level)
    )
