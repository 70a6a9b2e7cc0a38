"""Rewards that are never earned: one number, or levels that stay where they began; and those that rise."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tutor.detectors import NOT_YET, Finding, Smoothed
from tutor.detectors.courses import Course, course_of
from tutor.detectors.objective import LEVEL, earnings
from tutor.detectors.scores import LENGTH, scores_and_rewards
from tutor.detectors.trends import lasting_trend
from tutor.detectors.windows import cadence, finite
from tutor.run import Run, names, scoring, to_float
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

_SET = re.compile(
    r"(?<![a-z])(scale|coef[a-z]*|weight|shift|bias|target|threshold|clip|limit|lr|discount|gamma|beta|decay)(?![a-z])"
)
"""Words of a number about rewards that somebody set."""
_FAR = 0.5
"""The share of what a policy earned at first, by which one falls far: a constant of the method."""
_NARROW = 0.02
"""The share of a reward within which one may lie that can't rise any more: a constant of the method."""
_EPISODES = 3
"""Single episodes that tell as much as one mean: a constant of the method."""
_FEWEST_TIMES = 2
"""And as many times more rows at least, however many episodes lie between two of them."""
_RARE = 4
"""And single rewards most of which are 0: nothing is found to begin with, and nothing later."""
_SURE = 2.0
"""A fall in order beyond so many standard deviations of chance is sure, whatever noise hides: a constant of
the method."""
_EXPLORES = re.compile(r"(?<![a-z])(epsilon|eps|exploration_rate)(?![a-z])")
_MOSTLY = 0.5
"""The share of actions drawn at random above which rewards say little of the policy: a constant of the
method."""
_STEPS = 1000
"""Steps of which few games take more: a constant of the method."""


def one_reward(run: Run, least: int) -> Finding | None:
    """The finding that the mean reward of a run is one number, in `least` rows or more: "one-reward".

    Whatever the policy does, it earns the same; but a whole number above 0, as 500, may be all that there is
    to earn, and what a single step earns may be the same for any policy. A mean at each step may be of one
    episode, and the policy has yet to meet a reward: it takes `_RARE` times as many rows. Where other rewards
    move, none is found. The facts are those of `never_earns`, of the first such column.
    """
    least *= _RARE if cadence(run) == 1 else 1
    found = dict[str, Course]()
    for name, known in scores_and_rewards(run):
        if not scoring.is_reward(name) or _SET.search(names.spelled(name)):
            continue
        if not scoring.over_episodes(name):
            if known.n_unique() > 1:
                return None
            continue
        course = course_of(-known, LEVEL)
        perfect = len(known) > 0 and known[0] > 0 and known[0] % 1 == 0
        if len(known) < least or known.n_unique() > 1 or perfect or course is None:
            return None
        found[name] = course
    return next((_earned("one-reward", run, name, course, 0.0) for name, course in found.items()), None)


def never_earns(run: Run, least: int, sigmas: float) -> Finding | None:
    """The finding that a reward stays where it began, "earns-nothing"; None where one moves, or has few rows.

    Its name as `reward`, its levels at first (`top`), at its `best` and at the `end`, what it `rose` by and
    what its noise `hides`, and of how many `rows`: `least` or more of means over episodes, of single ones
    `_times` as many. No level stands above the first by more than `sigmas` of its noise, nor do the rewards
    rise in order; of several none does, however few rows it has. Of those that are one number `one_reward`
    tells. While most actions are drawn at random the policy has yet to show what it earns.
    """
    if _explores(run):
        return None
    found: Finding | None = None
    for name in run.frame.columns:
        if not scoring.is_reward(name) or not run.frame[name].dtype.is_numeric():
            continue
        values = finite(run.frame[name])
        blocks = _of_rare(values.drop_nulls())
        enough = values.count() >= least * _times(run, name, blocks)
        values = values if blocks is None else blocks
        course = course_of(-values, LEVEL)
        if course is None:
            continue
        hides = sigmas * math.sqrt(2) * course.noise
        trend, fell = lasting_trend(values), course.end - course.start
        # Whether one that fell far is lost is another question.
        falls = fell > _FAR * abs(course.start) and trend < (-1 if fell > hides else -_SURE)
        if course.improvement > hides or trend > 1 or falls:
            return None
        if not (enough and course.noise) or _at_its_best(values):
            continue
        found = found or _earned("earns-nothing", run, name, course, hides)
    return found


def _explores(run: Run) -> bool:
    """Whether most actions were still drawn at random when the log ends, as an epsilon in it says."""
    rates = (finite(run.frame[name]).drop_nulls() for name in _rates(run))
    return any(_MOSTLY < to_float(known[-1]) <= 1 for known in rates if len(known))


def _rates(run: Run) -> list[str]:
    """The columns of the share of actions that are drawn at random."""
    numbers = (name for name in run.frame.columns if run.frame[name].dtype.is_numeric())
    return [name for name in numbers if _EXPLORES.search(names.spelled(name))]


def _at_its_best(values: pl.Series) -> bool:
    """Whether the rewards are all that there is to earn, as it seems: most are the highest, or near it."""
    usual, highest, lowest = (to_float(one) for one in (values.median(), values.max(), values.min()))
    return usual == highest or 0 < highest - lowest < _NARROW * usual


def too_few_rewards(run: Run, least: int) -> Finding | None:
    """The finding that a log of rewards alone is too short to tell what they do; None of any other.

    Of one with rows enough for `never_earns` twice as many may show a rise that noise hides.
    """
    if run.has("loss") or run.has("val_loss"):
        return None
    for name in run.frame.columns:
        if scoring.is_reward(name) and run.frame[name].dtype.is_numeric():
            known = finite(run.frame[name]).drop_nulls()
            needed = least * _times(run, name, _of_rare(known))
            if len(known):
                needed = needed if len(known) < needed else 2 * len(known)
                return Finding(NOT_YET, facts={"rows": len(known), "needed": needed})
    return None


def _times(run: Run, name: str, blocks: pl.Series | None) -> int:
    """How many rows of a reward tell as much as one mean over episodes.

    Fewer where it learns from other episodes between two of them: what counts is how many it has had.
    """
    if scoring.over_episodes(name):
        return 1
    if blocks is not None:
        return _RARE
    between = cadence(run) / (1 if run.by_row else _STEPS)
    return max(_FEWEST_TIMES, math.ceil(_EPISODES / max(1.0, between)))


def _of_rare(known: pl.Series) -> pl.Series | None:
    """The means of as many blocks as there are levels, of rewards most of which are 0; None of any other.

    The median of those is 0, however often something is earned.
    """
    size = round(LEVEL * len(known) / 2)
    if not size or to_float(known.min()) < 0 or to_float(known.median()) > 0 or to_float(known.max()) <= 0:
        return None
    whole = len(known) // size * size
    return known.cast(float)[:whole].reshape((-1, size)).arr.mean()


def earns(run: Run, sigmas: float) -> Finding | None:
    """The finding that the reward of a run rises, and is kept: "earns", with the facts of `never_earns`."""
    name, course = earnings(run) or ("", None)
    if course is None:
        return None
    return _earned("earns", run, name, course, sigmas * math.sqrt(2) * course.noise)


def _earned(outcome: str, run: Run, name: str, course: Course, hides: float) -> Finding:
    known = finite(run.frame[name]).is_not_null()
    facts = {
        "reward": plain(name)[:LENGTH],
        "top": -course.start,
        "best": -course.best,
        "end": -course.end,
        "rose": course.improvement,
        "hides": hides,
        "gain": 100 * course.improvement / abs(course.start) if course.start else 0.0,
        "bound": 100 * hides / abs(course.start) if course.start else 0.0,
        "rows": int(known.sum()),
    }
    curve = Smoothed(name, run.steps.filter(known), run.frame[name].filter(known))
    seen = (int(run.steps[0]), int(run.steps[-1]))
    rose = course.improvement
    return Finding(outcome, None, facts, None, seen, measured=rose, bound=hides, curve=curve)
