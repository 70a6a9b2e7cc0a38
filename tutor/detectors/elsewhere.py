"""Detector of an evaluation that sees nothing of what training learns: of other weights, or of other data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.beginning import begins_late
from tutor.detectors.evaluations import evaluated
from tutor.detectors.objective import is_likelihood, is_objective
from tutor.detectors.rise import learned_since
from tutor.detectors.standstill import DIGITS, THRICE, digits_of
from tutor.detectors.trends import ordered
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 3
"""Rows whose median is a level, whatever one odd batch does: a constant of the method."""
_ORDER = 2.0
"""A loss falls in order from so many standard deviations of chance on: a constant of the method."""
_TRAINED = re.compile(r"(?<![a-z])train", re.IGNORECASE)
"""A name of what was measured on the data of training."""
_FAR = 4.0
"""No copy of an untrained model costs so many times what training begins with: a constant of the method."""
_BEGUN = 0.9
"""Training has begun to learn where it costs less than this share: a constant of the method."""


@detector(
    signals=("loss", "val_loss"),
    outcomes=("sees", "one-number", "never-under"),
    facts={
        "sees": ("first", "lowest", "lowest_step", "rows"),
        "one-number": ("value", "rows", "fallen", "trained"),
        "never-under": (
            *("cost", "first", "begun", "early", "lowest", "latest", "latest_step", "rows", "trained"),
        ),
    },
    every_row=True,
)
def evaluation_sees(run: Run, at: int | None, *, stands: float, falls: float, halves: float) -> Finding:
    """Whether evaluation sees anything of what training learns.

    The flaw: what is evaluated isn't what is trained, or is of another kind than what it is trained on. It
    is "one-number" where every evaluation is the same, to the last digit, while the training loss falls by
    the share `falls`: other weights than those that train. It is "never-under" where none comes under what
    an untrained model costs, nor under the first one, by the share `stands`, though training came to less
    than half of that (`halves`), and one was made on its way there: nothing carries over. It "sees" where one
    does come under the first. What an untrained model costs is ln V or the first training loss, whichever is
    higher; where no V is known, nor anything gained, nothing is told. Source: ours.
    """
    values, steps = evaluated(run)
    if not is_objective(run) or is_likelihood(run, _ORDER):
        return Finding(NO_DATA, facts={"missing": []})
    if found := sees_nothing(run, stands, falls, halves):
        return found
    if len(values) < 2:
        return Finding(NOT_YET, facts={"rows": len(values), "needed": 2})
    first, low = float(values[0]), values.arg_min() or 0
    if float(values[low]) >= (1 - stands) * first:
        return Finding(NO_DATA, facts={"missing": []})
    facts = {
        "first": first,
        "lowest": float(values[low]),
        "lowest_step": int(steps[low]),
        "rows": len(values),
    }
    return Finding("sees", None, facts, None, (int(run.steps[0]), int(run.steps[-1])))


def sees_nothing(run: Run, stands: float, falls: float, halves: float) -> Finding | None:
    """The finding that evaluation sees nothing of what training learns; None where that can't be said."""
    return _one_number(run, falls) or _never_under(run, stands, halves)


def _one_number(run: Run, falls: float) -> Finding | None:
    """The finding that every evaluation is one number while training falls by the share `falls`; else None.

    Twice `FEWEST` evaluations of `DIGITS` digits or more, or one more than `THRICE` that have twice as many
    digits together with the scores beside them. Nothing else that was held out moves. None where each row of
    a batch has one, which may be the last one again; nor where it is over `_FAR` times what training began
    with: answers that are as wrong as can be cost one number, too.
    """
    values, steps = evaluated(run)
    if len(values) <= THRICE or values.n_unique() > 1 or not values[0] or not run.has("loss"):
        return None
    known = finite(run["loss"]).drop_nulls()
    carried = 2 * len(values) > len(known) and not _of_many_batches(run)
    if carried or float(values[0]) > _FAR * to_float(known[:_LEVEL].median()):
        return None
    value = float(values[0])
    if _moves_beside(run):
        return None
    beside = [known for known in _scores(run) if known.n_unique() == 1]
    digits = digits_of(value) + sum(digits_of(float(known[0])) for known in beside)
    if digits < (DIGITS if len(values) >= 2 * FEWEST else 2 * DIGITS):
        return None
    fallen, trained = _fallen(run, int(steps[0]))
    if fallen < falls:
        return None
    facts = {"value": value, "rows": len(values), "fallen": 100 * fallen, "trained": trained}
    seen = (int(run.steps[0]), int(run.steps[-1]))
    return Finding("one-number", None, facts, None, seen, measured=fallen, bound=falls)


def _moves_beside(run: Run) -> bool:
    """Whether another column of held-out data moves, but for what it took."""
    columns = (run.frame[name] for name in run.frame.columns if names.says_held_out(name))
    measured = (one for one in columns if one.dtype.is_float() and not names.keeps_books(one.name))
    return any(finite(one).drop_nulls().n_unique() > 1 for one in measured if one.name != "val_loss")


def _scores(run: Run) -> Iterator[pl.Series]:
    """The scores, but for those that say that they are of training."""
    for name in run.frame.columns:
        known = run.frame[name]
        scored = scoring.is_score(name) or scoring.is_error(name) or scoring.is_of_finds(name)
        if scored and known.dtype.is_float() and not _TRAINED.search(name):
            yield finite(known).drop_nulls()


def _of_many_batches(run: Run) -> bool:
    """Whether each row is the mean of many batches, as an evaluation may well come with each."""
    return run.counts == "epochs" or run.aggregation("loss").over == "window"


def _fallen(run: Run, step: int) -> tuple[float, float]:
    """By what share the training loss fell since a step, in order, and to where; 0.0 where it may be chance.

    Of few rows, each the mean of many batches, the last one shows it that is the lowest.
    """
    since = finite(run["loss"]).filter(run.steps >= step).drop_nulls()
    if ordered(since) <= -_ORDER:
        return learned_since(run, step, _LEVEL), _last(run)
    few = (
        _of_many_batches(run)
        and _LEVEL < len(since) < 2 * FEWEST
        and float(since[-1]) == to_float(since.min())
    )
    return (1 - float(since[-1]) / float(since[0]), float(since[-1])) if few and since[0] else (0.0, 0.0)


def _never_under(run: Run, stands: float, halves: float) -> Finding | None:
    """The finding that no evaluation comes under what an untrained model costs, though training does.

    Nor under the first one, by the share `stands`. At one of them training has begun to learn, and has more
    than the share `halves` of that cost ahead of it; it ends under that. None where fewer than `FEWEST`
    evaluations tell, where a score of them rises, or where nobody knows what an untrained model costs.
    """
    values, steps = evaluated(run)
    cost = _untrained_cost(run)
    if cost is None or len(values) < FEWEST or _score_rises(run):
        return None
    first, lowest = float(values[0]), to_float(values.min())
    trained = _last(run)
    if lowest < (1 - stands) * max(cost, first) or trained > halves * cost:
        return None
    beside = _trained_by(run, steps)
    early = ((beside > halves * cost) & (beside < _BEGUN * cost)).fill_null(False).arg_true()
    if not len(early):
        return None
    place = int(early[0])
    facts = {"cost": cost, "first": first, "begun": float(beside[place]), "early": float(values[place])}
    facts |= {"lowest": lowest, "trained": trained, "rows": len(values)}
    facts |= {"latest": float(values[-1]), "latest_step": int(steps[-1])}
    bound, seen = (1 - stands) * cost, (int(run.steps[0]), int(run.steps[-1]))
    # The first ones lie near the bound in any run: they are of a model that has hardly learned.
    level = to_float(values.median())
    return Finding("never-under", None, facts, bound, seen, measured=level, bound=bound)


def _trained_by(run: Run, steps: pl.Series) -> pl.Series:
    """The level of the training loss by each of these steps; null where no row comes before one."""
    known = run.logged("loss")
    there = finite(known["loss"]).is_not_null()
    levels = known["loss"].filter(there).cast(float).rolling_median(_LEVEL, min_samples=1)
    rows = known.steps.filter(there).search_sorted(steps, side="right").cast(int) - 1
    return levels.gather(rows.set(rows < 0, None))


def _score_rises(run: Run) -> bool:
    """Whether a score of held-out data rises in order."""
    held_out = (name for name in scoring.among(run.frame.columns) if names.says_held_out(name))
    return any(ordered(run.frame[name]) > _ORDER for name in held_out if run.frame[name].dtype.is_numeric())


def _untrained_cost(run: Run) -> float | None:
    """What an untrained model costs: ln V or the first training loss, whichever is higher.

    None where no V is known, which alone tells an untrained model from one that only begins to be tuned.
    """
    loss, vocab = finite(run.logged("loss")["loss"]), run.manifest.vocab_size
    if not vocab or vocab < 2 or begins_late(run) or not len(loss):
        return None
    return max(math.log(vocab), float(loss[0] or 0.0))


def _last(run: Run) -> float:
    """The level of the training loss at the end."""
    return to_float(finite(run["loss"]).drop_nulls()[-_LEVEL:].median())
