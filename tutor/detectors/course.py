"""Detectors of the whole run, measured by the run itself: how far it improved, and how noisy it is.

A loss in nats, an error in metres or a reward have no bound in common. So levels are compared with the
run's own improvement and noise, both robust: medians, which a spike or a lucky batch doesn't move.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, any_of, detector
from tutor.detectors.beginning import warming_up
from tutor.detectors.courses import Course, course_in
from tutor.detectors.grouped import Gain, Runaway
from tutor.detectors.learns import LEARNS, found_learning
from tutor.detectors.objective import (
    earnings,
    earns_on,
    fell_too,
    in_balance,
    is_objective,
    reweighted,
    scores_rise,
)
from tutor.detectors.runaway import climbs, unexplained
from tutor.detectors.trends import ordered, trend
from tutor.detectors.windows import FEWEST, finite, noise_of, piecewise
from tutor.run import Run, known_float, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_ENDED = ("start", "best", "best_step", "end", "rise", "bound", "improvement")


@detector(
    signals=("loss",),
    outcomes=("yes", "no", "harder", "fell"),
    facts={
        **dict.fromkeys(("yes", "no"), _ENDED),
        "harder": (*_ENDED, "before", "after", "evaluations"),
        "fell": (*_ENDED, "reward", "before", "after"),
    },
    every_row=True,
)
def ends_high(
    run: Run,
    at: int | None,
    *,
    share: float,
    of_improvement: float,
    of_level: float,
    sigmas: float,
    lasting: Runaway,
) -> Finding:
    """Whether the loss ends well above its best level, and stays there.

    The flaw: the run diverged, with or without a spike to show for it. The end counts as high where it stands
    above the best level by more than `of_improvement` of all that the run had gained, by more than `of_level`
    of the level itself, and by more than `sigmas` times the noise of a level. In a log so short that a level
    is a row or two, as many as `lasting.rows` have to end as high: one alone may be a spike. Where a level is
    one row, these have told enough when each stands above the one before, whatever the noise of learning; so
    has the order of all, or of those since the lowest, beyond chance. No noise explains an end whose rows
    each stand many times as high as all before them (`lasting` says how many), nor one that does together
    with validation, nor a climb over the first rows of which nothing comes back, nor rows that each stand
    above twice as many before them where all is lost that was gained, nor both losses where they only rise.
    Beside a reward that rises the loss is not what the run is after, and where a part of it has come to weigh
    more (`reweighted`) it isn't what it was; nor beside a score that rises in order, by more than
    `lasting.better`; nor is it a discriminator's that a generator has caught up with (`in_balance`). One that
    rose as much before, and came back, has as long to do so again. Where validation has gone on to fall, what
    is trained on got "harder"; where a reward "fell" with it, that is what the run lost. Source: ours.
    """
    loss = run["loss"]
    if not is_objective(run) or earnings(run):
        return Finding(NO_DATA, facts={"missing": []})
    course = course_in(run, "loss", share)
    if course is None:
        return Finding(NOT_YET, facts={"rows": len(loss), "needed": 3})
    lost = max(of_improvement * course.improvement, of_level * abs(course.best))
    least = max(lost, sigmas * math.sqrt(2) * course.noise)
    known, high = finite(loss).drop_nulls(), course.rise > least
    if height := unexplained(run, known, lasting):
        least, high = max(0.0, height - course.best), True
    elif course.rise > lost and climbs(run, known, course, lost, lasting):
        least, high = lost, True
    elif high and (more := _needs(known, course, least, lasting)):
        return Finding(NOT_YET, facts={"rows": len(loss), "needed": len(loss) + more})
    step = int(run.steps[course.best_row])
    gone = reweighted(run, step, course.best, course.end) or earns_on(run, course.best_row)
    gone = gone or in_balance(run)
    if high and (gone or scores_rise(run, least=lasting.better)):
        return Finding(NO_DATA, step, {"missing": []})
    facts = {
        "start": course.start,
        "best": course.best,
        "best_step": step,
        "end": course.end,
        "rise": course.rise,
        "bound": course.best + least,
        "improvement": course.improvement,
    }
    seen = (int(run.steps[0]), int(run.steps[-1]))
    better = _held_out_since(run, step, sigmas) if high else {}
    fell = fell_too(run) if high and not better else {}
    facts |= better | fell
    return Finding(
        "harder" if better else "fell" if fell else "yes" if high else "no",
        step,
        facts,
        course.best + least,
        seen,
        measured=course.rise,
        bound=least,
        curve=course.drawn(run, "loss"),
    )


_EVALUATIONS = 3
"""Evaluations whose median is a level: a constant of the method."""


def _held_out_since(run: Run, step: int, sigmas: float) -> dict[str, float]:
    """The levels of validation up to a step and at the end, where it fell in between; empty elsewhere.

    By more than `sigmas` of a level's noise: one that stays where it was says nothing in the run's favour.
    """
    if not run.has("val_loss"):
        return {}
    held_out = finite(run["val_loss"])
    until, since = (held_out.filter(where).drop_nulls() for where in (run.steps <= step, run.steps > step))
    if min(len(until), len(since)) < _EVALUATIONS:
        return {}
    before, after = (to_float(part[-_EVALUATIONS:].median()) for part in (until, since))
    noise = math.sqrt(2 / _EVALUATIONS) * noise_of(held_out.drop_nulls())
    fell = before - after > sigmas * noise
    return {"before": before, "after": after, "evaluations": len(since)} if fell else {}


def _needs(known: pl.Series, course: Course, least: float, lasting: Runaway) -> int:
    """How many rows more it takes to say that the end is high for good; 0 where it is.

    Where a level is few rows, and the last ones don't all end as high, one alone may be a spike.
    """
    if course.span < lasting.rows and to_float(known[-lasting.rows :].min()) <= course.best + least:
        return lasting.rows
    return _until_back(course)


PATIENCE = 2
"""A loss that came back in some rows may take so many times as many next time: a constant of the method."""


def _until_back(course: Course) -> int:
    """How many rows more a loss has to come back that rose as much before, and came back; 0 where none did.

    As after each restart of a cosine, which a log without the learning rate doesn't tell. What rises before
    the loss has fallen by as much is a warm-up.
    """
    levels, rows = course.levels.to_list(), course.rows.to_list()
    lowest = levels.index(min(levels))
    high = course.rise / 2
    longest, begun, best = 0, None, levels[0]
    for place, level in enumerate(levels[:lowest]):
        if begun is None and level > best + high and course.start - best > course.rise:
            begun = place
        elif begun is not None and level <= best:
            longest, begun = max(longest, rows[place] - rows[begun]), None
        best = min(best, level)
    risen = (rows[at] for at in range(lowest, len(levels)) if levels[at] > levels[lowest] + high)
    return max(0, PATIENCE * longest - (rows[-1] - next(risen, rows[lowest])))


_FIRST = ("first", "vocab", "expected", "low", "high")


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
    first, vocab, step = finite(run["loss"])[0], run.manifest.vocab_size, int(run.steps[0])
    if step > 1:
        return Finding("late", None, {"first": first, "step": step})
    if first is None or not vocab or vocab < 2:
        return Finding("unknown", None, {"first": first})
    expected = math.log(vocab)
    low, high = expected - below, expected + above
    facts = {"first": first, "vocab": vocab, "expected": expected, "low": low, "high": high}
    outcome = "high" if first > high else "low" if first < low else "untrained"
    nearest = high if first > expected else low
    return Finding(outcome, step, facts, expected, measured=first, bound=nearest)


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
"""Rows whose median is an end of a short log, whatever one odd row does: a constant of the method."""


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
