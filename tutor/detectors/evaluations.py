"""The evaluations of a validation loss: where they are lowest, and what those after that show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tutor.detectors.grouped import Rise
from tutor.detectors.trends import climbing, lasting_trend, rises_straight, trend
from tutor.detectors.windows import finite, noise_of
from tutor.run import Run, to_float

if TYPE_CHECKING:
    import polars as pl


def evaluated(run: Run) -> tuple[pl.Series, pl.Series]:
    """The finite validation losses, and the steps of each."""
    logged = run.logged("val_loss")
    there = finite(logged["val_loss"]).is_not_null()
    return logged["val_loss"].filter(there).cast(float), logged.steps.filter(there)


@dataclass(frozen=True)
class Evaluations:
    """The evaluations of a validation loss, and what those after the lowest one show.

    Attributes:
        values: the losses in order, all finite.
        last: a count of evaluations: so many in a row make a level, and few that rise are enough if they
            are about as many.
        chance: what chance explains, and what it doesn't.
    """

    values: pl.Series
    last: int
    chance: Rise

    @cached_property
    def lowest(self) -> int:
        """The place of the lowest one."""
        return self.values.arg_min() or 0

    @property
    def first(self) -> float:
        """The first one."""
        return float(self.values[0])

    @property
    def latest(self) -> float:
        """The last one."""
        return float(self.values[-1])

    @property
    def low(self) -> float:
        """The lowest one."""
        return float(self.values[self.lowest])

    @property
    def since(self) -> pl.Series:
        """The lowest one, and those after it."""
        return self.values[self.lowest :]

    @property
    def after(self) -> pl.Series:
        """Those after the lowest one."""
        return self.values[self.lowest + 1 :]

    @property
    def many(self) -> bool:
        """Whether they are enough to tell how large their noise is."""
        return len(self.values) >= self.chance.evaluations

    @property
    def many_after(self) -> bool:
        """Whether those after the lowest one alone are as many."""
        return len(self.after) >= self.chance.evaluations

    def in_order(self, least: float) -> bool:
        """Whether those after the lowest one rise in order, more than `least` standard deviations from none.

        Few are counted from the lowest one on; of many, as many have to come after it.
        """
        if not self.many:
            return len(self.after) >= self.last and trend(self.since) > least
        return self.many_after and lasting_trend(self.after) > least

    def order(self) -> float:
        """How far beyond chance the evaluations rise after the lowest one, in standard deviations.

        Where these are few, the lowest one is counted with them. It was chosen for being low, which makes an
        order by itself: the difference of `chance.many` and `chance.few` is taken off for that.
        """
        if self.many_after:
            return max(lasting_trend(self.after), climbing(self.after))
        return trend(self.since) - (self.chance.many - self.chance.few)

    def sets_in(self) -> bool:
        """Whether many evaluations end in a few, after the lowest one, that rise in order."""
        return self.many and len(self.since) > self.last and trend(self.since) > self.chance.few

    def climbs(self, dip: float) -> bool:
        """Whether those after the lowest one rise in order, or one by one.

        To lie below the one before by less than `dip` is no fall.
        """
        return self.in_order(self.chance.dived) or rises_straight(self.values, self.last, 0.0, dip)

    def soars(self, times: float, sigmas: float) -> bool:
        """Whether those after the lowest one rise one by one, all above the first, to `times` the lowest.

        `last - 1` of them are enough. The last one stands above the lowest by `sigmas` standard deviations.
        """
        if len(self.after) < self.last - 1 or to_float(self.after.min()) <= self.first:
            return False
        high = self.latest > times * self.low > 0
        return high and rises_straight(self.values, self.last - 1, sigmas)

    def lost_again(self) -> bool:
        """Whether few evaluations gain, and then rise one by one and lose more than all of that again.

        They gained more than the share `chance.high` of the lowest, and end above the first one by more than
        the share `chance.lost` of that gain. `last - 1` that rise are enough.
        """
        gained = self.first - self.low
        if self.many or gained <= self.chance.high * abs(self.low):
            return False
        if self.latest - self.first <= self.chance.lost * gained:
            return False
        dip = self.chance.share * abs(self.low)
        return rises_straight(self.values, self.last - 1, self.chance.straight, dip)

    def apart(self) -> bool:
        """Whether all after the lowest one lie `chance.times` as far above it as from one another."""
        if len(self.after) <= self.last:
            return False
        nearest, highest = (to_float(one) for one in (self.after.min(), self.after.max()))
        return nearest - self.low > self.chance.times * (highest - nearest)

    def never_gained(self) -> bool:
        """Whether the first is the lowest, all others lie well above it, and the last is the highest.

        Well above is the share `chance.lifted` of it.
        """
        if self.lowest or len(self.after) <= self.last:
            return False
        nearest, highest = (to_float(one) for one in (self.after.min(), self.after.max()))
        ends_highest = self.latest >= highest
        return ends_highest and nearest > self.low + self.chance.lifted * abs(self.low)

    def stays_above(self, level: float) -> bool:
        """Whether those after the lowest one, many of them, lie above a level in the median."""
        return self.many_after and to_float(self.after.median()) > level

    def none_so_low(self) -> bool:
        """Whether those after the lowest one, many of them, all lie above the level that it ended."""
        return self.many_after and self._left_its_level()

    def ends_lifted(self) -> bool:
        """Whether many evaluations end in a few that all lie above the level before, the last the highest.

        It stands above the lowest by the share `chance.lifted`: the last level, a median, lags behind it.
        """
        if not self.many or len(self.after) <= self.last or not self._left_its_level():
            return False
        return self.low + self.chance.lifted * abs(self.low) < self.latest == self.after.max()

    def leaves(self) -> bool:
        """Whether many evaluations end in `last` or more, from the lowest on, each above the one before.

        The last one stands above the lowest by the share `chance.lifted` of it, and by `chance.deviations`
        times the noise of those up to the lowest.
        """
        if not self.many or len(self.since) < self.last or to_float(self.since.diff().min()) <= 0:
            return False
        least = max(self.chance.lifted * abs(self.low), self.chance.deviations * self._noise_before())
        return self.latest - self.low > least

    def rises_on(self) -> bool:
        """Whether many evaluations end in more than `last` after the lowest one, each above the one before.

        So many don't by chance. The last one stands above the lowest by `chance.straight` times the noise of
        those up to it.
        """
        if not self.many or len(self.after) <= self.last or to_float(self.since.diff().min()) <= 0:
            return False
        return self.latest - self.low > self.chance.straight * self._noise_before()

    def keeps_off(self, least: int, sigmas: float) -> bool:
        """Whether the evaluations come down in order, and `least` or more after the lowest one keep off it.

        None comes near it again: each stands above it by the share `chance.onset` of it and, in the median,
        by the share `chance.high` and by `sigmas` standard deviations of all.
        """
        down = self.values[: self.lowest + 1]
        each = self.lowest >= self.last and to_float(down.diff().max()) < 0
        if len(self.after) < least or not (each or trend(down) < -self.chance.few):
            return False
        far = max(self.chance.high * abs(self.low), sigmas * noise_of(self.values))
        near = self.chance.onset * abs(self.low)
        nearest, usual = to_float(self.after.min()), to_float(self.after.median())
        return nearest - self.low > near and usual - self.low > far

    def _noise_before(self) -> float:
        """The noise of the evaluations up to the lowest one: of the `2 * last` nearest."""
        return noise_of(self.values[max(0, self.lowest + 1 - 2 * self.last) : self.lowest + 1])

    def _left_its_level(self) -> bool:
        """Whether all after the lowest one lie above the median of the `2 * last - 1` up to it.

        Of many evaluations the lowest is low by chance, too, so it is no level; nor do fewer tell one.
        """
        first = self.lowest + 2 - 2 * self.last
        before = self.values[max(0, first) : self.lowest + 1]
        return first >= 0 and to_float(self.after.min()) > to_float(before.median())
