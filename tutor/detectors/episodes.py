"""Episodes: the spikes of a loss, which the detectors of a spike ask about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tutor.detectors.despiking import STRETCH
from tutor.detectors.windows import FEWEST, Baseline, Window, baseline, finite, rolling_baseline
from tutor.run import Run, known_float

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Episode:
    """A spike: where it begins, its peak, and the bound that it crossed.

    Attributes:
        row: where it begins.
        rows: the most in a row that stand above the bound: a row or two may lead the spike itself.
        peak_row: the tallest.
        peak: its loss.
        bound: the loss above which a spike begins.
        mean, std: of the rows before.
    """

    row: int
    rows: int
    peak_row: int
    peak: float
    bound: float
    mean: float
    std: float

    @property
    def excess(self) -> float:
        """How far the peak stands above the bound, in nats."""
        return self.peak - self.bound


def one_spike(window: Window) -> int:
    """So many steps from its beginning on, what stands above the bound is the same spike: half a window."""
    return window.steps // 2


def usual_before(run: Run, row: int, window: Window) -> Baseline | None:
    """What the loss was in the window before a spike that begins at `row`, as `baseline` has it.

    Before one that begins in the second row that is the first row alone.
    """
    first = known_float(finite(run["loss"])[0]) if row == 1 else None
    return baseline(run, "loss", row, window) if first is None else Baseline(first, 0.0, 1)


def episodes(run: Run, window: Window, sigmas: float) -> list[Episode]:
    """Spikes of the loss, recorded at every row, in order.

    Rows above mean + sigmas x std of the rows before begin a spike; those within half a window of its
    beginning belong to it, so that a spike's own height doesn't hide in the window of its later rows.
    """
    loss = finite(run["loss"])
    mean, std = rolling_baseline(run, loss, window)
    above = _above(loss, mean, std, sigmas)
    ends = run.steps.search_sorted(run.steps.gather(above) + one_spike(window), side="right")
    rows, ends = _apart(above, ends)
    mean, std = mean.gather(rows), std.gather(rows)
    columns = (rows, ends, mean + sigmas * std, mean, std)
    return Losses(loss).episodes(*columns)


def _apart(rows: "pl.Series", ends: "pl.Series") -> tuple["pl.Series", "pl.Series"]:
    """The rows, in order, but for those before the end of an earlier one; and where each ends."""
    kept, last = list[int](), 0
    for place, (row, end) in enumerate(zip(rows.to_list(), ends.to_list(), strict=True)):
        if row >= last:
            kept.append(place)
            last = end
    return rows.gather(kept), ends.gather(kept)


def _above(loss: "pl.Series", mean: "pl.Series", std: "pl.Series", sigmas: float) -> "pl.Series":
    """The rows that stand above mean + sigmas x std, a stretch of the log at a time."""
    import polars as pl

    found: list[pl.Series] = []
    for begin in range(0, max(1, len(loss)), STRETCH):
        values, usual, spread = (one[begin : begin + STRETCH] for one in (loss, mean, std))
        # A flat stretch has a std of 0: what rolling sums leave of rounding is no spike.
        above = (values > usual + sigmas * spread + 1e-6 * usual.abs()).fill_null(False)
        found.append(above.arg_true() + begin)
    return pl.concat(found)


class Losses:
    """The finite losses of a run, and how long they stand above a bound.

    Args:
        values: one for each row, null where it isn't finite.
    """

    def __init__(self, values: "pl.Series") -> None:
        self._values = values

    def episodes(
        self, rows: "pl.Series", ends: "pl.Series", bounds: "pl.Series", means: "pl.Series", stds: "pl.Series"
    ) -> list[Episode]:
        """As `episode`, of many that share no row: what stands above its bound is looked for at once."""
        import polars as pl

        spikes = pl.DataFrame({"place": pl.int_ranges(rows, ends, eager=True), "bound": bounds})
        near = spikes.with_row_index("spike").explode("place")
        near = near.with_columns(loss=self._values.gather(near["place"]))
        near = near.filter(_not_under(near["loss"], near["bound"]))
        above: list[dict[int, float | None]] = [{} for _ in range(len(rows))]
        for spike, place, loss in zip(
            *(near[name].to_list() for name in ("spike", "place", "loss")), strict=True
        ):
            above[spike][place] = loss
        usual = zip(*(one.to_list() for one in (rows, ends, bounds, means, stds)), strict=True)
        return [self._episode(near, *about) for near, about in zip(above, usual, strict=True)]

    def episode(self, row: int, end: int, bound: float, mean: float, std: float) -> Episode:
        """The spike that begins at `row` and whose peak comes before row `end`."""
        places = self._above(row, end, bound)
        near = dict(zip(places, self._values.gather(places).to_list(), strict=True))
        return self._episode(near, row, end, bound, mean, std)

    def _episode(
        self, near: Mapping[int, float | None], row: int, end: int, bound: float, mean: float, std: float
    ) -> Episode:
        """Of the rows near its beginning that aren't under the bound, each with its loss."""
        known = {place: loss for place, loss in near.items() if loss is not None}
        peak_row = max(known, key=lambda place: known[place])
        stretches = self._stretches([*near], end, bound)
        longest = max(stretches, key=lambda one: one.stop - one.start)
        rows = longest.stop - longest.start
        # A few rows of noise, well before a spike that lasts, aren't its beginning.
        alone = sum(one.stop - one.start for one in stretches if one.stop <= longest.start)
        if rows >= FEWEST > alone and longest.start - row > FEWEST and longest.start <= peak_row:
            row = longest.start
        return Episode(row, rows, peak_row, known[peak_row], bound, mean, std)

    def stretches(self, row: int, end: int, bound: float) -> list[slice]:
        """Rows in a row that aren't at or under `bound`, each stretch that begins in `row` to `end`.

        The last one goes on past `end` for as long as it lasts.
        """
        return self._stretches(self._above(row, end, bound), end, bound)

    def _above(self, row: int, end: int, bound: float) -> list[int]:
        """The rows in `row` to `end` that aren't at or under `bound`."""
        return (_not_under(self._values[row:end], bound).arg_true() + row).to_list()

    def _stretches(self, places: Sequence[int], end: int, bound: float) -> list[slice]:
        found: list[slice] = []
        for place in places:
            begin = found.pop().start if found and found[-1].stop == place else place
            found.append(slice(begin, place + 1))
        if found and found[-1].stop == end:
            found[-1] = slice(found[-1].start, self._first_under(end, bound))
        return found

    def _first_under(self, row: int, bound: float) -> int:
        """The first row from `row` on that is at or under `bound`; the end of the log where none is."""
        block = -(-row // _BLOCK)
        begins = [row, *(_BLOCK * one for one in _under(self._lowest[block:], bound)[:1] + block)]
        for begin in begins:
            if len(rows := _under(self._values[begin : begin + _BLOCK - begin % _BLOCK], bound)):
                return begin + int(rows[0])
        return len(self._values)

    @cached_property
    def _lowest(self) -> "pl.Series":
        """The lowest loss of each block: of many spikes that last, none has to look at every row."""
        filled = self._values.extend_constant(None, -len(self._values) % _BLOCK)
        return filled.reshape((-1, _BLOCK)).arr.min()


_BLOCK = 1000
"""Rows whose lowest loss is kept."""


def _not_under(values: "pl.Series", bound: "pl.Series | float") -> "pl.Series":
    """Whether each value isn't at or under its bound: what isn't finite is under none."""
    return ~(values <= bound).fill_null(False)


def _under(values: "pl.Series", bound: float) -> "pl.Series":
    """The places of the values at or under `bound`."""
    return (~_not_under(values, bound)).arg_true()
