"""Whether a validation loss ends above its lowest by more than chance, and what training did meanwhile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors.courses import course_of
from tutor.detectors.grouped import Rise
from tutor.detectors.trends import climbing, lasting_trend, rises_straight, trend
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 0.05
"""The share of the rows whose median is a level: a constant of the method."""


def beyond_chance(
    values: pl.Series,
    levels: pl.Series,
    large: float,
    slight: float,
    learned: float,
    in_all: float,
    last: int,
    chance: Rise,
) -> tuple[float, bool]:
    """By how much the last level has to stand above the lowest, and whether chance is ruled out then.

    `learned` is the share by which the training loss has fallen since the lowest evaluation, `in_all` since
    the first one.
    """
    lowest, best = values.arg_min() or 0, to_float(levels.min())
    rise, floor = float(levels[-1]) - best, chance.share * abs(best)
    lost = chance.lost if learned > chance.learns else 1.0
    slighter = chance.onset * abs(best)
    if not lowest and learned > chance.onset and trend(values) > chance.few:
        large = min(large, slighter)  # it never gained: training alone has learned
    least, certain = _least(values, levels, lowest, large, floor, lost, last, chance)
    certain |= not lowest and learned > chance.learns and _none_near(values, last, chance)
    if certain:
        return least, True
    if rise > slight and learned > chance.dive:
        certain = _in_order(values, lowest, last, chance, chance.dived)
        certain |= rises_straight(values, last, 0.0, floor)
        high = 1 + (chance.above if lowest else chance.high)  # one that was best at first never gained
        certain |= learned > chance.halves and _soars(values, lowest, last, high, 0.0)
        if certain:
            return slight, True
    lifted = to_float(values[lowest + 1 :].median() or 0.0) > (1 + chance.above) * best
    by_heart = learned > chance.dive or (in_all > chance.halves and lifted)  # or before it
    if by_heart and _none_so_low(values, lowest, last, chance):
        return slight, True
    if learned > chance.halves and _stays_above(values, lowest, best + large, chance):
        return large, True
    onset = max(slighter, chance.straight * noise_of(values))
    for bound, shows in ((onset, _sets_in), (slighter, _ends_lifted), (slight, _leaves)):
        if rise > bound and learned > chance.learns and shows(values, lowest, last, chance):
            return bound, True
    return least, False


def not_slight(values: pl.Series, learned: float, chance: Rise) -> float:
    """By what share of the lowest evaluation the last level stands above it where that is no slight rise.

    Less is enough beside training that went on to learn, and least where they climb for long, in order.
    """
    if learned <= chance.learns:
        return chance.high
    return chance.onset if trend(values[values.arg_min() or 0 :]) > chance.straight else chance.lifted


def never_again(run: Run, values: pl.Series, step: int, least: float, last: int, chance: Rise) -> bool:
    """Whether each evaluation since the lowest one, at `step`, stands well above it, while training learned.

    By `least` at least, and by `chance.above` of it; of more than `last`, by that share of what was gained.
    Of a run without a training loss twice as many have to, or few lose more than was gained. Where all those
    before the lowest, `last` or more, stand above `chance.times` it, too, it is the one that is odd.
    """
    import polars as pl

    if not run.has("loss") and _lost_again(values, last, chance):
        return True
    lowest = values.arg_min() or 0
    before, after, low = values[:lowest], values[lowest + 1 :], float(values[lowest])
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


def _least(
    values: pl.Series,
    levels: pl.Series,
    lowest: int,
    large: float,
    floor: float,
    lost: float,
    last: int,
    chance: Rise,
) -> tuple[float, bool]:
    """By how much the last level has to stand above the lowest, and whether chance is ruled out then.

    Beyond noise it is `lost` of all that was gained, if that is more than `floor`.
    """
    if len(values) < chance.evaluations:
        ordered = _in_order(values, lowest, last, chance, chance.few)
        straight = rises_straight(values, last, chance.straight) or _soars(
            values, lowest, last, chance.times, chance.straight
        )
        return large, ordered or straight or _apart(values, lowest, last, chance)
    best, rise = to_float(levels.min()), float(levels[-1]) - to_float(levels.min())
    span = len(values) - len(levels) + 1
    noise = chance.deviations * math.sqrt(2) * _noise(values, levels, span)
    order = _order(values, lowest, chance)
    if order > chance.many and len(values) - lowest > chance.evaluations:
        return min(large, floor), True
    if order > chance.few and rise > large:
        return large, True
    gained = max(float(values[0]), float(levels[0])) - best
    least = min(large, max(lost * gained, floor, noise))
    return (least, True) if rise > noise else (max(least, noise), False)


def _noise(values: pl.Series, levels: pl.Series, span: int) -> float:
    """The standard deviation of one level, from evaluations beside each other or from levels apart."""
    return max(noise_of(values) / math.sqrt(span), noise_of(levels, span))


def _in_order(values: pl.Series, lowest: int, last: int, chance: Rise, least: float) -> bool:
    """Whether the order of the evaluations after the lowest one lies more than `least` std from no trend.

    Few are counted from the lowest one on; of many, as many have to come after it.
    """
    after = values[lowest + 1 :]
    if len(values) < chance.evaluations:
        return len(after) >= last and trend(values[lowest:]) > least
    return len(after) >= chance.evaluations and lasting_trend(after) > least


def _stays_above(values: pl.Series, lowest: int, level: float, chance: Rise) -> bool:
    """Whether the evaluations since the lowest one, many of them, lie above a level in the median."""
    after = values[lowest + 1 :]
    return len(after) >= chance.evaluations and to_float(after.median()) > level


def _none_so_low(values: pl.Series, lowest: int, last: int, chance: Rise) -> bool:
    """Whether many evaluations came since the lowest, all above the level that those up to it had."""
    return len(values) - lowest - 1 >= chance.evaluations and _left_its_level(values, lowest, last)


def _ends_lifted(values: pl.Series, lowest: int, last: int, chance: Rise) -> bool:
    """Whether many evaluations end in a few that never come down again, and the last one is the highest.

    It stands `chance.lifted` of the lowest above it: the level of the last few lags behind it.
    """
    low, after = float(values[lowest]), values[lowest + 1 :]
    if len(values) < chance.evaluations or len(after) <= last or not _left_its_level(values, lowest, last):
        return False
    return low + chance.lifted * abs(low) < float(values[-1]) == after.max()


def _left_its_level(values: pl.Series, lowest: int, last: int) -> bool:
    """Whether each evaluation since the lowest lies above the median of the `2 * last - 1` up to it.

    The lowest of many is a lucky one; fewer up to it tell no level.
    """
    first = lowest + 2 - 2 * last
    before = values[max(0, first) : lowest + 1]
    return first >= 0 and to_float(values[lowest + 1 :].min()) > to_float(before.median())


def _leaves(values: pl.Series, lowest: int, last: int, chance: Rise) -> bool:
    """Whether many evaluations end in a few, one fewer than `last` or more, of which each stands higher.

    The last one stands `chance.lifted` of the lowest above it, and by `chance.deviations` of the noise that
    those up to the lowest had.
    """
    since, before = values[lowest:], values[max(0, lowest + 1 - 2 * last) : lowest + 1]
    if len(values) < chance.evaluations or len(since) < last or to_float(since.diff().min()) <= 0:
        return False
    low = float(values[lowest])
    return float(values[-1]) - low > max(chance.lifted * abs(low), chance.deviations * noise_of(before))


def _apart(values: pl.Series, lowest: int, last: int, chance: Rise) -> bool:
    """Whether all evaluations since the lowest lie `chance.times` as far from it as from one another."""
    after = values[lowest + 1 :]
    if len(after) <= last:
        return False
    low, high = (to_float(one) for one in (after.min(), after.max()))
    return low - float(values[lowest]) > chance.times * (high - low)


def _none_near(values: pl.Series, last: int, chance: Rise) -> bool:
    """Whether each of the evaluations stands `chance.lifted` of the first above it, the last one highest."""
    first, after = float(values[0]), values[1:]
    if len(after) <= last or float(values[-1]) < to_float(after.max()):
        return False
    return to_float(after.min()) > first + chance.lifted * abs(first)


def _soars(values: pl.Series, lowest: int, last: int, times: float, sigmas: float) -> bool:
    """Whether one evaluation fewer rises straight, all above the first one and to `times` the lowest."""
    low, after = float(values[lowest]), values[lowest + 1 :]
    if len(after) < last - 1 or to_float(after.min()) <= float(values[0]):
        return False
    return float(values[-1]) > times * low > 0 and rises_straight(values, last - 1, sigmas)


def _lost_again(values: pl.Series, last: int, chance: Rise) -> bool:
    """Whether few evaluations that gained more than `chance.high` rise straight, to far above the first.

    As far as their share `chance.lost` of that gain; one evaluation fewer than `last` shows it.
    """
    lowest, first = float(values[values.arg_min() or 0]), float(values[0])
    gained = first - lowest
    if len(values) >= chance.evaluations or gained <= chance.high * abs(lowest):
        return False
    if float(values[-1]) - first <= chance.lost * gained:
        return False
    return rises_straight(values, last - 1, chance.straight, chance.share * abs(lowest))


def _sets_in(values: pl.Series, lowest: int, last: int, chance: Rise) -> bool:
    """Whether many evaluations end in a few that rise in order."""
    since = values[lowest:]
    return len(values) >= chance.evaluations and len(since) > last and trend(since) > chance.few


def _order(values: pl.Series, lowest: int, chance: Rise) -> float:
    """How far beyond chance the evaluations rise after the lowest one, in std.

    Where they are few, it is counted with them, and what chance makes of that is taken off.
    """
    after = values[lowest + 1 :]
    if len(after) >= chance.evaluations:
        return max(lasting_trend(after), climbing(after))
    return trend(values[lowest:]) - (chance.many - chance.few)


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
