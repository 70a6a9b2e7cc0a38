"""Whether a validation loss ends above its lowest by more than chance, and what training did meanwhile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from tutor.detectors.courses import course_of
from tutor.detectors.evaluations import Evaluations
from tutor.detectors.grouped import Rise
from tutor.detectors.trends import rises_straight, trend
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 0.05
"""The share of the rows whose median is a level: a constant of the method."""


class Needed(NamedTuple):
    """How large a rise has to be.

    Attributes:
        least: the last level stands above the lowest one by more than this, in the unit of the loss.
        certain: whether chance doesn't explain a rise as large as that.
    """

    least: float
    certain: bool


def beyond_chance(
    values: pl.Series,
    levels: pl.Series,
    *,
    large: float,
    slight: float,
    learned: float,
    in_all: float,
    last: int,
    chance: Rise,
) -> Needed:
    """By how much the last level has to stand above the lowest, and whether chance is ruled out then.

    What lies beyond noise is enough by itself. Where the training loss went on to fall, less is: then it
    learns by heart what held-out data doesn't hold.

    Args:
        values: the evaluations, all finite.
        levels: the medians of so many in a row, or the evaluations themselves.
        large: a rise of this size counts, whatever training did, if it is no chance.
        slight: one of this size or less counts only where it shows in the order of the evaluations.
        learned: the share by which the training loss has fallen since the lowest evaluation.
        in_all: the share by which it has fallen since the first one.
        last: a count of evaluations: so many in a row make a level.
        chance: what chance explains.
    """
    seen, best = Evaluations(values, last, chance), to_float(levels.min())
    rise, floor = float(levels[-1]) - best, chance.share * abs(best)
    slighter = chance.onset * abs(best)
    if not seen.lowest and learned > chance.onset and trend(values) > chance.few:
        large = min(large, slighter)  # nothing was gained on held-out data: training alone has learned
    lost = chance.lost if learned > chance.learns else 1.0
    least, certain = _least(seen, levels, large=large, floor=floor, lost=lost)
    if certain or (learned > chance.learns and seen.never_gained()):
        return Needed(least, True)
    if rise > slight and learned > chance.dive:
        times = 1 + (chance.above if seen.lowest else chance.high)  # less, where nothing was ever gained
        if seen.climbs(floor) or (learned > chance.halves and seen.soars(times, 0.0)):
            return Needed(slight, True)
    lifted = to_float(seen.after.median() or 0.0) > (1 + chance.above) * best
    # It may have been learned by heart before the lowest evaluation, too.
    by_heart = learned > chance.dive or (in_all > chance.halves and lifted)
    if by_heart and seen.none_so_low():
        return Needed(slight, True)
    if learned > chance.halves and seen.stays_above(best + large):
        return Needed(large, True)
    onset = max(slighter, chance.straight * noise_of(values))
    for bound, shows in ((onset, seen.sets_in), (slighter, seen.ends_lifted), (slight, seen.leaves)):
        if rise > bound and learned > chance.learns and shows():
            return Needed(bound, True)
    return Needed(least, False)


def not_slight(values: pl.Series, learned: float, chance: Rise) -> float:
    """The share of the lowest level by which the last one has to stand above it to be more than slight.

    A smaller share is enough where training went on to learn, and the smallest where the evaluations rise in
    order there, too, far beyond chance.
    """
    if learned <= chance.learns:
        return chance.high
    return chance.onset if trend(values[values.arg_min() or 0 :]) > chance.straight else chance.lifted


def never_again(run: Run, values: pl.Series, step: int, least: float, last: int, chance: Rise) -> bool:
    """Whether none comes near the lowest evaluation, at `step`, again, while training goes on to learn.

    Each of those after it, `last` or more, stands above it by more than `least` and by more than the share
    `chance.above` of it; where they are more than `last`, that share of what was gained is enough, if it is
    less. The training loss falls to half meanwhile (`chance.halves`). Without a training loss, twice `last`
    evaluations have to stand so high, or few lose more than was gained (`lost_again`).

    Where all others stand above `chance.times` the lowest, and `last` or more of them came before it, the
    lowest one itself is the odd one, and nothing was lost.
    """
    import polars as pl

    seen = Evaluations(values, last, chance)
    if not run.has("loss") and seen.lost_again():
        return True
    before, after, low = values[: seen.lowest], seen.after, seen.low
    others = pl.concat([before, after])
    if len(before) >= last and len(after) and to_float(others.min()) > chance.times * low > 0:
        return False
    high = chance.above * abs(low)
    if len(after) > last and run.has("loss"):
        high = min(high, chance.above * (float(values[0]) - low))
    if len(after) < last or to_float(after.min()) - low <= max(least, high):
        return False
    if not run.has("loss"):
        return len(after) >= 2 * last
    return learned_since(run, step, last) > chance.halves


def _least(seen: Evaluations, levels: pl.Series, *, large: float, floor: float, lost: float) -> Needed:
    """By how much the last level has to stand above the lowest, whatever training did.

    By more than noise, by more than `floor`, and by the share `lost` of all that was gained; by no more than
    `large`, if noise allows it.
    """
    values, chance = seen.values, seen.chance
    if not seen.many:
        straight = rises_straight(values, seen.last, chance.straight)
        soars = seen.soars(chance.times, chance.straight)
        return Needed(large, seen.in_order(chance.few) or straight or soars or seen.apart())
    best, rise = to_float(levels.min()), float(levels[-1]) - to_float(levels.min())
    span = len(values) - len(levels) + 1
    noise = chance.deviations * math.sqrt(2) * _noise(values, levels, span)
    order = seen.order()
    if order > chance.many and seen.many_after:
        return Needed(min(large, floor), True)
    if order > chance.few and rise > large:
        return Needed(large, True)
    gained = max(float(values[0]), float(levels[0])) - best
    least = min(large, max(lost * gained, floor, noise))
    return Needed(least, True) if rise > noise else Needed(max(least, noise), False)


def _noise(values: pl.Series, levels: pl.Series, span: int) -> float:
    """The standard deviation of one level, from evaluations beside each other or from levels apart."""
    return max(noise_of(values) / math.sqrt(span), noise_of(levels, span))


def beyond_training(run: Run, values: pl.Series, last: int, chance: Rise) -> bool:
    """Whether each of the last evaluations lies further above the lowest than training ever came down.

    It has come down by more than its share `chance.learns`.
    """
    course = course_of(finite(run["loss"]), _LEVEL) if run.has("loss") else None
    if course is None or len(values) <= last:
        return False
    least = max(course.improvement, chance.learns * abs(course.start))
    return course.improvement == least and to_float(values[-last:].min()) - to_float(values.min()) > least


def learned_since(run: Run, step: int, last: int) -> float:
    """By what share of its level at a step the training loss has fallen since."""
    before, after = _training(run, step, last)
    return (before - after) / abs(before) if before and after is not None else 0.0


def training_too(run: Run, step: int, rise: float, last: int, chance: Rise) -> bool:
    """Whether the training loss rises from a step on: by its share of `rise`, and beyond its noise.

    The level of the `last` rows up to that step is held against that of the last ones, and of all since.
    """
    before, after = _training(run, step, last)
    if before is None or after is None:
        return False
    loss = finite(run["loss"])
    since = to_float(loss.filter(run.steps > step).median())
    noise = noise_of(loss.drop_nulls())
    return max(after, since) - before > max(chance.beside * rise, chance.deviations * noise)


def _training(run: Run, step: int, last: int) -> tuple[float | None, float | None]:
    """The level of the training loss up to a step and at the end, a median of `last` rows or of fewer."""
    known = finite(run["loss"]) if run.has("loss") else None
    if known is None:
        return None, None
    parts = known.filter(run.steps <= step).drop_nulls(), known.filter(run.steps > step).drop_nulls()
    before, after = (known_float(part[-last:].median()) for part in parts)
    return before, after
