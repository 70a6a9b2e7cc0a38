"""Detectors of the gradient norm's course over the whole run: whether it grows for good, or is 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, any_of, detector
from tutor.detectors.beginning import warming_up
from tutor.detectors.grouped import Gain
from tutor.detectors.has_learned import LEARNS, found_learning
from tutor.detectors.trends import ordered, trend
from tutor.detectors.windows import FEWEST, finite, piecewise
from tutor.run import Run, known_float, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_GROWN = ("lowest", "last", "growth", "bound", "begin", "end")


@detector(
    signals=("grad_norm",),
    outcomes=("grows", "no"),
    facts=_GROWN,
)
def gradient_course(
    run: Run, at: int | None, *, pieces: int, least: int, growth: float, few: int, sigmas: float
) -> Finding:
    """Whether the gradient norm grows for good over the whole run.

    The flaw: weights, learning rate or data drive the run towards an explosion. Of `pieces` equal stretches
    of `least` rows or more, medians compared, the last stands `growth` times above the lowest, and hasn't
    come down to half of the highest since. Where the norm rises in order over the last one, beyond `sigmas`
    of chance, its later half stands for it. A shorter log, from `few` rows on, shows growth only where the
    norm grows in each half, beyond `sigmas` of chance over all, and by its share of `growth` in the later
    one: a warm-up, or an adapter that begins at 0, slows down. Source: ours.
    """
    norms = finite(run["grad_norm"])
    if len(norms) < pieces * least:
        return _grows_already(run, norms, few, growth, sigmas) or Finding(
            NOT_YET, facts={"rows": len(norms), "needed": pieces * least}
        )
    size = len(norms) // pieces
    medians = [known_float(norms[len(norms) - size * (i + 1) :][:size].median()) for i in range(pieces)][::-1]
    newest = norms[len(norms) - size :]
    if ordered(newest) > sigmas:  # its median lies far under what it has come to
        medians[-1] = known_float(newest[size // 2 :].median())
    known = [(median, place) for place, median in enumerate(medians) if median is not None]
    if len(known) < 2:
        return Finding(NOT_YET, facts={"rows": len(known), "needed": pieces})
    low, place = min(known)
    climb = [median for median, later in known if later >= place]
    grows = climb[-1] > growth * low and climb[-1] >= max(climb) / 2
    curve = piecewise(run, "grad_norm", len(norms) - size * pieces, medians)
    return _grown(run, "grows" if grows else "no", low, climb[-1], growth, curve)


def _grown(
    run: Run, outcome: str, lowest: float, last: float, growth: float, curve: Smoothed | None = None
) -> Finding:
    """The finding that the norm went from `lowest` to `last`, where `growth` times as much would count."""
    change = last / lowest if lowest else (math.inf if last else 1.0)
    begin, end = int(run.steps[0]), int(run.steps[-1])
    facts = {
        "lowest": lowest, "last": last, "growth": change, "bound": growth, "begin": begin, "end": end,
    }  # fmt: skip
    level, since = growth * lowest, None
    if outcome == "grows":
        since = facts["begin"] = _left_for_good(run, math.sqrt(growth) * lowest)
    return Finding(
        outcome, end, facts, level, (begin, end), measured=change, bound=growth, curve=curve, since=since
    )


def _left_for_good(run: Run, level: float) -> int:
    """The last step at which the gradient norm lay at a level or under it, as a median of `ENDS` rows."""
    medians = finite(run["grad_norm"]).rolling_median(ENDS, min_samples=1)
    low = (medians <= level).fill_null(False).arg_true()
    return int(run.steps[int(low[-1]) if len(low) else 0])


ENDS = 3
"""Rows whose median is an end of a short log, the fewest that one odd row doesn't move: a constant of the
method."""


def _grows_already(run: Run, norms: pl.Series, few: int, growth: float, sigmas: float) -> Finding | None:
    """The finding that the norms of a short log grow, and don't slow down; None where they don't."""
    known = norms.drop_nulls()
    if len(known) < few or warming_up(run):
        return None
    middle = len(known) // 2
    first, half, last = (
        to_float(known[start:][:ENDS].median()) for start in (0, middle - ENDS // 2, len(known) - ENDS)
    )
    grows = first > 0 and last > growth * first and last > math.sqrt(growth) * half
    if not grows or trend(known) < sigmas or trend(known[middle:]) <= 0:
        return None
    return _grown(run, "grows", first, last, growth)


@detector(
    signals=(any_of("grad_norm", "loss"),),
    outcomes=("zero", "there", "learns"),
    facts={
        **dict.fromkeys(("zero", "there"), ("step", "count", "rows", "bound")),
        "learns": LEARNS,
    },
    every_row=True,
)
def zero_gradient(run: Run, at: int | None, *, share: float, last: int, gain: Gain) -> Finding:
    """Whether the gradient norm is exactly 0, at more than `share` of the rows and at the last one.

    Or at all of the last rows, `last` or more. The flaw: nothing reaches the weights, since all is frozen,
    masked or detached. Where the loss falls by more than `gain` there is a gradient ("learns"), though none
    was logged. Several trainers print 0 for a norm that they don't compute: where the loss falls all the
    same, it wasn't recorded, and a log of a few rows can't tell, unless all answers to a prompt earn the
    same, from which nothing is learned. Source: ours.
    """
    if not run.has("grad_norm"):
        unknown = Finding(NO_DATA, facts={"missing": ["grad_norm"]})
        return found_learning(run, finite(run["loss"]), gain) or unknown
    zero = (finite(run["grad_norm"]) == 0).fill_null(False)
    count = int(zero.sum())
    step = int(run.steps[int(zero.arg_true()[0])]) if count else int(run.steps[-1])
    facts = {"step": step, "count": count, "rows": len(zero), "bound": 100 * share}
    since = len(zero) - int(zero.reverse().arg_min() or 0)  # from that row on it is 0 to the end
    if count <= share * len(zero) and len(zero) - since >= last:
        step, count = int(run.steps[since]), len(zero) - since
        zero &= run.steps >= step
        facts |= {"step": step, "count": count}
    elif not bool(zero[-1]) or count <= share * len(zero):
        return Finding("there", step, facts)
    if run.has("loss") and found_learning(run, finite(run["loss"]).set(~zero, None), gain):
        return Finding(NO_DATA, step, {"missing": ["grad_norm"]})
    if run.has("loss") and count < 2 * FEWEST and not _all_earn_the_same(run):
        return Finding(NOT_YET, step, {"rows": count, "needed": 2 * FEWEST})
    return Finding("zero", step, facts)


def _all_earn_the_same(run: Run) -> bool:
    """Whether rewards of answers to one prompt never lay apart, in `FEWEST` rows or more."""
    spreads = (finite(run[name]) for name in run.frame.columns if scoring.spreads_reward(name))
    return any(one.count() >= FEWEST and bool((one.drop_nulls() == 0).all()) for one in spreads)
