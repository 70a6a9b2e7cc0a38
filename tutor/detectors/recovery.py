"""Detectors of what a spike of the loss did: whether the run came back from it, and how much it was."""

import math
from bisect import bisect_right
from typing import Any

from tutor.detectors import NOT_YET, Finding, Smoothed, detector
from tutor.detectors.episodes import Losses, one_spike
from tutor.detectors.grouped import Lasting
from tutor.detectors.objective import earns_on, fell_too
from tutor.detectors.spike import as_long_as
from tutor.detectors.windows import (
    FEWEST,
    Baseline,
    Window,
    baseline,
    finite,
    forward_mean,
    rows,
)
from tutor.run import Run, known_float, names, to_float


def _usual(run: Run, row: int, window: Window) -> Baseline | None:
    """As `baseline`, and what lies before a spike that begins in the second row: one alone."""
    first = known_float(finite(run["loss"])[0]) if row == 1 else None
    return baseline(run, "loss", row, window) if first is None else Baseline(first, 0.0, 1)


_RECOVERY = ("step", "value", "bound", "mean", "std", "sigmas", "smooth", "within", "rows")


@detector(
    signals=("loss",),
    outcomes=("yes", "late", "no"),
    facts={**dict.fromkeys(("yes", "late"), ("after", *_RECOVERY)), "no": _RECOVERY},
)
def recovery(
    run: Run,
    at: int | None,
    *,
    window: Window,
    sigmas: float,
    within: Window,
    smooth: Window,
    still: int,
) -> Finding:
    """Whether a smoothed loss comes back within mean + sigmas x std, inside so many steps of the peak.

    The flaw: an update that did lasting harm. Source: the tree; ours: smoothed, since one lucky batch is no
    recovery. A log that ends before the window does says "no" too where not one row from the spike on is
    back, and there are `still` of them: a return may yet come, and to assume one would be to invent it. One
    that comes after the window, while the log goes on, is "late".

    The spike at `at` has its peak within half a window, as `spike` has it: where a blip leads a rise, the
    calm between them is no recovery.
    """
    row = run.row_at(at) if at is not None else 0
    before = _usual(run, row, as_long_as(run, window))
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    bound = before.mean + sigmas * before.std
    span = smooth.count(run)
    near = finite(run["loss"])[row : run.row_at(int(run.steps[row]) + one_spike(window)) + 1]
    peak = row + (near.arg_max() or 0)
    last = within.end(run, peak)
    means = forward_mean(run["loss"], span, peak + 1, last + 1)
    back = (means <= bound).fill_null(False).arg_true()
    facts = {
        "bound": bound,
        "mean": before.mean,
        "std": before.std,
        "sigmas": sigmas,
        "smooth": span,
        "within": within.steps,
        "rows": before.rows,
    }
    curve = Smoothed("loss", run.steps[peak + 1 : last + 1], means)
    window_steps = (int(run.steps[max(0, row - before.rows)]), int(run.steps[min(last, len(run) - 1)]))
    late = None if len(back) else _back_later(run, last, span, before.rows, bound)
    if len(back) or late is not None:
        there = peak + 1 + int(back[0]) if late is None else late
        step = int(run.steps[there])
        value = known_float(forward_mean(run["loss"], span, there, there + 1)[0])
        facts |= {"step": step, "after": step - int(run.steps[peak]), "value": value}
        took, outcome = float(facts["after"]), "yes" if late is None else "late"
        return Finding(
            outcome, step, facts, bound, window_steps, measured=took, bound=float(within.steps), curve=curve
        )
    if last + span > len(run):
        since = finite(run["loss"])[row:]
        if since.count() < still or to_float(since.min()) <= bound:
            return Finding(NOT_YET, at, {"rows": len(run) - row, "needed": last + span - row})
        last = max(row, len(run) - span)  # the last row from which a whole mean is known
    step = int(run.steps[last])
    measured = known_float(forward_mean(run["loss"], span, last, last + 1)[0])
    facts |= {"step": step, "value": measured}
    return Finding("no", step, facts, bound, window_steps, measured=measured, bound=bound, curve=curve)


def _back_later(run: Run, last: int, span: int, most: int, bound: float) -> int | None:
    """The first row after `last` where the mean of `span` rows is back, as it is at the end; None if none.

    At the end up to `most` of the rows since then tell, as many as told what was usual: the mean of a few is
    above by chance.
    """
    if len(run) - last - 1 < span:
        return None
    means = forward_mean(run["loss"], span, last + 1, len(run) - span + 1)
    back = (means <= bound).fill_null(False)
    row = last + 1 + int(back.arg_max() or 0)
    end = known_float(finite(run["loss"][row:][-most:]).mean())
    return row if back.any() and end is not None and end <= bound else None


_SEVERE = ("height", "bound", "gained", "level", "lasted", "rows_bound", "peak", "times")


@detector(
    signals=("loss",),
    outcomes=("lost", "hurt", "towers", "blip", "rewarded", "fell", "unseen", "opposed"),
    facts={
        **dict.fromkeys(("hurt", "towers", "blip", "opposed"), _SEVERE),
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

    The flaw: the run became unstable. A spike hurt where its loss stands above mean + sigmas x std for
    `lasting` rows or more and rises by more than `of_gain` of what the run had gained until then, or of
    its level where that is more; or by `tall` times its level, if that is `lasting.of_wild` of the gain
    or more; where it jumps by `lasting.of_level` of its level and stays there for `lasting.long` rows. It
    "towers" where it rises by more than `tall` times the gain or level, and in a log of epochs above the
    first one, however short; not where a discriminator and a generator train against each other, whose
    losses do for a batch or two. What was learned is lost where the last `lasting.to_the_end` rows still
    stand above the level before, in the median, by the share `lasting.given_back` of the same; where fewer
    are left, all do and the last is the highest of the log: it climbs on. What a reward shows nothing of did
    a run that is after it no harm, nor did what evaluations within it don't show ("unseen"); of two networks
    that are "opposed", each loss moves with the other's, and how it ends is another question. A spike that
    the log ends in may yet last.
    Source: ours; one or two rows above the band are what healthy runs show by chance. As `recovery` has it,
    the spike's peak lies within half a window of `at`: a burst often begins with a row or two, and a breath.
    """
    row = run.row_at(at) if at is not None else 0
    window = as_long_as(run, window)
    before = _usual(run, row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    loss = finite(run["loss"])
    end = bisect_right(run.steps, int(run.steps[row]) + one_spike(window))
    first = known_float(loss[: max(1, min(row, 5))].median())  # none where the log begins with NaN
    gained = 0.0 if first is None else first - before.mean
    gained = gained if gained > before.std / math.sqrt(before.rows) else 0.0  # less is no gain, but its noise
    yardstick = max(gained, abs(before.mean))
    # What was gained from a wild beginning says little of a spike at a level far below it.
    far_below = max(tall * abs(before.mean), lasting.of_wild * gained)
    least = min(of_gain * yardstick, far_below)
    long_least = min(least, lasting.of_level * abs(before.mean))
    opposed = any(map(names.is_of_a_side, run.frame.columns))
    tallest = math.inf if opposed else max(tall * yardstick, _of_first_epoch(run, before.mean))
    # A few rows that happen to agree say nothing of the noise.
    bound = before.mean + max(sigmas * before.std, 0.0 if before.rows >= FEWEST else least)

    def rise(part: slice) -> float:
        return (known_float(loss[part].median()) or before.mean) - before.mean

    def needed(stretch: slice, height: float) -> tuple[int, float]:
        begins = rise(slice(stretch.start, stretch.start + lasting.rows))
        at_once = stretch.start - row <= lasting.rows and begins > height / 2  # else it is a drift
        jumps = at_once and begins > long_least
        stays = stretch.stop - stretch.start >= lasting.long and rise(stretch) > long_least
        return (lasting.long, long_least) if jumps and stays else (lasting.rows, least)

    def weight(stretch: slice) -> tuple[bool, bool, float]:
        near = slice(stretch.start, min(stretch.stop, end))  # a climb of hundreds of steps is no spike
        height = (known_float(loss[near].max()) or before.mean) - before.mean
        fewest, lowest = needed(stretch, height)
        lasts = stretch.stop - stretch.start >= fewest
        return (lasts and height > lowest) or height > tallest, lasts, height

    stretches = Losses(loss).stretches(row, end, bound) or [slice(row, row)]
    worst = max(stretches, key=weight)
    hurt, lasts, height = weight(worst)
    fewest, lowest = needed(worst, height)
    towers = hurt and not (lasts and height > lowest)
    whole = row + rows(run, one_spike(window), lasting.rows)
    above = loss[-1] is None or loss[-1] - bound > 1e-6 * abs(before.mean)  # beyond rounding
    if not hurt and above and stretches[-1].stop == len(run) < whole:
        return Finding(NOT_YET, at, {"rows": len(run), "needed": whole})
    facts = {
        "height": height,
        "bound": tallest if towers else lowest,
        "gained": gained,
        "level": before.mean,
        "lasted": worst.stop - worst.start,
        "rows_bound": fewest,
        "peak": before.mean + height,
        "times": tall,
    }
    seen = (int(run.steps[max(0, row - before.rows)]), int(run.steps[min(len(run) - 1, worst.stop)]))
    kept = before.mean + lasting.given_back * yardstick
    if hurt and (otherwise := _otherwise(run, row, worst, opposed=opposed)):
        outcome, more = otherwise
        return Finding(outcome, at, facts | more, bound, seen)
    lost = _lost(run, worst.start, lasting, kept) if hurt else {}
    outcome = "lost" if lost else "towers" if towers else "hurt" if hurt else "blip"
    return Finding(outcome, at, facts | lost, bound, seen, measured=height, bound=facts["bound"])


def _of_first_epoch(run: Run, level: float) -> float:
    """How far the first epoch's mean, which is no chance row, lies above a level; 0 where no epochs count.

    What was gained within the first few epochs shows there alone.
    """
    first = finite(run["loss"]).drop_nulls()[:1] if run.counts == "epochs" else []
    return max(0.0, float(first[0]) - level) if len(first) else 0.0


def _otherwise(run: Run, row: int, worst: slice, *, opposed: bool) -> tuple[str, dict[str, Any]] | None:
    """What a spike that hurts the loss says where more than the loss tells: the outcome, and its facts."""
    told = {
        "rewarded": earns_on(run, row),
        "fell": fell_too(run),
        "unseen": _held_out_calm(run, worst),
    }
    shown = next((one for one in told.items() if one[1]), None)
    return shown or (("opposed", {}) if opposed else None)


_INSIDE = 2
"""Evaluations that tell what a model was like at the time: a constant of the method."""


def _held_out_calm(run: Run, worst: slice) -> dict[str, float]:
    """How held-out data cost within a spike, where never more than right before it; empty elsewhere.

    `inside` so many evaluations, `_INSIDE` or more, the `highest` was no higher than the higher one of the
    last two `before`. What was trained on has changed then, as in a curriculum, and not the model.
    """
    if not run.has("val_loss"):
        return {}
    held_out = finite(run["val_loss"])
    before, inside = held_out[: worst.start].drop_nulls()[-_INSIDE:], held_out[worst].drop_nulls()
    if len(before) < _INSIDE or len(inside) < _INSIDE:
        return {}
    highest, level = to_float(inside.max()), to_float(before.max())
    return {"inside": len(inside), "highest": highest, "before": level} if highest <= level else {}


def _lost(run: Run, row: int, lasting: Lasting, kept: float) -> dict[str, float]:
    """Where the run was best, and where it ends, if its last rows stand above `kept`; empty where they don't.

    `left`: its level, the median of the `lasting.long` rows around a step, was last at `kept` or under it.
    """
    loss = finite(run["loss"])
    before, since = loss[:row], loss[row:].drop_nulls()
    best = before.arg_min()
    end = known_float(since[-lasting.to_the_end :].median())
    if best is None or end is None or end <= kept:
        return {}
    if len(since) < lasting.to_the_end:
        highest = since[-1] == loss.max() and (loss == since[-1]).sum() == 1
        if len(since) < lasting.rows or not highest or to_float(since.min()) <= kept:
            return {}
    levels = loss.rolling_median(lasting.long, min_samples=1, center=True)
    low = (levels <= kept).fill_null(False).arg_true()
    left = int(run.steps[low[-1] if len(low) else best])
    return {
        "kept": kept,
        "best": float(before[best]),
        "best_step": int(run.steps[best]),
        "left": left,
        "end": end,
    }
