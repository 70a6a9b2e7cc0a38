"""Whether a validation loss ends above its lowest by more than chance, and what training did meanwhile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from tutor.detectors.courses import course_of
from tutor.detectors.evaluations import Evaluations
from tutor.detectors.grouped import Rise
from tutor.detectors.scores import scores_and_rewards
from tutor.detectors.trends import rises_straight, trend
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, known_float, names, to_float

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 0.05
"""The share of the rows whose median is a level: a constant of the method."""


class Needed(NamedTuple):
    """How large a rise has to be.

    Attributes:
        least: the last level stands above the lowest one by more than this, in the unit of the loss.
        certain: whether chance is ruled out for a rise as large as that.
    """

    least: float
    certain: bool


def beyond_chance(
    evaluations: Evaluations, levels: pl.Series, *, large: float, slight: float, learned: float, in_all: float
) -> Needed:
    """By how much the last level has to stand above the lowest, and whether chance is ruled out then.

    What lies beyond noise is enough by itself (`_least`). Where the training loss went on to fall, the model
    learns its data by heart, and less is enough. Where it fell by more than

    - `chance.onset`: the last few rise at each evaluation (`rises_on`).
    - `chance.learns`: a part of what was gained is lost again; or the first evaluation was the lowest, and
      all others lie well above it (`never_gained`); or the rise shows in the last few (`sets_in`,
      `ends_lifted`, `leaves`).
    - `chance.dive`: the evaluations climb one by one (`climbs`), or many lie above the level that the lowest
      one ended (`none_so_low`), or well above it (`keeps_off`).
    - `chance.halves`: few end far above the lowest (`soars`), or many lie as high in the median
      (`stays_above`), or more than a few lie well above it (`keeps_off`).

    Args:
        evaluations: the evaluations.
        levels: the medians of so many in a row, or the evaluations themselves.
        large: a rise of this size counts, whatever training did, if it is no chance.
        slight: one of this size counts where training went on to fall, and the evaluations bear it out.
        learned: the share by which the training loss has fallen since the lowest evaluation.
        in_all: the share by which it has fallen since the first one.
    """
    chance, best = evaluations.chance, to_float(levels.min())
    rise, floor = float(levels[-1]) - best, chance.share * abs(best)
    slighter = chance.onset * abs(best)
    if not evaluations.lowest and learned > chance.onset and trend(evaluations.values) > chance.few:
        large = min(large, slighter)  # nothing was gained on held-out data: training alone has learned
    lost = chance.lost if learned > chance.learns else 1.0
    least, certain = _least(evaluations, levels, large=large, floor=floor, lost=lost)
    if certain or (learned > chance.learns and evaluations.never_gained()):
        return Needed(least, True)
    if rise > slight and learned > chance.dive:
        times = 1 + (
            chance.above if evaluations.lowest else chance.high
        )  # less, where nothing was ever gained
        if evaluations.climbs(floor) or (learned > chance.halves and evaluations.soars(times, 0.0)):
            return Needed(slight, True)
    lifted = to_float(evaluations.after.median() or 0.0) > (1 + chance.above) * best
    # The model may have learned its data by heart before the lowest evaluation, too.
    by_heart = learned > chance.dive or (in_all > chance.halves and lifted)
    keeps_off = (
        learned > chance.dive and evaluations.keeps_off(int(chance.evaluations), chance.deviations)
    ) or (learned > chance.halves and evaluations.keeps_off(2 * evaluations.last + 1, chance.straight))
    if keeps_off or (by_heart and evaluations.none_so_low()):
        return Needed(slight, True)
    if learned > chance.halves and evaluations.stays_above(best + large):
        return Needed(large, True)
    onset = max(slighter, chance.straight * noise_of(evaluations.values))
    for bound, shows in (
        (onset, evaluations.sets_in),
        (slighter, evaluations.ends_lifted),
        (slight, evaluations.leaves),
    ):
        if rise > bound and learned > chance.learns and shows():
            return Needed(bound, True)
    rises_on = learned > chance.onset and evaluations.rises_on()
    return Needed(slight, True) if rises_on else Needed(least, False)


def not_slight(evaluations: Evaluations, learned: float) -> float:
    """The share of the lowest level by which the last one has to stand above it to be more than slight.

    A smaller share is enough where training went on to learn, and the smallest where the evaluations rise in
    order there, too, far beyond chance, or at each of the last few.
    """
    chance = evaluations.chance
    if learned > chance.onset and evaluations.rises_on():
        return chance.onset
    if learned <= chance.learns:
        return chance.high
    return chance.onset if trend(evaluations.since) > chance.straight else chance.lifted


def never_again(run: Run, evaluations: Evaluations, step: int, least: float) -> bool:
    """Whether none comes near the lowest evaluation, at `step`, again, while training goes on to learn.

    Each of those after it, `last` or more, stands above it by more than `least` and by more than the share
    `chance.above` of it; where they are more than `last`, that share of what was gained is enough, if it is
    less. The training loss falls to half meanwhile (`chance.halves`). Without a training loss, twice `last`
    evaluations have to stand so high, or few lose more than was gained (`lost_again`).

    Where all others stand above `chance.times` the lowest, and `last` or more of them came before it, the
    lowest one itself is the odd one, and nothing was lost.
    """
    import polars as pl

    last, chance = evaluations.last, evaluations.chance
    if not run.has("loss") and evaluations.lost_again():
        return True
    before, after, low = evaluations.values[: evaluations.lowest], evaluations.after, evaluations.low
    others = pl.concat([before, after])
    if len(before) >= last and len(after) and to_float(others.min()) > chance.times * low > 0:
        return False
    high = chance.above * abs(low)
    if len(after) > last and run.has("loss"):
        high = min(high, chance.above * (evaluations.first - low))
    if len(after) < last or to_float(after.min()) - low <= max(least, high):
        return False
    if not run.has("loss"):
        return len(after) >= 2 * last
    return learned_since(run, step, last) > chance.halves


def _least(evaluations: Evaluations, levels: pl.Series, *, large: float, floor: float, lost: float) -> Needed:
    """By how much the last level has to stand above the lowest, whatever training did.

    By more than noise, by more than `floor`, and by the share `lost` of all that was gained; by no more than
    `large`, if noise allows it.
    """
    values, chance = evaluations.values, evaluations.chance
    if not evaluations.many:
        certain = (
            evaluations.in_order(chance.few)
            or rises_straight(values, evaluations.last, chance.straight)
            or evaluations.soars(chance.times, chance.straight)
            or evaluations.apart()
        )
        return Needed(large, certain)
    best, rise = to_float(levels.min()), float(levels[-1]) - to_float(levels.min())
    span = len(values) - len(levels) + 1
    noise = chance.deviations * math.sqrt(2) * _noise(values, levels, span)
    order = evaluations.order()
    if order > chance.many and evaluations.many_after:
        return Needed(min(large, floor), True)
    if order > chance.few and rise > large:
        return Needed(large, True)
    gained = max(evaluations.first, float(levels[0])) - best
    least = min(large, max(lost * gained, floor, noise))
    return Needed(least, True) if rise > noise else Needed(max(least, noise), False)


def _noise(values: pl.Series, levels: pl.Series, span: int) -> float:
    """The standard deviation of one level, from evaluations beside each other or from levels apart."""
    return max(noise_of(values) / math.sqrt(span), noise_of(levels, span))


def beyond_training(run: Run, evaluations: Evaluations) -> bool:
    """Whether each of the last evaluations lies further above the lowest than training ever came down.

    Training has come down by the share `chance.learns` of where it began, or more.
    """
    course = course_of(finite(run["loss"]), _LEVEL) if run.has("loss") else None
    if course is None or len(evaluations.values) <= evaluations.last:
        return False
    least = max(course.improvement, evaluations.chance.learns * abs(course.start))
    return (
        course.improvement == least
        and to_float(evaluations.values[-evaluations.last :].min()) - evaluations.low > least
    )


def knows_by_heart(run: Run, evaluations: Evaluations, step: int) -> bool:
    """Whether the last evaluation lies well above the lowest, at `step`, and training costs next to nothing.

    Well above is the share `chance.clear` of the lowest, next to nothing `chance.heart` of the last one. Both
    began at one level, within `chance.times`: a loss in another unit would tell nothing. Training goes on to
    learn, and no held-out score is at its best in the end. Of twice `last` evaluations or more, their order
    tells more than one.
    """
    known = finite(run["loss"]).drop_nulls() if run.has("loss") else None
    few = len(evaluations.values) < 2 * evaluations.last and evaluations.lowest > 0
    if known is None or len(known) < evaluations.last or not few:
        return False
    begun, ends = to_float(known[: evaluations.last].max()), to_float(known[-evaluations.last :].median())
    chance, latest = evaluations.chance, evaluations.latest
    well_above = latest > (1 + chance.clear) * evaluations.low > 0
    if not well_above or not 0 <= ends < chance.heart * latest or evaluations.first >= chance.times * begun:
        return False
    return learned_since(run, step, evaluations.last) > chance.onset and not _ends_at_its_best(run)


def _ends_at_its_best(run: Run) -> bool:
    """Whether a held-out score ends where it was never better."""
    scores = (known for name, known in scores_and_rewards(run) if names.says_held_out(name))
    return any(len(known) > 1 and known[-1] == known.max() for known in scores)


def learned_since(run: Run, step: int, last: int) -> float:
    """By what share of its level at a step the training loss has fallen since; 0.0 where that isn't known.

    A level is a median of `last` rows.
    """
    before, after = _training(run, step, last)
    return (before - after) / abs(before) if before and after is not None else 0.0


def training_too(run: Run, step: int, rise: float, last: int, chance: Rise) -> bool:
    """Whether the training loss rises from a step on, too: by `chance.beside` of `rise`, and beyond noise.

    The median of the `last` rows up to that step is held against that of the last ones in the log, or of all
    since the step, whichever is higher.
    """
    before, after = _training(run, step, last)
    if before is None or after is None:
        return False
    loss = finite(run["loss"])
    since = to_float(loss.filter(run.steps > step).median())
    noise = noise_of(loss.drop_nulls())
    return max(after, since) - before > max(chance.beside * rise, chance.deviations * noise)


def _training(run: Run, step: int, last: int) -> tuple[float | None, float | None]:
    """The level of the training loss up to a step, and at the end: the median of `last` rows, or of fewer.

    None where no row is known there.
    """
    known = finite(run["loss"]) if run.has("loss") else None
    if known is None:
        return None, None
    parts = known.filter(run.steps <= step).drop_nulls(), known.filter(run.steps > step).drop_nulls()
    before, after = (known_float(part[-last:].median()) for part in parts)
    return before, after
