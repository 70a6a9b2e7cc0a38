"""How far a loss fell, and whether that is more than noise, a warm-up or guessing explains."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.detectors.beginning import begins_late, is_over, warming_up
from tutor.detectors.courses import Course, course_in, steady_course
from tutor.detectors.grouped import Enough, Guess
from tutor.detectors.guessing import (
    answers_by_chance,
    guesses,
    held_out_guesses,
    learned_by_heart,
    rests_where_one_answer_leaves_it,
)
from tutor.detectors.hidden import (
    apart,
    goes_on_falling,
    hidden_by_noise,
    may_gain_early,
    may_hide,
    never_below_the_first,
)
from tutor.detectors.no_skill import errs, explains_nothing, ranks_by_chance, scores_nothing
from tutor.detectors.objective import earnings, is_objective, scores_rise
from tutor.detectors.opponents import has_won
from tutor.detectors.posterior import collapses
from tutor.detectors.standstill import batches_of, nearly_one, period_of, stands_still, stuck
from tutor.detectors.trends import ordered, trend
from tutor.detectors.unlearned import (
    answers_alike,
    beside,
    both_still,
    few_alike,
    held_out_flat,
    held_out_stays,
    held_out_still,
    in_all,
    only_at_first,
    zero,
)
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_LEAST_RATE = 1e-30
"""No optimizer is given less: numerics, no judgement."""
_OF_A_DIGIT = 1e-3
"""Floating point moves a rounded number by less than this share of its last digit: numerics, no judgement."""
HALF = 0.5
"""The share of a log whose median is the longest level: a constant of the method, for a course needs two."""


@dataclass(frozen=True)
class _Fall:
    """How far a loss came down, and how far it had to.

    Attributes:
        course: the one it is judged by: of longer levels where noise hides too much in those of `early`.
        early: of short levels, in which a gain at first shows.
        least: the fall that counts, in the loss's unit.
        gain: as `least`, were there no noise.
        order: of the levels, in standard deviations of chance; below 0 where they fall.
        pace: so many times as long a log that falls as fast would show the gain.
        goes_on: whether it falls as fast in the later half of the log as in the first.
        unseen: whether noise hides more than the gain in short levels.
    """

    course: Course
    early: Course
    least: float
    gain: float
    order: float
    pace: float
    goes_on: bool
    unseen: bool

    @property
    def size(self) -> float:
        """From the highest level to the best one."""
        return self.course.top - self.course.best

    @property
    def enough(self) -> bool:
        """Whether it fell by more than `least`."""
        return self.course.best < self.course.top - self.least

    def facts(self, rows: int) -> dict[str, float]:
        """What is said of it, as shares in percent."""
        level = abs(self.course.top)
        return {
            "top": self.course.top,
            "best": self.course.best,
            "gain": 100 * _of(self.size, level),
            "bound": 100 * _of(self.least, level),
            "rows": rows,
        }


def fall_of(run: Run, share: float, gain: float, sigmas: float, least: Enough, guess: Guess) -> Finding:
    """Whether the loss came down, whatever is to be said of where it stops."""
    if run.has("loss"):
        told = zero(run.logged("loss"), guess, gain) or _by_a_term(run, guess, gain)
        return told or _by_training(run, share, gain, sigmas, least, guess)
    told = held_out_still(run, guess, gain, least.rows)
    return told or _by_validation(run, share, gain, sigmas, least, guess)


def _by_a_term(run: Run, guess: Guess, gain: float) -> Finding | None:
    """What a part of the loss says, with what is known of the whole: one of two sides has won, or latents say
    nothing.
    """
    found = has_won(run, guess) or collapses(run, guess)
    return found and beside(found, in_all(finite(run.logged("loss")["loss"]).drop_nulls(), gain))


def _by_training(run: Run, share: float, gain: float, sigmas: float, least: Enough, guess: Guess) -> Finding:
    """Whether the training loss came down."""
    whole, run = run, run.logged("loss")
    loss = finite(run["loss"])
    period = period_of(loss)
    course = steady_course(run, 0 if period else batches_of(loss, least.still), share, gain)
    held_out, by_chance = held_out_guesses(whole, loss, guess), answers_by_chance(whole, guess)
    long = len(loss) >= _enough(run, least) or period or held_out or by_chance
    short = course is None or not (long or stands_still(whole, loss, least.still))
    if course is None or short or not is_objective(run) or earnings(run):
        facts = {"rows": len(loss), "needed": _enough(run, least)} if short else {"missing": []}
        found = both_still(whole, gain) or few_alike(whole, guess, gain, least.rows)
        return found or Finding(NOT_YET if short else NO_DATA, facts=facts)
    if to_float(loss.min()) < 0:  # its 0 is no floor, so a share of its level says little
        gain = least.still
    fall = _measure(run, loss, course, gain, sigmas, least)
    facts = fall.facts(len(loss))
    if period:
        facts |= {"period": period, "again": loss.count() - period}
        return Finding("repeats", None, facts, None, (int(run.steps[0]), int(run.steps[-1])))
    outcome = _outcome(whole, run, fall, sigmas, least)
    if (dead := _without_rate(run, outcome, least.dead, guess.often, gain)) is not None:
        outcome, zeros = dead
        facts |= {"zeros": zeros}
    if warming_up(run):
        return _undecided(NOT_YET, fall, len(loss))
    if outcome in ("yes", "rate-died", NOT_YET, NO_DATA) or len(loss) < least.rows:
        low = _lowest_by_heart(by_chance, guess, least)
        chance = by_chance if not fall.enough or fall.course.best > low else None
        found = chance or held_out or _guessing(whole, run, loss, fall.course, guess, gain, least.rows)
        if found is None and outcome == NOT_YET:
            found = held_out_flat(whole, share, gain, least) or held_out_stays(whole, gain)
        found = found or only_at_first(whole, gain, least.rows)
        if found:
            return beside(found, facts)
    if outcome in (NOT_YET, NO_DATA):
        return _undecided(outcome, fall, len(loss))
    return _decided(outcome, run, fall, facts)


def _measure(run: Run, loss: pl.Series, early: Course, gain: float, sigmas: float, least: Enough) -> _Fall:
    """How far the loss fell; in longer levels, where noise hides too much in short ones."""
    order, size, course = trend(apart(early)), early.top - early.best, early
    wanted = gain * abs(early.top)
    unseen = hidden_by_noise(early, sigmas) > max(size, wanted)
    falls = order < -sigmas
    if unseen and not falls and 2 * len(loss) >= 3 * least.rows:
        course = course_in(run, "loss", HALF) or early
    level = gain * abs(course.top)
    needed = level if falls else max(level, hidden_by_noise(course, sigmas))
    goes_on = goes_on_falling(early, sigmas)
    return _Fall(course, early, needed, level, order, _of(wanted, size), goes_on, unseen)


def _outcome(whole: Run, run: Run, fall: _Fall, sigmas: float, least: Enough) -> str:
    """Whether the loss gained enough, or noise may hide that it did."""
    if fall.enough:
        return "yes"
    needed = max(fall.gain, _hidden_in_vain(run, fall, least))
    by_noise = fall.order < least.sure and may_hide(fall.course, needed, sigmas, least.sure)
    early = fall.unseen and may_gain_early(fall.early, fall.course.end, fall.gain, least.sure)
    if (by_noise and not never_below_the_first(whole, least)) or early or _still_falls(run, least):
        return NOT_YET
    return _without_gain(run, fall.goes_on and fall.pace <= least.longer)


def _hidden_in_vain(run: Run, fall: _Fall, least: Enough) -> float:
    """The fall that so many epochs may hide in their noise and have taught nothing all the same; else 0.

    Where anything is learned, the loss has come down further by then, or its levels fall in order.
    """
    many = run.counts == "epochs" and len(run) >= least.epochs and fall.order > -1
    return least.hides * abs(fall.course.top) if many else 0.0


def _undecided(outcome: str, fall: _Fall, rows: int) -> Finding:
    """The answer that a longer log would tell, or one that begins with the run."""
    if outcome == NO_DATA:
        return Finding(NO_DATA, facts={"missing": ["loss[0]"]})
    times = max(2, math.ceil(fall.pace)) if fall.goes_on else 2
    return Finding(NOT_YET, facts={"rows": rows, "needed": times * rows})


def _decided(outcome: str, run: Run, fall: _Fall, facts: dict[str, float]) -> Finding:
    """The answer; no step decides of a run that never learned: it went wrong before the first."""
    step = int(run.steps[fall.course.best_row]) if fall.enough else None
    facts |= {} if step is None else {"best_step": step}
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), fall.course.drawn(run, "loss")
    bound = fall.course.top - fall.least
    return Finding(outcome, step, facts, bound, seen, measured=fall.size, bound=fall.least, curve=curve)


def _guessing(
    whole: Run, run: Run, loss: pl.Series, course: Course, guess: Guess, gain: float, least: int
) -> Finding | None:
    """The first sign that answers are no better than guesses, or one answer to all."""
    return (
        guesses(run, loss, course, guess)
        or rests_where_one_answer_leaves_it(whole, loss, guess)
        or explains_nothing(whole, guess)
        or ranks_by_chance(whole, guess)
        or learned_by_heart(whole, guess)
        or scores_nothing(whole, guess)
        or answers_alike(whole, course, guess, gain, least)
        or errs(whole, guess)
    )


def _enough(run: Run, least: Enough) -> int:
    """How many rows tell whether a run learns: of one that is over, one more than half as many.

    Not where a score rises, nor of preferences: their margins tell more.
    """
    more = scores_rise(run, 0.0, least.scored) or any(map(scoring.compares, run.frame.columns))
    return least.rows // 2 + 1 if is_over(run, least.over) and not more else least.rows


def _still_falls(run: Run, least: Enough) -> bool:
    """Whether the few rows of a run that is over fall in order: it may have gained more before the first."""
    loss = finite(run["loss"])
    return len(loss) < least.rows and is_over(run, least.over) and ordered(loss) < -least.sure


def _lowest_by_heart(by_chance: Finding | None, guess: Guess, least: Enough) -> float:
    """Down to where a training loss under a guess may be learned by heart: further where many evaluations
    tell.
    """
    if by_chance is None:
        return math.inf
    under = 2 * guess.sure if by_chance.facts["later"] >= least.rows else guess.above
    return (1 - under) * by_chance.facts["expected"]


def _by_validation(
    run: Run, share: float, gain: float, sigmas: float, least: Enough, guess: Guess
) -> Finding:
    """Whether the validation loss came down, where nothing else was logged and it has rows enough."""
    unknown = Finding(NO_DATA, facts={"missing": ["loss"]})
    if not run.has("val_loss") or len(known := run.logged("val_loss")) < least.rows:
        return unknown
    frame = known.frame.with_columns(loss=known["val_loss"]).drop("val_loss")
    found = fall_of(replace(known, frame=frame), share, gain, sigmas, least, guess)
    if found.outcome == "yes":
        return replace(found, curve=found.curve and replace(found.curve, signal="val_loss"))
    if found.outcome != "no":
        return unknown
    values = finite(known["val_loss"]).drop_nulls()
    facts = in_all(values, gain)
    # What the first epoch taught lies before the first evaluation: it has to stand still, too.
    if facts["gain"] >= facts["bound"] or not nearly_one(values[len(values) // 2 :], least.still):
        return unknown
    return replace(found, outcome="held-out-alone", facts=facts, curve=None)


def _without_gain(run: Run, goes_on: bool) -> str:
    """The outcome where the loss gained too little, and its noise doesn't hide more."""
    if goes_on:
        return NOT_YET
    if begins_late(run) and not stuck(finite(run["loss"])):
        return NO_DATA
    return "no"


def _without_rate(run: Run, outcome: str, dead: float, often: float, gain: float) -> tuple[str, int] | None:
    """What a learning rate of next to nothing makes of an outcome, and in how many rows it is that.

    None where it is that in less than the share `often` of the rows. Where the loss came down before, it has
    to stand still since, but for `gain`: else the rate is that of other weights, or moves these all the same.
    One in so few digits is rounded; and one that isn't 0 was brought down by a schedule that waits for the
    loss.
    """
    zeros = _rows_without_rate(run, dead)
    if zeros < often * len(run):
        return None
    if outcome == "no":
        return "no-rate", zeros
    since = finite(run["loss"])[-zeros:].drop_nulls()
    third = max(1, len(since) // 3)
    begun, ended = (to_float(part.median() or 0.0) for part in (since[:third], since[-third:]))
    died = outcome == "yes" and zeros < len(run) and run["lr"][-1] == 0 and not _rounded(run, dead)
    return ("rate-died", zeros) if died and begun - ended < gain * abs(begun) else None


def _rows_without_rate(run: Run, dead: float) -> int:
    """In how many rows, to the last, the learning rate is 0, or under the share `dead` of its highest."""
    rate = finite(run["lr"]).drop_nulls() if run.has("lr") else None
    if rate is None or not len(rate):
        return 0
    highest = rate.sort(descending=True)[:FEWEST][-1]
    moved = (rate > dead * float(highest)).arg_true()
    return len(rate) - 1 - int(moved[-1]) if len(moved) else len(run)


def _rounded(run: Run, dead: float) -> bool:
    """Whether the learning rate has no more digits than a rate has that is under a share of its highest."""
    rate = finite(run["lr"]).drop_nulls()
    top = to_float(rate.max())
    if top < _LEAST_RATE:
        return True
    scaled = rate * 10.0 ** math.floor(-math.log10(dead * top))
    return to_float((scaled - scaled.round()).abs().max()) < _OF_A_DIGIT


def _of(part: float, whole: float) -> float:
    return part / whole if whole else math.inf
