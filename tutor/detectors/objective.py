"""Whether a run's loss is what training brings down, or a reward or an opponent is what the run is after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tutor.catalog import cut
from tutor.detectors.courses import Course, course_of
from tutor.detectors.trends import ordered, share_fallen
from tutor.detectors.windows import finite
from tutor.run import Run, names, once, parts, scoring, to_float
from tutor.run.names import OPPOSED
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

ZEROS = 0.2
"""A loss that is exactly 0, or crosses it, at more than this share of the rows is built around 0."""

ONE_SPIKE = 2
"""Changes of sign of a loss below 0 that spikes once: there and back."""

LEVEL = 0.1
"""The share of the rewards whose median is a level: a constant of the method."""
HALF = 0.5
"""The share of a rise, or of a count, that explains it: a constant of the method."""
SIGMAS = 3.0
"""So many times the noise of a level is no chance."""


def opposed(run: Run) -> bool:
    """Whether the log has a reward, or the loss of an opponent."""
    return any(map(OPPOSED.search, run.frame.columns))


def after_reward(run: Run) -> bool:
    """Whether the run is after a reward, of its episodes or of its answers: its loss needn't fall then.

    One that never moves says nothing of that.
    """
    return any(known.n_unique() > 1 for _, known in _rewards(run))


@once
def earnings(run: Run) -> tuple[str, Course] | None:
    """The reward that rose, and ends nearer to its best level than to where it began; None where none does.

    Its name, and its course upside down, for a course looks for what is lowest. It is what such a run is
    after. The loss beside it, of values that grow as the policy earns more, may well rise with it, or stay
    where it was. Where most rewards are one number the noise of a median is 0: what rises then lies in order.
    """
    for name, course in _courses(run):
        rose = course.improvement > SIGMAS * course.noise and 2 * course.rise < course.improvement
        if rose and (course.noise or ordered(run.frame[name].cast(float).drop_nulls()) > SIGMAS):
            return name, course
    return None


def _rewards(run: Run) -> Iterator[tuple[str, pl.Series]]:
    """Each reward by its name, where it was logged."""
    for name in run.frame.columns:
        if scoring.is_reward(name) and run.frame[name].dtype.is_numeric():
            yield name, run.frame[name].cast(float).drop_nulls()


def has_rewards(run: Run) -> bool:
    """Whether the log has a reward: a run that has to gather some before it is trained on them."""
    return any(len(known) for _, known in _rewards(run))


def _courses(run: Run) -> Iterator[tuple[str, Course]]:
    """Of each reward the course upside down, as that of what is to fall."""
    for name, _ in _rewards(run):
        course = course_of(-run.frame[name].cast(float), LEVEL)
        if course is not None:
            yield name, course


def is_likelihood(run: Run, order: float) -> bool:
    """Whether what is called a validation loss is a log-likelihood: all below 0, it rises as a score does.

    Both lie in order beyond so many standard deviations of chance, and no training loss falls beside it.
    """
    known = finite(run["val_loss"]).drop_nulls()
    if not len(known) or to_float(known.max()) >= 0 or ordered(known) <= order:
        return False
    if run.has("loss") and ordered(run["loss"]) < -order:
        return False  # what is minimised falls, so validation ought to
    return scores_rise(run, order)


def scores_rise(run: Run, order: float = SIGMAS, least: float = 0.0) -> bool:
    """Whether a score rises in order, beyond so many standard deviations of chance, and by more than `least`.

    That is the share of its highest level by which the levels at its end lie above those at first.
    """
    scores = (name for name in scoring.among(run.frame.columns) if run.frame[name].dtype.is_numeric())
    return any(ordered(run.frame[name]) > order and share_gained(run.frame[name]) > least for name in scores)


def ends_at_its_lowest(run: Run) -> bool:
    """Whether the last of two evaluations or more costs least: what is learned shows in held-out data."""
    known = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    return (
        known is not None and len(known) > 1 and float(known[-1]) == to_float(known.min()) < float(known[0])
    )


def errors_fall(run: Run) -> bool:
    """Whether a share of wrong answers falls in order."""
    errors = (name for name in run.frame.columns if scoring.is_error(name))
    return any(ordered(run.frame[name]) < -1 for name in errors if run.frame[name].dtype.is_numeric())


def share_gained(scores: pl.Series) -> float:
    """By what share of its highest value the last quarter of the values lies above the first one.

    Of what lies between 0 and 1 it may as well be a share of the wrong answers: near 1 a little is much.
    """
    known = finite(scores).drop_nulls()
    part = max(1, len(known) // 4)
    begun, ended = (to_float(some.median()) for some in (known[:part], known[-part:]))
    of = to_float(known.abs().max())
    of = min(of, 1 - begun) if to_float(known.min()) >= 0 and 0 < begun < of <= 1 else of
    return (ended - begun) / of if of else 0.0


def reweighted(run: Run, step: int, best: float, end: float) -> bool:
    """Whether a part of the loss weighs so much more at the end than at a step that this explains its rise.

    From `best` to `end`: a weight that grows so many times lifts the whole by as much at most. So do parts
    that were added since, and are half of the rise.
    """
    for name in filter(names.is_weight, run.frame.columns):
        weights = finite(run.frame[name]) if run.frame[name].dtype.is_numeric() else None
        if weights is None:
            continue
        before, after = weights.filter(run.steps <= step).drop_nulls(), weights.drop_nulls()
        if not len(before) or after[-1] <= before[-1]:
            continue
        was, now = float(before[-1]), float(after[-1])
        if was <= 0 or (best > 0 and end * was <= best * now):
            return True
    added = [
        one for row, some in parts.added(run.frame).items() if int(run.steps[row]) > step for one in some
    ]
    ends = (to_float(finite(run.frame[name]).drop_nulls()[-1]) for name in added)
    return bool(added) and sum(ends) >= HALF * (end - best)


def earns_on(run: Run, row: int) -> dict[str, Any]:
    """The reward that what happened at a row did no harm; empty where none is logged, or it fell.

    One that had risen keeps half or more of that, or falls by less than a quarter of what it rises in all, or
    ends higher than ever; one that never rose stays where it was, within the noise of its levels. Its name as
    `reward`, its level `before` the row, the lowest one `after` it and the one at the `end`.
    """
    risen = earnings(run)
    name, course = risen or next(_courses(run), (None, None))
    if name is None or course is None:
        return {}
    before, after = -course.levels.filter(course.rows <= row), -course.levels.filter(course.rows > row)
    if not len(after) or not (risen or (len(before) and course.noise)):
        return {}
    level, lowest = float(before[-1]) if len(before) else -course.start, to_float(after.min())
    spare = SIGMAS * course.noise
    if risen:  # at first it has hardly begun to
        spare = max(level + course.start, course.improvement / 2, spare) / 2
    ends_higher = risen and course.end == course.best and -course.end - level > spare
    if level - lowest > spare and not ends_higher:
        return {}
    return {"reward": plain(cut(name)), "before": level, "after": lowest, "end": -course.end}


def fell_too(run: Run) -> dict[str, Any]:
    """The reward that ends with less than half of what it had gained, or below all; empty where none does.

    Its name as `reward`, its best level (`before`) and the one at its end (`after`).
    """
    for name, course in _courses(run):
        if course.rise > max(course.improvement / 2, SIGMAS * course.noise):
            return {"reward": plain(cut(name)), "before": -course.best, "after": -course.end}
    return {}


GUESSING = 2 * math.log(2)
"""What a discriminator costs that calls each item real or made by chance: two cross-entropies of two classes.
Source: Goodfellow et al., Generative Adversarial Nets (2014), theorem 1."""
_ABOVE = 1.05
"""So little above it is noise: a constant of the method."""


def in_balance(run: Run) -> bool:
    """Whether the loss is that of a discriminator, and ends no higher than where a good generator leaves it.

    The log holds the generator's beside it, and the discriminator's own is the one that is read as the loss.
    """
    own = run.own_names.get("loss", "")
    discriminates = names.is_of_a_side(own) and not names.is_of_a_generator(own)
    if not discriminates or not any(map(names.is_of_a_generator, run.frame.columns)):
        return False
    course = course_of(finite(run["loss"]), LEVEL)
    return course is not None and 0 < course.end < _ABOVE * GUESSING


WON = 0.05
"""Under this share of it a discriminator has won: a constant of the method."""
_APART = 0.1
"""By this share of it a loss lies apart from a guess: a constant of the method."""


def plays_on(run: Run) -> bool:
    """Whether the loss is a generator's, whose discriminator neither guesses nor has won at the end.

    It goes up and down with what that learns, and says little of what the generator does.
    """
    if not names.is_of_a_generator(run.own_names.get("loss", "")):
        return False
    others = (
        one for one in run.frame.columns if names.is_of_a_side(one) and not names.is_of_a_generator(one)
    )
    numbers = (run.frame[one] for one in others if run.frame[one].dtype.is_numeric())
    ends = [course.end for known in numbers if (course := course_of(known.cast(float), LEVEL))]
    return any(WON * GUESSING < end < (1 - _APART) * GUESSING and not _halved(end) for end in ends)


def _halved(cost: float) -> bool:
    """Whether it is what guessing costs in the mean over real items and made ones, in place of their sum."""
    return abs(2 * cost / GUESSING - 1) < _APART


def _of_fewer_terms(run: Run) -> bool:
    """Whether the loss is a mean over terms of which half or more come to cost nothing."""
    counts = (run.frame[name] for name in run.frame.columns if names.counts_terms(name))
    return any(share_fallen(one) >= HALF for one in counts if one.dtype.is_numeric() and one.count())


@once
def is_objective(run: Run) -> bool:
    """Whether the run's loss is one that training brings down.

    One that is often exactly 0, or keeps changing its sign, isn't: those of reinforcement learning are built
    around 0. One below 0 is, as a negative log-likelihood of densities, or a signal-to-noise ratio, where
    nothing else in the log says that a reward or an opponent is what the run is after: one that lies below 0
    beside the loss of a generator is a critic's. Nor is the mean of the triplets that still cost something,
    where their number falls by half: it is what comes down.
    """
    known = finite(run["loss"]).drop_nulls()
    if not len(known) or to_float((known == 0).mean()) > ZEROS or _of_fewer_terms(run):
        return False
    if to_float(known.min()) >= 0:
        return True
    turns = known.sign().diff().drop_nulls() != 0
    spiked = turns.sum() <= ONE_SPIKE and to_float(known.median()) < 0
    around = len(turns) and to_float(turns.mean()) > ZEROS and not spiked
    critic = to_float(known.median()) < 0 and any(map(names.is_of_a_side, run.frame.columns))
    return not (around or critic or opposed(run))
