"""Scores and rewards: kept, or lost again for good, whatever the loss says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tutor import signals
from tutor.detectors import Finding, Smoothed
from tutor.detectors.courses import Course, course_of
from tutor.detectors.grouped import Rise, Scores
from tutor.detectors.objective import share_gained
from tutor.detectors.rise import learned_since
from tutor.detectors.scores import KEPT, LENGTH, scores_and_rewards
from tutor.detectors.trends import ordered, sunk
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, scoring, to_float
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 0.05
"""The share of the rows whose median is a level: a constant of the method."""
_OF_SINGLE = 5
"""Single episodes whose median is a level, at least: one good one says little."""


def score_lost(run: Run, chance: Rise, scores: Scores, last: int) -> Finding | None:
    """The finding that the score that lost most has lost more than `scores.lost` of what it had gained.

    Of its best level, too, more than `scores.of_best`, and more than noise explains; one that was best at
    first has lost that much of what it was. Its last `last` rows all stand so low, and it has
    `chance.evaluations` of them or more.
    """
    found = [
        (_given(course, known, chance, scores, last), name, course)
        for name, known, course in _courses(run, chance)
    ]
    given, name, course = max(found, key=lambda one: one[0], default=(0.0, "", None))
    return _finding("score-lost", run, name, course, given, scores.lost) if course and given else None


def never_so_good_again(run: Run, chance: Rise, scores: Scores, last: int) -> Finding | None:
    """The finding that a held-out score was best at its first evaluation, while training learned on.

    None of the `chance.evaluations` or more since then came nearer to it than `chance.above` of it, and the
    training loss fell by more than `chance.halves` meanwhile: what it learned serves its own data alone.
    """
    for name, known, course in _courses(run, chance):
        first, after = float(known[0]), known[1:]
        if not names.says_held_out(name) or scoring.is_reward(name) or len(after) < chance.evaluations:
            continue
        if not 0 < to_float(after.max()) < (1 - chance.above) * first:
            continue
        if learned_since(run, int(run.steps[0]), last) > chance.halves:
            end = to_float(after[-last:].median())
            best = replace(course, start=-first, best=-first, best_row=0, end=-end)
            return _finding("score-lost", run, name, best, (first - end) / first, chance.above)
    return None


def sinks_while_learning(
    run: Run, chance: Rise, scores: Scores, last: int, of_level: float
) -> Finding | None:
    """The finding that a score falls from evaluation to evaluation, while the training loss falls on.

    Since its best one, twice `last` evaluations or more with it, in order beyond `chance.many`, the last the
    lowest, or to where the last ones lie below many before them (`sunk`). It had gained more than
    `scores.of_best` of its best level, and gave back more than `chance.above` of that gain, beyond noise, or
    in order as much as the former, and no less than `of_level`. The training loss fell by `chance.learns`.
    """
    for name, known in scores_and_rewards(run):
        best = known.arg_max() if scoring.is_score(name) else None
        since = known[best:]
        if best is None or len(since) < 2 * last:
            continue
        falls = since[-1] == since.min() and ordered(since) <= -chance.many
        if not falls and not sunk(known):
            continue
        course = course_of(-known, _LEVEL)
        if course is None:
            continue
        top, gained = float(since[0]), float(since[0]) - float(known[0])
        fall, part = top - float(since[-1]), chance.above * gained
        if falls:
            least = max(min(part, scores.of_best * abs(top)), of_level * abs(top))
        else:  # the best of many rows is a lucky one
            fall, noise = course.rise, chance.deviations * math.sqrt(2) * course.noise
            least = max(part, of_level * abs(top), noise)
        if fall <= least or gained <= scores.of_best * abs(top):
            continue
        there = run.steps.filter(finite(run.frame[name]).is_not_null())
        if learned_since(run, int(there[best]), last) > chance.learns:
            whole = replace(course, start=-float(known[0]), best=-top, best_row=best, end=-float(since[-1]))
            return _finding("score-lost", run, name, whole, fall / gained, least / gained)
    return None


def score_kept(run: Run, chance: Rise, scores: Scores) -> Finding | None:
    """The finding of the score that ends furthest below its best, where none has lost much; else None."""
    found = [
        (course.rise / gained if (gained := _gained(course, scores)) else 0.0, name, course)
        for name, _, course in _courses(run, chance)
    ]
    given, name, course = max(found, key=lambda one: one[0], default=(0.0, "", None))
    if course is None or given > scores.lost:  # what noise may explain is neither lost nor kept
        return None
    return _finding("score-kept", run, name, course, given, scores.lost)


def _finding(outcome: str, run: Run, name: str, course: Course, given: float, bound: float) -> Finding:
    there = finite(run.frame[name]).is_not_null()
    steps = run.steps.filter(there)
    best = int(steps[course.best_row])
    facts = {
        "score": plain(name)[:LENGTH],
        "begin": -course.start,
        "best": -course.best,
        "best_step": best,
        "end": -course.end,
        "given": 100 * min(given, 1.0),  # more than all can't be gone
        "bound": 100 * bound,
    }
    curve = Smoothed(name, steps, finite(run.frame[name]).filter(there))
    seen = (int(run.steps[0]), int(run.steps[-1]))
    return Finding(outcome, best, facts, None, seen, measured=given, bound=bound, curve=curve)


def gains_on(run: Run, step: int, chance: Rise, scores: Scores) -> dict[str, Any]:
    """The held-out score that has got better since a step, in order beyond `chance.few`; empty for none.

    From half of all that it can be, or more, by more than `scores.of_best` of what it was, or of what it
    lacked. Its name as `score`, its first value from there on (`before`) and the last (`after`). Of an error
    rate, which falls as it gets better, what it leaves is the score.
    """
    scored = [name for name, _ in scores_and_rewards(run)]
    errors = [name for name in run.frame.columns if scoring.is_error(name) and not signals.find(name)]
    for name in (*scored, *errors):
        kept = KEPT.search(names.spelled(name)) or scoring.is_reward(name)
        if kept or not names.says_held_out(name) or not run.frame[name].dtype.is_numeric():
            continue
        known = finite(run.frame[name]).filter(run.steps >= step).drop_nulls()
        if len(known) < FEWEST:
            continue
        shares = known / scoring.whole(to_float(known.max()))
        shares = 1 - shares if name in errors else shares
        rises = ordered(shares) > chance.few and share_gained(shares) > scores.of_best
        if float(shares[0]) >= 1 / 2 and rises:
            return {"score": plain(name)[:LENGTH], "before": float(known[0]), "after": float(known[-1])}
    return {}


def sinks_with_it(run: Run, chance: Rise, last: int, of_level: float) -> bool:
    """Whether a held-out score has lost half of its gain, and more than `of_level` of its level, noise aside.

    By itself noise may explain that; where the validation loss says the same, it hardly does.
    """
    for name, known in scores_and_rewards(run):
        course = course_of(-known, _LEVEL) if names.says_held_out(name) and scoring.is_score(name) else None
        if course is None or len(known) < chance.evaluations:
            continue
        fall = -course.best - to_float(known[-last:].median())
        if fall > max(chance.lost * course.improvement, of_level * abs(course.best)) > 0:
            return True
    return False


def _courses(run: Run, chance: Rise) -> Iterator[tuple[str, pl.Series, Course]]:
    """The scores and rewards with rows enough: their finite values, and their courses upside down."""
    for name, known in scores_and_rewards(run):
        single = scoring.is_reward(name) and not scoring.over_episodes(name)
        level = max(_LEVEL, _OF_SINGLE / max(1, len(known))) if single else _LEVEL
        if len(known) >= chance.evaluations and (course := course_of(-known, level)):
            yield name, known, course


def _given(course: Course, known: pl.Series, chance: Rise, scores: Scores, last: int) -> float:
    """Which share of what was gained is given back; 0.0 where it is chance, little, or not for good.

    No chance are rows that all stand beyond noise, nor rows since the best one that fall in order, nor last
    rows that lie below many before them.
    """
    highest, gained = -course.best, _gained(course, scores)
    least = max(scores.of_best * abs(highest), scores.lost * gained)
    ends, noise = known[-last:], chance.deviations * math.sqrt(2) * course.noise
    fall = min(course.rise, highest - to_float(ends.max()))
    if fall <= max(noise, least) and (_falls_in_order(known[course.best_row :], last, chance) or sunk(known)):
        fall, noise = min(course.rise, highest - to_float(ends.median())), 0.0
    return fall / gained if gained and fall > max(noise, least) else 0.0


def _falls_in_order(known: pl.Series, last: int, chance: Rise) -> bool:
    """Whether values fall in order, beyond chance, and the last is the lowest; of many, whether the last ones
    lie low.
    """
    low = len(known) > chance.evaluations and to_float(known[-last:].max()) < to_float(known.median())
    return ordered(known) < -chance.many and (low or known[-1] == known.min())


def _gained(course: Course, scores: Scores) -> float:
    """What a score had gained or, where it was best at first, what it was."""
    level = abs(course.best)
    return course.improvement if course.improvement > scores.of_best * level else level
