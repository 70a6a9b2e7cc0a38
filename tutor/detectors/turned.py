"""What a validation loss says by itself: it rises for good, or slightly, or not, or jumps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.detectors.evaluations import Evaluations, evaluated
from tutor.detectors.grouped import Rise
from tutor.detectors.objective import reweighted
from tutor.detectors.rise import (
    Needed,
    beyond_chance,
    beyond_training,
    knows_by_heart,
    learned_since,
    never_again,
    not_slight,
    training_too,
)
from tutor.detectors.scores_lost import sinks_with_it
from tutor.detectors.standstill import exact
from tutor.detectors.unturned import extremes
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, names, to_float

if TYPE_CHECKING:
    import polars as pl

_NAMED = 5
"""So many steps are named in a sentence."""


@dataclass(frozen=True)
class _Levels:
    """The levels of the evaluations, by which they are compared.

    Attributes:
        evaluations: the evaluations.
        steps: the step of each.
        for_good: whether none comes near the lowest one again (`never_again`).
        span: so many evaluations in a row make a level.
        levels: the median of each `span` evaluations in a row.
    """

    evaluations: Evaluations
    steps: pl.Series
    for_good: bool
    span: int
    levels: pl.Series

    @property
    def best(self) -> float:
        """The lowest level."""
        return float(self.levels[self._place])

    @property
    def end(self) -> float:
        """The last level."""
        return float(self.levels[-1])

    @property
    def rise(self) -> float:
        """How far the last level stands above the lowest."""
        return self.end - self.best

    @property
    def step(self) -> int:
        """The step of the lowest evaluation that the lowest level is made of: the middle one may be high."""
        near = self.evaluations.values[self._place : self._place + self.span]
        return int(self.steps[self._place + (near.arg_min() or 0)])

    @property
    def _place(self) -> int:
        """The place of the lowest level, and of the first evaluation that belongs to it."""
        return self.levels.arg_min() or 0

    def facts(self, least: float) -> dict[str, Any]:
        """What a sentence may say of them, where a rise by more than `least` counts."""
        return {
            "first": self.evaluations.first,
            "best": self.best,
            "best_step": self.step,
            "end": self.end,
            "rise": self.rise,
            "bound": self.best + least,
            "rows": len(self.evaluations.values),
            "span": self.span,
        } | extremes(self.evaluations.values, self.steps)


class _Turn(NamedTuple):
    """What a rise from the lowest level to the last has to be.

    Attributes:
        least: it counts where it is larger than this.
        certain: whether chance is ruled out for one as large.
        creeps: whether it is more than chance explains, however little it is.
    """

    least: float
    certain: bool
    creeps: bool


def turns(run: Run, *, of_improvement: float, of_level: float, last: int, chance: Rise) -> Finding:
    """What the validation loss says by itself, beside the training loss where there is one.

    It rises for good where the last level stands above the lowest by more than `of_improvement` of what was
    gained since the first evaluation, or by more than a share of the lowest level (`not_slight`), whichever
    is less; and by more than chance explains (`beyond_chance`). Where it stands above it by less, but by more
    than `of_level` of it, or than chance explains, it rises "slightly".
    """
    values, steps = evaluated(run)
    if _loaded_again(run):
        values, steps = values[:-1], steps[:-1]
    if len(values) < last:
        return Finding(NOT_YET, facts={"rows": len(values), "needed": last})
    shares = {"of_improvement": of_improvement, "of_level": of_level}
    found = _levels(run, Evaluations(values, last, chance), steps, **shares)
    turn = _turn(run, found, **shares)
    high = found.rise > turn.least
    if high and not found.evaluations.many and not _shown_by_few(run, found, turn.certain):
        return Finding(NOT_YET, facts={"rows": len(values), "needed": chance.evaluations})
    rises = high and turn.certain
    if rises and _only_reweighted(run, found):
        return Finding(NO_DATA, found.step, {"missing": []})
    logged, facts = run.logged("val_loss").steps, found.facts(turn.least)
    window = (int(logged[0]), int(logged[-1]))
    jump = {} if rises else _jump(found, _untrained(run, found.evaluations.first))
    if jump:
        return _jumped(jump, facts, window)
    outcome, more = _outcome(run, found, turn, rises=rises, of_level=of_level)
    level = found.best + turn.least
    return Finding(outcome, found.step, facts | more, level, window, measured=found.rise, bound=turn.least)


def _levels(
    run: Run, evaluations: Evaluations, steps: pl.Series, *, of_improvement: float, of_level: float
) -> _Levels:
    """The levels of the evaluations: single ones where they are few, or leave the lowest one for good."""
    least = max(of_improvement * (evaluations.first - evaluations.low), of_level * abs(evaluations.low))
    for_good = never_again(run, evaluations, int(steps[evaluations.lowest]), least)
    span = evaluations.last if len(evaluations.values) > 2 * evaluations.last and not for_good else 1
    return _Levels(evaluations, steps, for_good, span, evaluations.values.rolling_median(span).drop_nulls())


def _turn(run: Run, found: _Levels, *, of_improvement: float, of_level: float) -> _Turn:
    """What the rise from the lowest level to the last has to be."""
    evaluations, best = found.evaluations, found.best
    slight = of_level * abs(best)
    learned = learned_since(run, int(found.steps[evaluations.lowest]), evaluations.last)
    large = min(of_improvement * (evaluations.first - best), not_slight(evaluations, learned) * abs(best))
    if found.for_good:
        needed = Needed(slight, True)
    else:
        needed = _beyond_chance(
            run, found, large=max(large, slight), slight=slight, learned=learned, of_level=of_level
        )
    creeps = needed.certain and found.rise > needed.least
    return _Turn(max(needed.least, large), needed.certain, creeps)


def _beyond_chance(
    run: Run, found: _Levels, *, large: float, slight: float, learned: float, of_level: float
) -> Needed:
    """As `beyond_chance`; where that doesn't rule chance out, what training or a score does may."""
    evaluations, chance = found.evaluations, found.evaluations.chance
    in_all = learned_since(run, int(found.steps[0]), evaluations.last)
    needed = beyond_chance(
        evaluations, found.levels, large=large, slight=slight, learned=learned, in_all=in_all
    )
    if needed.certain or beyond_training(run, evaluations):
        return Needed(needed.least, True)
    if knows_by_heart(run, evaluations, int(found.steps[evaluations.lowest])):
        return Needed(max(needed.least, chance.clear * abs(evaluations.low)), True)
    if learned > chance.dive and sinks_with_it(run, chance, evaluations.last, of_level):
        return Needed(large, True)
    return needed


def _shown_by_few(run: Run, found: _Levels, certain: bool) -> bool:
    """Whether a rise shows in however few evaluations: chance doesn't explain it.

    Without a training loss to hold it against, more is needed: no evaluation comes near the lowest one again,
    or the last one stands above `chance.times` it.
    """
    evaluations = found.evaluations
    if run.has("loss") or not certain:
        return certain
    return found.for_good or evaluations.latest > evaluations.chance.times * evaluations.low > 0


def _only_reweighted(run: Run, found: _Levels) -> bool:
    """Whether a part of the loss that weighs more explains the rise, and training doesn't fall meanwhile."""
    explained = reweighted(run, found.step, found.best, found.end)
    return explained and learned_since(run, found.step, found.evaluations.last) <= 0


def _outcome(
    run: Run, found: _Levels, turn: _Turn, *, rises: bool, of_level: float
) -> tuple[str, dict[str, Any]]:
    """The outcome where no evaluation jumps, and its further facts."""
    evaluations = found.evaluations
    if rises and not run.has("loss"):
        return "rises", {}
    if rises:
        too = training_too(run, found.step, found.rise, evaluations.last, evaluations.chance)
        return "both" if too else "turns", {}
    logged = run.logged("val_loss")
    if len(bad := logged.steps.filter(finite(logged["val_loss"]).is_null())):
        more = " ..." if len(bad) > _NAMED else ""
        return "some", {"count": len(bad), "named": ", ".join(map(str, bad[:_NAMED])) + more}
    ends_lowest = (
        evaluations.lowest == len(evaluations.values) - 1
    )  # its level may lie higher for the noise before
    above = turn.creeps or found.rise > of_level * abs(found.best)
    return "slightly" if above and not ends_lowest else "no", {}


def _jumped(jump: dict[str, float], facts: dict[str, Any], window: tuple[int, int]) -> Finding:
    """The finding that one evaluation jumps; what decides is how many times as high as its level it is."""
    times, least, level = jump["times"], jump["least"], jump["level"]
    return Finding(
        "jumps", int(jump["step"]), facts | jump, least * level, window, measured=times, bound=least
    )


_DIGITS = 5
"""In so many digits evaluations of different weights don't agree by chance: a constant of the method."""


def _loaded_again(run: Run) -> bool:
    """Whether the last evaluation is the lowest one again, digit by digit, after others.

    Many trainers load the best checkpoint at the end, and evaluate it once more. A number of few digits may
    come again by chance, so then all else that was evaluated has to come again, too.
    """
    known = run.frame.filter(finite(run["val_loss"]).is_not_null())
    values = known["val_loss"].cast(float)
    if len(values) < 3 or values[-1] == values[-2] or values[-1] != values[:-1].min():
        return False
    lowest = values[:-1].arg_min() or 0
    beside = (known[one] for one in known.columns if names.says_held_out(one) and one != "val_loss")
    both = [(one[lowest], one[-1]) for one in beside if None not in (one[lowest], one[-1])]
    return exact(float(values[-1]), _DIGITS) or (len(both) > 0 and all(one == last for one, last in both))


_OF_ITS_SIZE = 10
"""A first row so many times as high as the first evaluation is a spike, or another unit."""


def _untrained(run: Run, first: float) -> float:
    """What the untrained model cost: the first evaluation or, where it is higher, the first training loss."""
    begun = finite(run["loss"]).drop_nulls().head(1).to_list() if run.has("loss") else []
    return max([first, *(one for one in begun if one < _OF_ITS_SIZE * first)])


_UNSTEADY = 0.2
"""Evaluations with so much noise, as a share of their level, are unsteady: a constant of the method."""


def _jump(found: _Levels, untrained: float) -> dict[str, float]:
    """The evaluation that stands highest above those before and after it, in times; empty where none jumps.

    One that jumps stands `chance.jumps` times as high as the level beside it, and beyond noise. That level is
    the median of up to `last` evaluations before it, two at least, or of those after it, whichever is higher.
    It stands above what an `untrained` model costs, too: one below may be a step of learning. Where the
    evaluations are unsteady (`_UNSTEADY`), one that stands so high while the model still learns is none:
    validation ends under half of that level (`chance.halves`). Fewer than twice `last` don't tell what is
    usual.
    """
    values, steps, last, chance = (
        found.evaluations.values,
        found.steps,
        found.evaluations.last,
        found.evaluations.chance,
    )
    if len(values) < 2 * last:
        return {}
    before = values.rolling_median(last, min_samples=2).shift(1)
    after = values.reverse().rolling_median(last, min_samples=1).reverse().shift(-1)
    beside = before.zip_with(before > after, after)
    tall = ((beside > 0) & (values > untrained) & (values > beside * chance.jumps)).fill_null(False)
    noise = chance.deviations * noise_of(values.filter(~tall))
    calm = noise_of(values.filter(~tall & (values > 0)).log()) < _UNSTEADY
    settled = beside <= (math.inf if calm else to_float(values[-last:].median()) / chance.halves)
    places = (tall & settled & (values - beside > noise)).arg_true()
    if not len(places):
        return {}
    times = values / beside
    place = max(places, key=lambda one: float(times[one]))
    return {
        "step": int(steps[place]),
        "peak": float(values[place]),
        "level": float(beside[place]),
        "times": float(times[place]),
        "least": chance.jumps,
        "count": len(places),
    }
