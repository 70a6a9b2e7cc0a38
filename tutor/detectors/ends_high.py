"""Detector of a loss that ends above its best level.

A loss in nats, an error in metres or a reward have no bound in common. So levels are compared with the
run's own improvement and noise, both robust: medians, which a spike or a lucky batch doesn't move.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.beginning import begins_late, on_its_last_data
from tutor.detectors.courses import Course, course_in
from tutor.detectors.grouped import Runaway
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
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, to_float

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
    is trained on got "harder"; where a reward "fell" with it, that is what the run lost.
    Of a run that was resumed on other data, the rows since then are looked at; of a log that begins mid-way,
    the lowest level may be a few lucky rows, and the next one counts. Source: ours.
    """
    run = on_its_last_data(run)
    loss = run["loss"]
    if not is_objective(run) or earnings(run):
        return Finding(NO_DATA, facts={"missing": []})
    course = course_in(run, "loss", share)
    if course is None:
        return Finding(NOT_YET, facts={"rows": len(loss), "needed": 3})
    lost = max(of_improvement * course.improvement, of_level * abs(course.best))
    least = max(lost, sigmas * math.sqrt(2) * course.noise)
    if course.rise > least and begins_late(run):
        course = _without_luck(course, least)
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


def _without_luck(course: Course, least: float) -> Course:
    """The course of a log that begins mid-way, whose lowest level may be a few lucky rows, without these.

    As the first batches of an epoch are, of which a mean begins anew. They are fewer than make up a second
    level, and the loss was higher before, and didn't come down to them in order.
    """
    low = course.levels <= course.best + least
    if low[0] or low.sum() > course.span:
        return course
    before = course.levels[: low.arg_max() or 0]
    if float(before[-1]) < to_float(before.median()) - least:
        return course
    rows, levels = course.rows.filter(~low), course.levels.filter(~low)
    place = levels.arg_min() or 0
    return replace(course, best=float(levels[place]), best_row=int(rows[place]))


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
"""A loss that came back in so many rows may take so many times as many the next time: a constant of the
method."""


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
