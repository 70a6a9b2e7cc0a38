"""Detectors of the training loss."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.beginning import begins_late
from tutor.detectors.courses import course_of
from tutor.detectors.despiking import TOWERS
from tutor.detectors.held_out import broken_evaluation
from tutor.detectors.objective import has_rewards, opposed
from tutor.detectors.terms import another_not_finite
from tutor.detectors.windows import FEWEST, Window, blocks, finite, noise_of, piecewise
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl

STOPPED = 4
"""A loss has stopped when it is missing over more than so many times its widest gap.

No judgement of the run: it decides whether the log shows the loss to its end, and the answer is "no data".
"""


@detector(
    signals=("loss",),
    outcomes=("yes", "no"),
    facts={"yes": ("step", "last", "value", "count", "rows"), "no": ("count", "rows")},
    every_row=True,
)
def non_finite_loss(run: Run, at: int | None) -> Finding:
    """Whether the training loss is NaN or Inf at any logged step; `non_finite` asks about evaluation as well.

    The flaw: a computation overflowed, took log(0) or 0/0.

    Where the loss stops while the log goes on, nobody can tell: many trainers write NaN as JSON's null. Nor
    where the trainer hides NaN, unless a gradient norm is logged beside it: its reader shows NaN by that.
    """
    loss = run["loss"]
    known = loss.is_not_null().arg_true()
    bad = (~loss.is_finite()).fill_null(False).arg_true()
    if not len(bad):
        gap = to_float(known.diff().max()) if len(known) > 1 else 1
        if len(run) - 1 - known[-1] > STOPPED * gap:
            first, last = int(run.steps[int(known[-1]) + 1]), int(run.steps[-1])
            return Finding(NO_DATA, first, {"missing": [f"loss[{first}..{last}]"]})
        if not run.aggregation("loss").shows_nan and not run.has("grad_norm"):
            return Finding(NO_DATA, facts={"missing": ["grad_norm"]})
        return Finding("no", facts={"count": 0, "rows": len(known)})
    step, last = (int(run.steps[int(bad[end])]) for end in (0, -1))
    facts = {"step": step, "last": last, "value": float(loss[int(bad[0])])}
    return Finding("yes", step, {**facts, "count": len(bad), "rows": len(known)})


@detector(
    signals=("loss",),
    outcomes=("yes", "hidden", "another", "evaluation", "before", "no"),
    facts={
        "yes": ("step", "last", "value", "count", "rows"),
        "another": ("term", "step", "last", "value", "count", "rows"),
        "hidden": ("step", "count", "rows"),
        "evaluation": ("step", "count", "rows"),
        "before": ("step", "last", "count", "rows"),
        "no": ("count", "rows"),
    },
    every_row=True,
)
def non_finite(run: Run, at: int | None, *, share: float, at_once: float) -> Finding:
    """Whether a loss is NaN or Inf, that of training at any step or, where only it is, that of evaluation.

    The flaw: as in `non_finite_loss`. Of evaluation it is certain where `share` of it is, or the last one;
    what made it is open, for training that blows up takes evaluation with it. It is "hidden" where a trainer
    that logs NaN as 0 logged exactly 0 at `share` of the rows, to the last, and no small loss came before:
    what is learned by heart comes down by degrees until it rounds to 0. Where the loss falls to 0 in one row,
    the share `at_once` is enough; after a row that towers over all before it, any. A NaN "before" the first
    update is the mean of no losses: in the first row, or in the first ones of a run that gathers rewards, and
    `FEWEST` finite ones follow, with none in between. It is in "another" where a term of the loss, or a
    divergence, is not finite. Source: the tree; ours: the rest.
    """
    found = non_finite_loss(run, at)
    if found.outcome == "yes" and _before_training(run):
        facts = {name: found.facts[name] for name in ("step", "last", "count", "rows")}
        found = Finding("before", found.step, facts)
    known = run.logged("loss")
    zeros = _ends_in_zeros(known) if found.outcome == NO_DATA else 0
    broken = broken_evaluation(run, share) if run.has("val_loss") else {}
    enough = zeros_that_last(known["loss"], share, at_once) or (
        broken and _with_evaluation(run, known, zeros)
    )
    if zeros and (enough or _blew_up(known, zeros)):
        step = int(known.steps[-zeros])
        return Finding("hidden", step, {"step": step, "count": zeros, "rows": len(known)})
    if found.outcome == "yes":
        return found
    if broken:
        return Finding("evaluation", broken["step"], broken)
    return another_not_finite(run) or found


def _before_training(run: Run) -> bool:
    """Whether the loss is NaN in its first rows alone, which no update comes before.

    Not in a log that begins mid-way, nor where zeros to the end may be NaN again.
    """
    loss = run["loss"].drop_nulls().cast(float)
    first = int(loss.is_finite().arg_max() or 0)
    gathers = has_rewards(run) and FEWEST * first <= len(loss)
    begins = not begins_late(run) and ((first == 1 and int(run.steps[0]) <= 1) or (first > 0 and gathers))
    rest = loss[first:]
    return (
        begins
        and bool(loss[:first].is_nan().all())
        and len(rest) >= FEWEST
        and bool(rest.is_finite().all())
        and rest[-1] != 0
    )


_CLIMB = ("step", "last", "last_step", "top", "times", "bound", "rows")


@detector(
    signals=("loss",),
    outcomes=("climbs", "gives-back", "at-first", "no"),
    facts={
        "climbs": (*_CLIMB, "begin", "best", "best_step", "end"),
        "gives-back": (*_CLIMB, "best", "best_step", "end", "gained", "given"),
        "at-first": ("step", "before"),
        "no": (*_CLIMB, "low"),
    },
    every_row=True,
)
def climbs_into_it(
    run: Run, at: int | None, *, rows: int, times: float, lost: float, share: float, sigmas: float
) -> Finding:
    """Whether the loss climbed into the NaN or Inf that it ends in, far above all that it had been.

    The flaw: the run diverged, and what overflowed at the end is a consequence. It climbs where at least
    the last `rows` losses before the first NaN lie above all before them, and the last is over `times`
    the highest of those; however long the climb is, its own rows are no part of what it is held against.
    Nor need it climb so high: it "gives-back" where the last losses, each of these and their level, stand
    above the best level by more than the share `lost` of all that had been gained, and by more than
    `sigmas` times the noise of a level of a `share` of the rows, or of a row, where one more climbs
    straight. A NaN "at-first" had too few before it to climb. Zeros that a trainer writes for NaN count
    as NaN. Source: ours.
    """
    known = run.logged("loss")
    loss = known["loss"].cast(float)
    bad = (~loss.is_finite()).fill_null(False).arg_true()
    row = int(bad[0]) if len(bad) else len(loss) - _ends_in_zeros(known)
    ends = row < len(loss) and (not len(bad) or bad[-1] == len(loss) - 1)
    if not ends or opposed(run):
        return Finding(NO_DATA, facts={"missing": []})
    if row <= rows:
        return Finding("at-first", int(known.steps[row]), {"step": int(known.steps[row]), "before": row})
    before = loss[:row]
    begin = _climb_begins(before, rows)
    top = to_float(before[: row - rows if begin is None else begin].max())
    if top <= 0:
        return Finding(NO_DATA, facts={"missing": []})
    last, low = to_float(before[-1]), to_float(before[-rows:].min())
    facts = {
        "step": int(known.steps[row]),
        "last": last,
        "last_step": int(known.steps[row - 1]),
        "top": top,
        "times": last / top,
        "bound": times,
        "rows": rows,
    }
    level = times * top
    if begin is None or last <= level:
        if gives := _gives_back(known, before, facts, rows, lost, share, sigmas):
            return replace(gives, facts={**gives.facts, "end": to_float(loss[row])})
        seen, measured = (int(known.steps[row - rows]), facts["step"]), min(last, low) / top
        return Finding("no", None, facts | {"low": low}, level, seen, measured=measured, bound=times)
    best = int(before.arg_min() or 0)
    facts |= {
        "begin": int(known.steps[begin]),
        "best": to_float(before[best]),
        "best_step": int(known.steps[best]),
        "end": to_float(loss[row]),
    }
    seen = (facts["begin"], facts["step"])
    return Finding("climbs", facts["begin"], facts, level, seen, measured=last / top, bound=times)


def _gives_back(
    run: Run, loss: "pl.Series", facts: Mapping[str, Any], rows: int, lost: float, share: float, sigmas: float
) -> Finding | None:
    """The finding that most of what was gained is lost again in the last losses; None where it isn't."""
    course = course_of(loss, share)
    if course is None or course.improvement <= 0:
        return None
    rise = min(course.rise, to_float(loss[-rows:].min()) - course.best)
    least = max(lost * course.improvement, sigmas * math.sqrt(2) * course.noise)
    steep = loss[-rows - 1 :]  # too short a climb for a level
    if steep.is_sorted() and steep[0] - course.best > max(least, sigmas * noise_of(loss)):
        rise = max(rise, float(steep[0]) - course.best)
    if rise <= least:
        return None
    best = int(run.steps[course.best_row])
    told = {
        "best": course.best,
        "best_step": best,
        "gained": course.improvement,
        "given": 100 * rise / course.improvement,
    }
    told["bound"] = 100 * lost
    level, seen = course.best + least, (best, facts["step"])
    return Finding("gives-back", best, {**facts, **told}, level, seen, measured=rise, bound=least)


def _climb_begins(loss: "pl.Series", rows: int) -> int | None:
    """The first row from which on every loss lies above all before it, with at least `rows` to the end."""
    highest_before = loss.cum_max()[:-rows]
    lowest_after = loss.reverse().cum_min().reverse()[1 : len(loss) - rows + 1]
    parts = (lowest_after > highest_before).arg_true()
    return int(parts[0]) + 1 if len(parts) else None


def _with_evaluation(run: Run, known: Run, zeros: int) -> bool:
    """Whether evaluation is finite as long as the loss isn't 0, and never again."""
    sound = run["val_loss"].cast(float).is_finite()
    if zeros == len(known):
        return True
    last = int(known.steps[-zeros - 1])
    return bool(sound.filter(run.steps < last).all()) and not sound.filter(run.steps > last).any()


def _blew_up(run: Run, zeros: int) -> bool:
    """Whether the row before the last `zeros` towers over all before it."""
    before = run["loss"][: len(run) - zeros]
    usual = before[:-1]
    if len(usual) < FEWEST:
        return False
    level, highest = to_float(usual.median()), to_float(usual.max())
    return before[-1] > level + TOWERS * max(highest - level, noise_of(usual)) and before[-1] > TOWERS * level


def _ends_in_zeros(run: Run) -> int:
    """How many rows of exactly 0 end a loss whose trainer hides NaN; 0 where a reward or rounding is why."""
    if run.aggregation("loss").shows_nan or opposed(run):
        return 0
    return ends_in_zeros(run["loss"])


def ends_in_zeros(loss: "pl.Series") -> int:
    """How many values of exactly 0 end a loss; 0 where it came down by degrees until it rounds to 0."""
    if not len(loss) or loss[-1] != 0:  # as of nearly every log, however long
        return 0
    zeros = int((loss.reverse() != 0).arg_max() or 0)
    before = loss[: len(loss) - zeros]
    if not (before != 0).any():
        return len(loss)
    at_once = before[-1] >= to_float(before.median()) / 2 or _falls_at_once(before)
    return zeros if at_once else 0


def zeros_that_last(loss: "pl.Series", share: float, at_once: float) -> int:
    """How many values of exactly 0 end a loss, where they are too many to be an accident; else 0.

    Args:
        loss: as it was logged, without gaps.
        share: so many of all values are enough.
        at_once: so many, where the loss falls to 0 in one row.
    """
    if not (zeros := ends_in_zeros(loss)):
        return 0
    needed = at_once if _falls_at_once(loss[: len(loss) - zeros]) else share
    return zeros if zeros >= max(FEWEST, needed * len(loss)) else 0


def _falls_at_once(before: "pl.Series") -> bool:
    """Whether a loss that is 0 in the next row was nowhere near it in any row before.

    Nowhere under half of its last values, and these many times the last digit that was logged.
    """
    if len(before) < FEWEST:
        return False
    digit = to_float(before.unique().sort().diff().min() or math.inf)
    return to_float(before.min()) > max(to_float(before[-FEWEST:].median()) / 2, TOWERS * digit)


def times_the_mean(run: Run, row: int) -> float | None:
    """What the step trained on at a row, in multiples of the mean loss; None where that isn't known.

    Micro-batches count as averaged: where k of them are summed this is k.
    """
    if not (run.has("reduced_loss") and run.has("loss")):
        return None
    reduced, mean = known_float(finite(run["reduced_loss"])[row]), known_float(finite(run["loss"])[row])
    return None if reduced is None or not mean else reduced / mean


@detector(
    signals=("reduced_loss", "loss"),
    outcomes=("yes", "no"),
    facts={"yes": ("step", "value", "mean"), "no": ("step", "value")},
)
def reduction(run: Run, at: int | None) -> Finding:
    """Whether the reduced loss stops being finite while the mean over all tokens still is.

    The flaw: a reduction that divides 0 by 0, as over an empty mask. Every token's loss is finite there, so
    the model isn't at fault. Source: ours; the first step at which either isn't finite decides.
    """
    reduced, mean = run["reduced_loss"], run["loss"]
    bad = (~(reduced.is_finite() & mean.is_finite())).fill_null(False).arg_true()
    if not len(bad):
        return Finding("no", None, {"step": int(run.steps[-1]), "value": reduced[-1]})
    row = int(bad[0])
    facts = {"step": int(run.steps[row]), "value": float(reduced[row])}
    if not math.isfinite(reduced[row]) and mean[row] is not None and math.isfinite(mean[row]):
        return Finding("yes", facts["step"], facts | {"mean": float(mean[row])})
    return Finding("no", facts["step"], facts)


@detector(signals=("loss",), outcomes=("yes", "no"), facts=("first", "last", "rise", "bound", "begin", "end"))
def rising_loss(
    run: Run, at: int | None, *, window: Window, pieces: int, sigmas: float, by_chance: float
) -> Finding:
    """Whether the loss rose over the last window: each piece's mean above the one before, beyond noise.

    The flaw: the run drifts away from what it had learned. Noise is the standard deviation within the pieces;
    `sigmas` of it are meant for pieces of 50 rows, and with fewer the means themselves differ more by chance:
    `by_chance` standard deviations of two means. Source: the tree; ours: pieces instead of a monotonic curve,
    which noise never is.
    """
    needed = window.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    start = window.start(run, len(run))
    tail = blocks(run["loss"][start:], pieces)
    if len(tail[0]) < 2:
        return Finding(NOT_YET, facts={"rows": len(tail[0]), "needed": 2 * pieces})
    means = [to_float(piece.mean()) for piece in tail]
    noise = math.sqrt(sum(to_float(piece.var(ddof=0)) for piece in tail) / pieces)
    chance = by_chance * math.sqrt(2 / len(tail[0]))  # of the difference between two means
    rise, bound = means[-1] - means[0], max(sigmas, chance) * noise
    climbs = all(later > earlier for earlier, later in pairwise(means))
    begin, end = int(run.steps[start]), int(run.steps[-1])
    facts = {"first": means[0], "last": means[-1], "rise": rise, "bound": bound, "begin": begin, "end": end}
    outcome = "yes" if climbs and rise > bound else "no"
    curve = piecewise(run, "loss", start, means)
    return Finding(outcome, end, facts, None, (begin, end), measured=rise, bound=bound, curve=curve)
