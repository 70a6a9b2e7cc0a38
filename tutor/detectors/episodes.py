"""Episodes: the spikes of a loss, which the detectors of a spike ask about."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tutor.detectors.windows import STRETCH, Window, finite, rolling_baseline
from tutor.run import Run

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


def episodes(run: Run, window: Window, sigmas: float) -> list[Episode]:
    """Spikes of the loss, recorded at every row, in order.

    Rows above mean + sigmas x std of the rows before begin a spike; those within half a window of its
    beginning belong to it, so that a spike's own height doesn't hide in the window of its later rows.
    """
    loss = finite(run["loss"])
    mean, std = rolling_baseline(run, loss, window)
    above = _above(loss, mean, std, sigmas)
    ends = run.steps.search_sorted(run.steps.gather(above) + one_spike(window), side="right")
    mean, std = mean.gather(above), std.gather(above)
    columns = (above, ends, mean + sigmas * std, mean, std)
    found: list[Episode] = []
    last = 0
    for row, end, *usual in zip(*(column.to_list() for column in columns), strict=True):
        if row < last:
            continue
        last = end
        found.append(episode(loss, row, end, *usual))
    return found


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


def episode(loss: "pl.Series", row: int, end: int, bound: float, mean: float, std: float) -> Episode:
    """The spike that begins at `row` and whose peak comes before row `end`."""
    peak_row = row + (loss[row:end].arg_max() or 0)
    rows = max((one.stop - one.start for one in stretches(loss, row, end, bound)), default=0)
    return Episode(row, rows, peak_row, float(loss[peak_row]), bound, mean, std)


def stretches(loss: "pl.Series", row: int, end: int, bound: float) -> list[slice]:
    """Rows in a row that aren't at or under `bound`, stretch by stretch: those that begin in `row` to `end`.

    The last one goes on past `end` for as long as it lasts.
    """
    found: list[slice] = []
    begin: int | None = None
    for place, value in enumerate(loss[row:end].to_list(), row):
        if value is None or value > bound:
            begin = place if begin is None else begin
        elif begin is not None:
            found.append(slice(begin, place))
            begin = None
    if begin is not None:
        found.append(slice(begin, end + _rows_above(loss, end, bound)))
    return found


def _rows_above(loss: "pl.Series", row: int, bound: float) -> int:
    """How many rows from `row` on come before the first that is at or under `bound`; all where none is."""
    begin, length = row, 64  # most spikes end soon: a long log needn't be read to its end for each
    while begin < len(loss):
        for ahead, value in enumerate(loss[begin : begin + length].to_list()):
            if value is not None and value <= bound:
                return begin - row + ahead
        begin, length = begin + length, 2 * length
    return len(loss) - row
