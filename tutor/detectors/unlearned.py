"""What shows that nothing was learned without a course of the training loss: one that is 0 or one number, few
rows, validation that stays, a score that never moves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.answers import (
    finds_nothing,
    held_out_accuracies,
    nearly_same_answer,
    never_moves,
    one_answer,
    one_class,
    same_answer,
    score_stands,
    scores_stay,
    stands_with_its_loss,
)
from tutor.detectors.beginning import begins_late, warming_up
from tutor.detectors.courses import Course, course_of
from tutor.detectors.grouped import Enough, Guess
from tutor.detectors.guessing import answers_by_chance, rests_where_one_answer_leaves_it
from tutor.detectors.loss import zeros_that_last
from tutor.detectors.no_skill import errs, scores_nothing
from tutor.detectors.objective import GUESSING, WON, earnings, is_objective, opposed
from tutor.detectors.standstill import all_stuck, both_stuck, nearly_one, one_number
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, to_float

if TYPE_CHECKING:
    import polars as pl


def zero(run: Run, guess: Guess, gain: float) -> Finding | None:
    """The finding that the loss is exactly 0 at many of the rows, to the last; None where it isn't.

    A reward that all answers share, or an opponent that has lost, makes a loss of 0 that is none. Before a
    log that begins mid-way it may have come down by degrees.
    """
    zeros = _won(run, guess) or zeros_that_last(run["loss"], guess.often, guess.at_once)
    if not zeros or opposed(run) or (begins_late(run) and zeros == len(run)):
        return None
    step = int(run.steps[-zeros])
    count = int((run["loss"][-zeros:] == 0).sum())
    facts = {"step": step, "count": count, "rows": len(run), "bound": 100 * gain}
    facts |= {"top": to_float(run["loss"].max()), "best": 0.0, "gain": 0.0}  # what falls at once is no gain
    return Finding("zero", step, facts, None, (step, int(run.steps[-1])))


def _won(run: Run, guess: Guess) -> int:
    """From how many rows before the end on a discriminator's loss is 0 at most rows; 0 where it isn't.

    It wasn't at first, as that of one that is switched on later, and is to the end; or it was for so many
    rows in a row, `_LOST` of all, that its generator had long lost, and hardly is more since.
    """
    loss, last = run["loss"], run["loss"][-FEWEST:]
    if not any(map(names.is_of_a_side, run.frame.columns)) or len(loss) < 2 * FEWEST or loss[0] == 0:
        return 0
    if names.is_of_a_generator(run.own_names.get("loss", "")):
        return 0
    if min(to_float((some == 0).mean()) for some in (loss, last)) >= guess.often:
        return len(loss) - int((loss == 0).arg_max() or 0)
    ends, longest = 0, (0, 0)
    for nothing, rows in groupby((loss == 0).to_list()):
        count = len(list(rows))
        ends += count
        longest = max(longest, (count, ends)) if nothing else longest
    count, end = longest
    since = loss[end:].median() if end < len(loss) else 0.0
    lost = count >= max(2 * FEWEST, _LOST * len(loss)) and to_float(since) < WON * GUESSING
    return len(loss) - end + count if lost else 0


_LOST = 0.25
"""The share of its rows for which a discriminator had won: a constant of the method."""


def held_out_still(run: Run, guess: Guess, gain: float, least: int) -> Finding | None:
    """The finding that validation never moves, or answers by chance or the same to every input, where nothing
    else was logged; None where it does neither.
    """
    values = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else run.steps[:0].cast(float)
    answers = (answers_by_chance(run, guess) or never_moves(run, guess, 3 * least)) if len(values) else None
    if not len(values) or not (answers or all_stuck(values)):
        return None
    facts = in_all(values, gain)
    if answers:
        return beside(answers, facts)
    return Finding("held-out-still", None, facts, None, (int(run.steps[0]), int(run.steps[-1])))


def held_out_stays(run: Run, gain: float) -> Finding | None:
    """The finding that validation is one number at few evaluations; None where it isn't.

    Where training has a row for each of them, the log may only repeat the last one.
    """
    known = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else run["loss"][:0]
    sparse = 2 * len(known) <= run["loss"].count()
    if not (sparse and one_number(known)) or begins_late(run):
        return None
    seen = (int(run.steps[0]), int(run.steps[-1]))
    return Finding("held-out-still", None, in_all(known, gain), None, seen)


def both_still(run: Run, gain: float) -> Finding | None:
    """The finding that both losses end in one number each, and that training gained less than `gain`.

    A loss that is no objective may stay where it is.
    """
    known, count = finite(run["loss"]).drop_nulls(), both_stuck(run)
    if not count or begins_late(run) or not is_objective(run) or earnings(run):
        return None
    facts = in_all(known, gain)
    if facts["top"] - facts["best"] >= gain * abs(facts["top"]):
        return None
    held_out = to_float(finite(run["val_loss"]).drop_nulls()[-1])
    told = {"count": count, "value": float(known[-1]), "held_out": held_out}
    found = Finding("both-still", None, told, None, (int(run.steps[0]), int(run.steps[-1])))
    return beside(found, facts)


def few_alike(run: Run, guess: Guess, gain: float, least: int) -> Finding | None:
    """As `answers_alike`, of few rows: scores, or losses, at what one answer to all gives tell sooner.

    So does a score that never moves at `least` evaluations or more, or is next to 0 at each, or an error rate
    that says that no word is right.
    """
    if not is_objective(run) or earnings(run) or warming_up(run):
        return None
    loss = finite(run.logged("loss")["loss"])
    found = (
        rests_where_one_answer_leaves_it(run, loss, guess, few=True)
        or nearly_same_answer(run, guess, gain, few=True)
        or (run.counts == "epochs" and same_answer(run, guess, gain, few=True))
        or stands_with_its_loss(run, guess)
    )
    if not found and (never := never_moves(run, guess, 3 * least)) and never.facts["scored"] >= least:
        found = never
    found = found or score_stands(run, guess) or scores_nothing(run, guess) or errs(run, guess)
    return found and beside(found, in_all(finite(run["loss"]).drop_nulls(), gain))


def answers_alike(run: Run, course: Course, guess: Guess, gain: float, least: int) -> Finding | None:
    """The finding that a score stays, or hardly moves in a run that gained little; None where none does."""
    found = (
        same_answer(run, guess, gain)
        or finds_nothing(run, least)
        or never_moves(run, guess, 3 * least)
        or one_class(run, guess)
        or one_answer(run, guess)
        or scores_stay(run, guess)
        or score_stands(run, guess)
    )
    if not found and course.top - course.best < guess.little * abs(course.top):
        return nearly_same_answer(run, guess, gain)
    return found


def held_out_flat(run: Run, share: float, gain: float, least: Enough) -> Finding | None:
    """The finding that a held-out loss of enough values moves by less than `gain`, which its noise wouldn't
    hide.

    `least` says how many are enough, and that few are which hardly differ: less so where no more answers are
    right. From which `top` to which `best` level it came in how many `rows`. None where it gained more, or
    can't tell either.
    """
    known = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if known is not None and len(known) < least.rows:
        stay = [
            all(nearly_one(shares, least.scored) for shares in (curve.values, 1 - curve.values))
            for _, curve in held_out_accuracies(run)
        ]
        if not nearly_one(known, least.scored if stay and all(stay) else least.still):
            return None
    course = None if known is None else course_of(known, share)
    if known is None or course is None or not course.top:
        return None
    fall = course.top - course.best
    moved = to_float(course.levels.max()) - course.best  # what rises is not flat either
    if max(fall, moved) >= gain * abs(course.top) or course.noise >= gain * abs(course.top) / 3:
        return None
    facts = {"top": course.top, "best": course.best, "rows": len(known)}
    facts |= {"gain": 100 * fall / abs(course.top), "bound": 100 * gain}
    return Finding("held-out-flat", None, facts, None, (int(run.steps[0]), int(run.steps[-1])))


def only_at_first(run: Run, gain: float, least: int) -> Finding | None:
    """The finding that what was learned, the rows before the first evaluation taught; None where it isn't so.

    Of `least` evaluations or more none is as low again, and training gained under `gain` since. Of a log that
    begins mid-way the first evaluation is any.
    """
    known = run.logged("val_loss") if run.has("val_loss") and run.has("loss") else None
    if known is None or begins_late(run):
        return None
    there = finite(known["val_loss"]).is_not_null()
    if there.sum() < least:
        return None
    first, *later = known["val_loss"].filter(there).cast(float).to_list()
    step = int(known.steps.filter(there)[0])
    since = course_of(finite(run["loss"]).filter(run.steps > step).drop_nulls(), 1 / least)
    if since is None or not since.top or min(later) <= first:
        return None
    gained = (since.top - since.best) / abs(since.top)
    if gained >= gain:
        return None
    facts = {"first": first, "first_step": step, "later": min(later), "evaluations": len(later) + 1}
    facts["since"] = 100 * gained
    return Finding("only-at-first", step, facts, first, (step, int(run.steps[-1])))


def beside(found: Finding, facts: Mapping[str, float]) -> Finding:
    """The finding with what is known of the loss, but for the bound of a gain where another value is told."""
    loss = {name: fact for name, fact in facts.items() if name != "bound" or "value" not in found.facts}
    return replace(found, facts={**loss, **found.facts})


def in_all(known: pl.Series, gain: float) -> dict[str, float]:
    """Between which values the finite losses lie, how many there are, and the bound of a gain."""
    top, best = to_float(known.max()), to_float(known.min())
    gained = 100 * (top - best) / abs(top) if top else math.inf
    return {"top": top, "best": best, "gain": gained, "bound": 100 * gain, "rows": len(known)}
