"""Detector of how bad a spike of the loss is: noise, harm that passes, or a loss of what was learned."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tutor.detectors import NOT_YET, Finding, detector
from tutor.detectors.episodes import Losses, one_spike, usual_before
from tutor.detectors.grouped import Lasting
from tutor.detectors.objective import earns_on, fell_too
from tutor.detectors.spike import as_long_as
from tutor.detectors.windows import FEWEST, Baseline, Window, finite, rows
from tutor.run import Run, known_float, names, to_float

if TYPE_CHECKING:
    import polars as pl

_SEVERE = ("height", "bound", "gained", "level", "lasted", "rows_bound", "peak")


@detector(
    signals=("loss",),
    outcomes=("lost", "hurt", "evaluated", "towers", "blip", "rewarded", "fell", "unseen", "opposed"),
    facts={
        **dict.fromkeys(("hurt", "towers", "blip", "opposed"), _SEVERE),
        "evaluated": (*_SEVERE, "held_out"),
        "rewarded": (*_SEVERE, "reward", "before", "after", "end"),
        "fell": (*_SEVERE, "reward", "before", "after"),
        "unseen": (*_SEVERE, "inside", "highest", "before"),
        "lost": (*_SEVERE, "kept", "best", "best_step", "left", "end"),
    },
)
def severity(
    run: Run,
    at: int | None,
    *,
    window: Window,
    sigmas: float,
    of_gain: float,
    lasting: Lasting,
    tall: float,
) -> Finding:
    """Whether a spike is more than noise: it lasts, or towers over all that the run had gained.

    The flaw: the run became unstable. A spike is a stretch of rows above mean + sigmas x std of the rows
    before it; their mean is its level, above which it rises. How far it has to rise is told in shares of the
    run's own scale: what it had gained until then or, where that is more, the level. What noise explains is a
    "blip". A spike hurts where it

    - lasts `lasting.rows` rows or more, and rises by more than `of_gain` of the scale; where the level lies
      far below a wild beginning, `tall` times the level is enough, or `lasting.of_wild` of the gain, if that
      is more; one row is enough that an evaluation at the same step shows, too, for that is of other data;
    - or jumps by `lasting.of_level` of the level, and stays up for `lasting.long` rows;
    - or rises by more than `tall` times the scale, however short it is; where the level lies far below a wild
      beginning, by `lasting.alone` times the level, `lasting.beyond` and `lasting.of_wild` of the gain. In a
      log of epochs it has to rise above the first one, too, unless it is so far below; where a discriminator
      and a generator train against each other this doesn't count, since the losses of both do so for a batch
      or two.

    What is found of one that hurts, in the order in which it is looked for:

    - "rewarded": a reward doesn't fall, so that it did the run no harm.
    - "fell": a reward ends low.
    - "unseen": evaluations within the spike don't show it.
    - "opposed": two networks train against each other, so that each loss moves with the other's.
    - "lost": the loss ends above the level before by the share `lasting.given_back` of the scale, in the
      median of its last `lasting.to_the_end` rows; where fewer are left, each of them does, and the last
      one is the highest of the log: it climbs on.
    - "towers": it is tall alone, and doesn't last.
    - "evaluated": it doesn't last either, but an evaluation within it stands as high.
    - "hurt": it is none of these.

    A spike that the log ends in may yet last. Source: ours; one or two rows above the bound are what healthy
    runs show by chance. The peak lies within half a window of `at`, as in `recovery`: a row or two, and some
    calm, often come before what lasts.
    """
    row = run.row_at(at) if at is not None else 0
    window = as_long_as(run, window)
    before = usual_before(run, row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    two_networks = any(map(names.is_of_a_side, run.frame.columns))
    end = bisect_right(run.steps, int(run.steps[row]) + one_spike(window))
    yardstick = _yardstick(
        run, row, end, before, lasting, of_gain=of_gain, tall=tall, towers=not two_networks
    )
    level, loss = before.mean, yardstick.loss
    # A few rows that happen to agree say nothing of the noise.
    bound = level + max(sigmas * before.std, 0.0 if before.rows >= FEWEST else yardstick.least)
    stretches = Losses(loss).stretches(row, end, bound) or [slice(row, row)]
    worst = max(stretches, key=yardstick.weight)
    hurt, lasts, height = yardstick.weight(worst)
    fewest, least = yardstick.needed(worst, height)
    towers = hurt and not (lasts and height > least)
    whole = row + rows(run, one_spike(window), lasting.rows)
    above = loss[-1] is None or loss[-1] - bound > 1e-6 * abs(level)  # beyond rounding
    if not hurt and above and stretches[-1].stop == len(run) < whole:
        return Finding(NOT_YET, at, {"rows": len(run), "needed": whole})
    facts = {
        "height": height,
        "bound": yardstick.tallest if towers else least,
        "gained": yardstick.gained,
        "level": level,
        "lasted": worst.stop - worst.start,
        "rows_bound": fewest,
        "peak": level + height,
    }
    seen = (int(run.steps[max(0, row - before.rows)]), int(run.steps[min(len(run) - 1, worst.stop)]))
    if hurt and (otherwise := _otherwise(run, row, worst, two_networks=two_networks)):
        outcome, more = otherwise
        return Finding(outcome, at, facts | more, bound, seen)
    kept = level + lasting.given_back * yardstick.scale
    lost = _lost(run, worst.start, lasting, kept) if hurt else {}
    shown = yardstick.shown(worst) if hurt and fewest == 1 else {}
    told = {"lost": lost, "towers": towers, "evaluated": shown, "hurt": hurt}
    outcome = next((name for name, found in told.items() if found), "blip")
    return Finding(outcome, at, facts | (lost or shown), bound, seen, measured=height, bound=facts["bound"])


class _Needed(NamedTuple):
    """What a stretch of rows has to be to be no chance.

    Attributes:
        rows: it lasts for so many rows.
        height: and its highest row stands above the level by more than this.
    """

    rows: int
    height: float


class _Weight(NamedTuple):
    """How much harm a stretch of rows shows; the worst one is the greatest, compared in this order.

    Attributes:
        hurt: whether it is more than noise: it lasts and is high enough, or towers.
        lasts: whether it has rows enough.
        height: how far its highest row stands above the level.
    """

    hurt: bool
    lasts: bool
    height: float


@dataclass(frozen=True)
class _Yardstick:
    """What the stretches of a spike are measured by.

    Attributes:
        loss: null where it isn't finite.
        level: the mean of the rows before the spike.
        row: where the spike begins.
        end: from this row on the loss is looked at no further for a peak.
        gained: how far the loss had come down until then; 0 where that is no more than noise.
        scale: what it had gained or, where that is more, the size of its level.
        least: a stretch of `lasting.rows` rows has to rise by more than this.
        long_least: one of `lasting.long` rows, that begins with a jump, only by more than this.
        tallest: one that rises by more than this hurts, however few rows it has.
        lasting: how many rows are no chance.
        evaluated: by row the evaluations that stand as far above their own level, `of_gain` of their scale.
    """

    loss: pl.Series
    level: float
    row: int
    end: int
    gained: float
    scale: float
    least: float
    long_least: float
    tallest: float
    lasting: Lasting
    evaluated: Mapping[int, float]

    def weight(self, stretch: slice) -> _Weight:
        """How much harm a stretch shows."""
        near = slice(stretch.start, min(stretch.stop, self.end))  # a climb of hundreds of steps is no spike
        height = (known_float(self.loss[near].max()) or self.level) - self.level
        needed = self.needed(stretch, height)
        lasts = stretch.stop - stretch.start >= needed.rows
        return _Weight((lasts and height > needed.height) or height > self.tallest, lasts, height)

    def needed(self, stretch: slice, height: float) -> _Needed:
        """What a stretch whose highest row stands `height` above the level has to be to be no chance."""
        if stretch.stop - stretch.start < self.lasting.rows and self.shown(stretch):
            return _Needed(1, self.least)
        begins = self._rise(slice(stretch.start, stretch.start + self.lasting.rows))
        at_once = stretch.start - self.row <= self.lasting.rows and begins > height / 2  # else it is a drift
        jumps = at_once and begins > self.long_least
        long = stretch.stop - stretch.start >= self.lasting.long
        if jumps and long and self._rise(stretch) > self.long_least:
            return _Needed(self.lasting.long, self.long_least)
        return _Needed(self.lasting.rows, self.least)

    def shown(self, stretch: slice) -> dict[str, float]:
        """The highest of the evaluations within a stretch that stand high; empty where none does."""
        high = [value for row, value in self.evaluated.items() if stretch.start <= row < stretch.stop]
        return {"held_out": max(high)} if high else {}

    def _rise(self, part: slice) -> float:
        """How far the median of some rows stands above the level."""
        return (known_float(self.loss[part].median()) or self.level) - self.level


def _yardstick(
    run: Run,
    row: int,
    end: int,
    before: Baseline,
    lasting: Lasting,
    *,
    of_gain: float,
    tall: float,
    towers: bool,
) -> _Yardstick:
    """What a spike that begins at `row` is measured by; `towers`: whether one that is tall alone counts."""
    loss, size = finite(run["loss"]), abs(before.mean)
    first = known_float(loss[: max(1, min(row, 5))].median())  # none where the log begins with NaN
    gained = 0.0 if first is None else first - before.mean
    gained = gained if gained > before.std / math.sqrt(before.rows) else 0.0  # less is no gain, but its noise
    scale = max(gained, size)
    # What was gained from a wild beginning says little of a spike at a level far below it.
    far_below = max(tall * size, lasting.of_wild * gained)
    least = min(of_gain * scale, far_below)
    alone = max(lasting.alone * size, lasting.beyond, lasting.of_wild * gained)
    tallest = min(max(tall * scale, _of_first_epoch(run, before.mean)), alone)
    return _Yardstick(
        loss=loss,
        level=before.mean,
        row=row,
        end=end,
        gained=gained,
        scale=scale,
        least=least,
        long_least=min(least, lasting.of_level * size),
        tallest=tallest if towers else math.inf,
        lasting=lasting,
        evaluated=_evaluated_high(run, row, end, of_gain),
    )


def _evaluated_high(run: Run, row: int, end: int, of_gain: float) -> dict[int, float]:
    """By row, from one to another, the evaluations that stand far above those before, by their own gain."""
    held_out = finite(run["val_loss"])[:end] if run.has("val_loss") else None
    before = None if held_out is None else held_out[:row].drop_nulls()
    if held_out is None or before is None or len(before) < _LEVEL:
        return {}
    level = to_float(before[-_LEVEL:].median())
    high = level + of_gain * max(float(before[0]) - level, abs(level))
    rows_high = (held_out[row:] > high).fill_null(False).arg_true() + row
    return dict(zip(rows_high.to_list(), held_out.gather(rows_high).to_list(), strict=True))


_LEVEL = 3
"""Evaluations whose median is a level: a constant of the method."""


def _of_first_epoch(run: Run, level: float) -> float:
    """How far the first epoch of a log of epochs lies above a level, at least 0; 0 in any other log.

    A row of such a log is a mean, which no single batch moves, and what a run gains within its first few
    epochs shows there alone.
    """
    first = finite(run["loss"]).drop_nulls()[:1] if run.counts == "epochs" else []
    return max(0.0, float(first[0]) - level) if len(first) else 0.0


def _otherwise(run: Run, row: int, worst: slice, *, two_networks: bool) -> tuple[str, dict[str, Any]] | None:
    """The outcome, and its facts, of a spike that hurts, where the log tells more than the loss does."""
    told = {
        "rewarded": earns_on(run, row),
        "fell": fell_too(run),
        "unseen": _held_out_calm(run, worst),
    }
    shown = next((one for one in told.items() if one[1]), None)
    return shown or (("opposed", {}) if two_networks else None)


_INSIDE = 2
"""So many evaluations tell how good a model was at the time: a constant of the method."""
_APART = 1.5
"""So many times as high as the others, and further from them than they lie apart, is an outlier: likewise."""


def _held_out_calm(run: Run, worst: slice) -> dict[str, float]:
    """What evaluations within a spike say, where none of them is higher than those right before; else empty.

    How many lie `inside`, `_INSIDE` or more; the `highest` of them; and the higher one of the last `_INSIDE`
    `before`, without one that stands `_APART` from them: that may be of the model that the spike has harmed
    already. Then the training data have changed, as in a curriculum, and not the model.
    """
    if not run.has("val_loss"):
        return {}
    held_out = finite(run["val_loss"])
    before, inside = held_out[: worst.start].drop_nulls(), held_out[worst].drop_nulls()
    if len(before) < _INSIDE or len(inside) < _INSIDE:
        return {}
    *others, second, highest = before[-_INSIDE - 1 :].sort().to_list()
    apart = bool(others) and highest > _APART * second and highest - second > second - others[0]
    level = second if apart else to_float(before[-_INSIDE:].max())
    highest = to_float(inside.max())
    return {"inside": len(inside), "highest": highest, "before": level} if highest <= level else {}


def _lost(run: Run, row: int, lasting: Lasting, kept: float) -> dict[str, float]:
    """Where the run was best, and where it ends, if its last rows stand above `kept`; empty where they don't.

    `left` is the last step at which it was at `kept` or under it, while its level was: the median of the
    `lasting.long` rows around a step.
    """
    loss = finite(run["loss"])
    since = loss[row:].drop_nulls()
    end = known_float(since[-lasting.to_the_end :].median())
    if not loss[:row].count() or end is None or end <= kept:
        return {}
    if len(since) < lasting.to_the_end:
        highest = since[-1] == loss.max() and (loss == since[-1]).sum() == 1
        if len(since) < lasting.rows or not highest or to_float(since.min()) <= kept:
            return {}
    levels = loss.rolling_median(lasting.long, min_samples=1, center=True)
    low = (levels <= kept).fill_null(False).arg_true()
    near = (
        loss[: int(low[-1]) + 1] if len(low) else loss[:0]
    )  # a median goes on for rows after the last low one
    low = (near <= kept).fill_null(False).arg_true()
    last_low = int(low[-1]) if len(low) else 0
    best = int(loss[: max(row, last_low + 1)].arg_min() or 0)  # it may lie after the spike
    left = int(run.steps[last_low if len(low) else best])
    return {
        "kept": kept,
        "best": float(loss[best]),
        "best_step": int(run.steps[best]),
        "left": left,
        "end": end,
    }
