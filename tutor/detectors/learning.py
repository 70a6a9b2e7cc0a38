"""Detectors of learning: whether the loss ever came down, and further than guessing gets."""

from __future__ import annotations

import math
from dataclasses import replace

from tutor.detectors import NO_DATA, NOT_YET, Finding, any_of, detector
from tutor.detectors.answers import nearly_same_answer
from tutor.detectors.beginning import begins_late, is_over, warming_up
from tutor.detectors.completions import COMPLETIONS, of_completions
from tutor.detectors.courses import Course, course_in, course_of
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
from tutor.detectors.objective import (
    after_reward,
    earnings,
    in_balance,
    is_objective,
    plays_on,
    scores_rise,
)
from tutor.detectors.plateau import stops_early, stops_high
from tutor.detectors.rewards import earns, never_earns, one_reward, too_few_rewards
from tutor.detectors.standstill import (
    batches_of,
    nearly_one,
    period_of,
    stands_still,
    stuck,
)
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
from tutor.run import Run, known_float, scoring, to_float

_GAINED = ("top", "best", "gain", "rows")
_LEARNED = (*_GAINED, "bound")
_SCORED = ("score", "value", "count", "scored", "since")
_GUESSED = (*_LEARNED, "classes", "expected", "level", "later")


@detector(
    signals=(any_of("loss", "val_loss", "step"),),  # a reward alone is enough
    outcomes=(
        *("yes", "no", "no-rate", "guesses", "same-answer", "scores-alike", "held-out-flat", "repeats"),
        *("only-at-first", "zero", "held-out-still", "held-out-alone", "both-still", "by-chance"),
        *("finds-nothing", "at-the-mean", "explains-nothing", "ranks-by-chance", "never-moves", "one-class"),
        *(
            "by-heart",
            "scores-stay",
            "score-stands",
            "scores-nothing",
            "errs",
            "earns",
            "earns-nothing",
            "one-reward",
            "no-contrast",
            "cut-off",
            "stops-high",
            "stops-early",
            "one-answer",
        ),
    ),
    facts={
        "yes": (*_LEARNED, "best_step"),
        "no": _LEARNED,
        "no-rate": _LEARNED,
        **dict.fromkeys(("earns-nothing", "one-reward"), (*_LEARNED, "reward", "end", "rose", "hides")),
        "earns": (*_LEARNED, "reward", "end", "rose", "hides"),
        "stops-high": (*_LEARNED, "since", "spread", "high"),
        **dict.fromkeys(("no-contrast", "cut-off"), COMPLETIONS),
        "stops-early": (*_LEARNED, "since", "spread", "before"),
        "guesses": _GUESSED,
        "same-answer": (*_GAINED, *_SCORED, "fell", "most"),
        "finds-nothing": (*_GAINED, *_SCORED),
        "never-moves": (*_GAINED, *_SCORED, "fell", "most"),
        "one-class": (*_GAINED, *_SCORED, "other", "both"),
        "one-answer": (*_GAINED, *_SCORED, "positive", "negative"),
        "scores-alike": (*_GAINED, *_SCORED, "held_out", "beside", "moves", "fell", "most"),
        "scores-stay": (*_GAINED, *_SCORED, "held_out", "beside"),
        "score-stands": (*_GAINED, *_SCORED),
        "held-out-flat": _LEARNED,
        "repeats": (*_LEARNED, "period", "again"),
        "only-at-first": (*_LEARNED, "first", "first_step", "later", "evaluations", "since"),
        "zero": ("step", "count", *_LEARNED),
        "held-out-still": _LEARNED,
        "held-out-alone": _LEARNED,
        "both-still": (*_GAINED, "count", "value", "held_out"),
        "by-chance": (*_GUESSED, "score", "lowest", "highest"),
        "at-the-mean": (*_GAINED, *_SCORED, "expected"),
        **dict.fromkeys(("explains-nothing", "scores-nothing"), (*_GAINED, *_SCORED, "highest")),
        "ranks-by-chance": (*_GAINED, *_SCORED, "lowest", "highest"),
        "errs": (*_GAINED, *_SCORED, "lowest"),
        "by-heart": (*_GAINED, "score", "value", "scored", "classes", "expected", "lowest"),
    },
    every_row=True,
    scores=True,
)
def learned(
    run: Run, at: int | None, *, share: float, gain: float, sigmas: float, least: Enough, guess: Guess
) -> Finding:
    """Whether the loss ever came down from where it began, and further than guessing gets.

    The flaw: the run trains nothing. It has learned where its best level lies under the highest one before by
    more than `gain` of it, and by more than `sigmas` times the noise; "no-rate" where the learning rate is 0
    at every row, which is why it hasn't. It guesses where it came down to the logarithm of a number of
    classes and stays there (`guess` says what that is). Where each loss "repeats" one before, digit by digit
    and from the beginning, the weights don't move, however much the batches differ; where each comes again
    nearly, what the epochs cost is compared. Where a score stays the same while the loss is flat, every input
    gets the "same-answer"; so it does where training and validation score alike and hardly move
    ("scores-alike"), or are one number each ("scores-stay", and "score-stands" of many rows), or where a
    score is 0 to the end, though it wasn't before ("finds-nothing"), or one number from the first evaluation
    to the last ("never-moves"), or the share of one of two classes, now of this one, now of that
    ("one-class"). Where the loss is exactly 0 to the end, there is nothing to learn from ("zero"). Without a
    training loss the validation loss is judged in its place ("held-out-alone"); one that is the same number
    at every evaluation is enough ("held-out-still"), as it is where training tells nothing yet; and few rows
    are in which both losses are ("both-still"). So are evaluations that all cost, and answer, what guessing
    does ("by-chance"), wherever training shows no gain, or none below that cost. A loss of squares may come
    to rest where the mean, or a half, as an answer to all leaves it ("at-the-mean"), and an R² that is never
    above 0 says the same ("explains-nothing"), as an area under the ROC curve does that stays at half
    ("ranks-by-chance"), and an accuracy that stays at what guesses get, while no evaluation costs less than
    they do ("by-heart"), and a score that is next to 0 at each of them ("scores-nothing"), or words of which
    next to none is right ("errs"). A run that is after a reward has learned where that rises ("earns"), and
    nothing where that stays where it began ("earns-nothing"), or is the same number at every row
    ("one-reward"), where a group's answers all earn the same ("no-contrast") or are "cut-off"; one whose loss
    lies still high up learned little ("stops-high"), and so did one that stands still but for its first rows
    ("stops-early"). Source: ours.

    Where noise hides a gain of that size, what was learned shows in the order of the levels, beyond
    `sigmas` of chance, and what wasn't where they rise in order, beyond `least.sure`, or in longer levels,
    up to half of the log; or where no row came below the first (`never_below_the_first`). A log under
    `least` rows, or little more than half as many of a run that is over (`least.over`), is too short to
    tell, unless one number fills it or its evaluations; so is one that ends while the learning rate still
    warms up, one whose noise hides a gain still, and one whose loss falls on as fast as at first, if a log
    `least.longer` times as long would show the gain. A log that begins later doesn't show where the loss
    came from, which a single number has no need of.
    """
    found = _learned(run, share, gain, sigmas, least, guess)
    if found.outcome in ("no", "held-out-alone") and (
        scores_rise(run, sigmas, least.scored)
        or after_reward(run)
        or in_balance(run)
        or plays_on(run)
        or _both_gain(run, found, gain / 2)
    ):
        # Something is learned, whatever this loss is of; or the loss is none that falls when something is.
        chance = (
            answers_by_chance(run, guess)
            or learned_by_heart(run, guess)  # of the training data alone
            or nearly_same_answer(run, guess, gain)  # training came to where validation stays
        )
        found = beside(chance, found.facts) if chance else Finding(NO_DATA, facts={"missing": []})
    untold = found.outcome in ("yes", NOT_YET, NO_DATA, "no")
    if untold and (useless := of_completions(run, least)):
        return useless
    if untold and not (warming_up(run) or begins_late(run)):
        unmoved = one_reward(run, 3 * least.rows)
        still = None if found.outcome == "yes" else never_earns(run, 3 * least.rows, sigmas)
        found = unmoved or still or found
    if found.outcome in (NOT_YET, NO_DATA) and (earned := earns(run, sigmas)):
        return earned
    if found.outcome == NO_DATA:
        return too_few_rewards(run, 3 * least.rows) or found
    if found.outcome not in ("yes", NOT_YET, NO_DATA) or warming_up(run):
        return found
    if not (run.has("loss") or run.has("val_loss")):
        return found
    stops = stops_early(run, least, sigmas) if found.outcome == "yes" else None
    return stops_high(run, least, sigmas) or stops or found


def _both_gain(run: Run, found: Finding, gain: float) -> bool:
    """Whether validation of `FEWEST` rows or more ends at its lowest, the share `gain` under its first one.

    Half of that it gained in its later half, and the training loss has come down by as much in all: a trained
    model that is trained on gains little, but goes on to, and it shows in both. What settles doesn't count.
    """
    if not (run.has("loss") and run.has("val_loss")) or found.facts["gain"] < 100 * gain:
        return False
    known = finite(run["val_loss"]).drop_nulls()
    if len(known) < FEWEST or known[-1] != known.min():
        return False
    first, half, last = (float(known[row]) for row in (0, len(known) // 2, -1))
    return min(first - last, 2 * (half - last)) > gain * abs(first)


def _learned(run: Run, share: float, gain: float, sigmas: float, least: Enough, guess: Guess) -> Finding:
    """Whether the loss came down, whatever is to be said of where it stops."""
    if run.has("loss"):
        told = zero(run.logged("loss"), guess, gain)
    else:
        told = held_out_still(run, guess, gain, least.rows) or _by_validation(
            run, share, gain, sigmas, least, guess
        )
    if told:
        return told
    whole, run = run, run.logged("loss")
    loss = finite(run["loss"])
    period = period_of(loss)
    course = _course(run, 0 if period else batches_of(loss, least.still), share, gain)
    held_out, by_chance = held_out_guesses(whole, loss, guess), answers_by_chance(whole, guess)
    long = len(loss) >= _enough(run, least) or period or held_out or by_chance
    short = course is None or not (long or stands_still(whole, loss, least.still))
    if course is None or short or not is_objective(run) or earnings(run):
        facts = {"rows": len(loss), "needed": _enough(run, least)} if short else {"missing": []}
        found = both_still(whole, gain) or few_alike(whole, guess, gain, least.rows)
        return found or Finding(NOT_YET if short else NO_DATA, facts=facts)
    early, goes_on, order = course, goes_on_falling(course, sigmas), trend(apart(course))
    falls = order < -sigmas
    if to_float(loss.min()) < 0:  # its 0 is no floor, so a share of its level says little
        gain = least.still
    pace = _of(gain * abs(course.top), course.top - course.best)  # so many logs like this one gain enough
    unseen = hidden_by_noise(course, sigmas) > max(course.top - course.best, gain * abs(course.top))
    if unseen and not falls and 2 * len(loss) >= 3 * least.rows:
        course = course_in(run, "loss", HALF) or course
    level, hidden = abs(course.top), hidden_by_noise(course, sigmas)
    fall, least_fall = course.top - course.best, gain * level if falls else max(gain * level, hidden)
    bound = course.top - least_fall
    facts = {
        "top": course.top,
        "best": course.best,
        "gain": 100 * _of(fall, level),
        "bound": 100 * _of(least_fall, level),
        "rows": len(loss),
    }
    if period:
        facts |= {"period": period, "again": loss.count() - period}
        return Finding("repeats", None, facts, None, (int(run.steps[0]), int(run.steps[-1])))
    has = course.best < bound
    hides = order < least.sure and may_hide(course, gain * level, sigmas, least.sure)
    hides &= not never_below_the_first(whole, least)
    hides |= (unseen and may_gain_early(early, course.end, gain * level, least.sure)) or _still_falls(
        run, least
    )
    outcome = "yes" if has else NOT_YET if hides else _without_gain(run, goes_on and pace <= least.longer)
    if warming_up(run):
        outcome = NOT_YET
    elif outcome in ("yes", NOT_YET, NO_DATA) or len(loss) < least.rows:
        low = _learned_by_heart(by_chance, guess, least)
        chance = by_chance if outcome != "yes" or course.best > low else None
        found = (
            chance
            or held_out
            or guesses(run, loss, course, guess)
            or rests_where_one_answer_leaves_it(whole, loss, guess)
            or explains_nothing(whole, guess)
            or ranks_by_chance(whole, guess)
            or learned_by_heart(whole, guess)
            or scores_nothing(whole, guess)
            or answers_alike(whole, course, guess, gain, least.rows)
            or errs(whole, guess)
        )
        if found is None and outcome == NOT_YET:
            found = held_out_flat(whole, share, gain, least) or held_out_stays(whole, gain)
        found = found or only_at_first(whole, gain, least.rows)
        if found:
            return beside(found, facts)
    if outcome in (NOT_YET, NO_DATA):
        needed = {"rows": len(loss), "needed": len(loss) * max(2, math.ceil(pace) if goes_on else 2)}
        return Finding(outcome, facts=needed if outcome == NOT_YET else {"missing": ["loss[0]"]})
    # Of a run that never learned no step decides: it went wrong before the first.
    step = int(run.steps[course.best_row]) if has else None
    facts |= {} if step is None else {"best_step": step}
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), course.drawn(run, "loss")
    return Finding(outcome, step, facts, bound, seen, measured=fall, bound=least_fall, curve=curve)


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


def _learned_by_heart(by_chance: Finding | None, guess: Guess, least: Enough) -> float:
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
    found = _learned(replace(known, frame=frame), share, gain, sigmas, least, guess)
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


def _course(run: Run, batches: int, share: float, gain: float) -> Course | None:
    """The course of the loss: of its means over epochs of so many `batches`; where one odd row alone gained,
    of levels of three rows.
    """
    loss = finite(run["loss"])
    course = course_of(loss.rolling_mean(batches), share) if batches else course_in(run, "loss", share)
    if course and _dips(course, gain):
        return course_of(loss, _THREE / loss.count())
    return course


_THREE = 3
"""Rows whose median one odd row doesn't move: of an estimator, not a bound."""


def _dips(course: Course, gain: float) -> bool:
    """Whether the best level of few rows is a single row that gained, between two that didn't."""
    if course.span > 1 or course.best_row in (course.rows[0], course.rows[-1]):
        return False
    at = course.rows.search_sorted(course.best_row)
    bound = course.top - gain * abs(course.top)
    return course.best < bound <= min(course.levels[at - 1], course.levels[at + 1])


HALF = 0.5
"""The share of a log whose median is the longest level: of an estimator, for a course needs two."""


def _without_gain(run: Run, goes_on: bool) -> str:
    """The outcome where the loss gained too little, and its noise doesn't hide more."""
    if goes_on:
        return NOT_YET
    if begins_late(run) and not stuck(finite(run["loss"])):
        return NO_DATA
    still = run.has("lr") and known_float(finite(run["lr"]).abs().max()) == 0
    return "no-rate" if still else "no"


def _of(part: float, whole: float) -> float:
    return part / whole if whole else math.inf
