"""Detector of a spike of the loss: whether there is one, and where."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.beginning import continued, resumed
from tutor.detectors.episodes import Episode, Losses, episodes
from tutor.detectors.grouped import Beyond, Foremost
from tutor.detectors.objective import is_objective
from tutor.detectors.windows import (
    FEWEST,
    Window,
    cadence,
    finite,
    noise_of,
)
from tutor.run import Run, known_float, parts, to_float

if TYPE_CHECKING:
    import polars as pl

FIRST = 3
"""Rows whose median tells where a loss began, whatever one odd batch does: a constant of the method."""


_MOST = 50.0
"""A logarithm that no factor needs: a constant of the method."""


@detector(
    signals=("loss",),
    outcomes=("yes", "no"),
    facts={
        "yes": ("step", "peak", "peak_step", "bound", "mean", "std", "sigmas", "count", "rows"),
        "no": ("sigmas", "count", "rows"),
    },
)
def spike(
    run: Run,
    at: int | None,
    *,
    window: Window,
    sigmas: float,
    early: float,
    resumed_above: Beyond,
    foremost: Foremost,
) -> Finding:
    """Whether a loss stands above mean + sigmas x std of the window before it, and where it is worst.

    The flaw: an update, or a batch, threw the model off. Source: the tree; the statistics of the steps
    before, as spikes are told from noise in PaLM (https://arxiv.org/abs/2204.02311, 5.1).

    Ours: the first rows have no window before them, so a spike there is a loss above `early` times the very
    first ones, and above their noise; in a log that goes on from a checkpoint, whose first rows show a
    trained model, a median of three above `resumed_above` times them. In any that begins mid-way it is a row,
    too, that stands `foremost.alone` times their level above them; and in one that begins with the run, the
    first rows after the very first one, if they stand so far above it and the loss comes down again. The
    worst spike is the tallest of those that last `foremost.rows` rows, if there is one: a taller one of a row
    or two may be a hard batch. Where parts are added to the loss, what it rises by is theirs. What rises
    while an earlier one lasts is no spike of its own: a run that never came back is unsteady, and its cause
    lies where it left. In an average over many rows a short spike doesn't show, so that none can be ruled
    out.
    """
    if not is_objective(run):
        return Finding(NO_DATA, facts={"missing": []})
    late, goes_on = resumed(run, window), continued(run, window)
    window = as_long_as(run, window)
    span = window.count(run)
    if len(run) <= span:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": span + 1})
    if late:
        lifted = _after_resume(run, span, resumed_above) if goes_on else []
        first_rows = lifted or _tower(run, span, foremost.alone)
    else:
        first_rows = _leap(run, span, early, foremost) or _early(
            run, span, early, resumed_above.sigmas, sigmas
        )
    added = parts.added(run.frame)  # what the loss rises by there is no spike
    seen = [one for one in (*first_rows, *episodes(run, window, sigmas)) if one.row not in added]
    found = _of_their_own(seen, foremost, finite(run["loss"]))
    facts = {"sigmas": sigmas, "rows": span, "count": len(found)}
    if not found and run.aggregation("loss").over == "running":
        return Finding(NO_DATA, facts={"missing": []})
    if not found:
        return Finding("no", facts=facts)

    def weight(episode: Episode) -> tuple[bool, float]:
        return episode.rows >= foremost.rows, episode.excess

    worst = max(found, key=weight)
    step = int(run.steps[worst.row])
    facts |= {
        "step": step,
        "peak": worst.peak,
        "peak_step": int(run.steps[worst.peak_row]),
        "bound": worst.bound,
        "mean": worst.mean,
        "std": worst.std,
    }
    others = sorted(found, key=weight, reverse=True)[1:10]
    first = int(run.steps[window.start(run, worst.row)])
    return Finding(
        "yes",
        step,
        facts,
        worst.bound,
        (first, int(run.steps[worst.peak_row])),
        tuple(int(run.steps[e.row]) for e in others),
        measured=worst.peak,
        bound=worst.bound,
    )


def _of_their_own(found: list[Episode], foremost: Foremost, loss: pl.Series) -> list[Episode]:
    """The spikes, in order, but for those that are parts of an earlier one.

    So is a taller one, where the loss climbs on to it and never comes down to the peak of the earlier again,
    or where it never comes back under the bound of either: then the cause lies where it left.
    """
    kept: list[Episode] = []
    lasting: Episode | None = None  # the last that is long enough for others to be parts of it
    for one in found:
        inside = lasting is not None and one.row < lasting.row + lasting.rows
        if lasting is not None and inside:
            lowest = known_float(loss[lasting.peak_row : one.row + 1].min())
            climbs_on = lowest is not None and lowest >= lasting.peak
            never_back = all(some.row + some.rows >= len(loss) for some in (lasting, one))
            if climbs_on or never_back or one.excess < foremost.times * lasting.excess:
                continue
        kept.append(one)
        lasting = one if one.rows >= foremost.rows else lasting
    return kept


def _leap(run: Run, span: int, times: float, foremost: Foremost) -> list[Episode]:
    """The spike that begins in the second row: `foremost.rows` rows above `times` the first, and no noise.

    They come down to half of their peak or less by the end, or the first row was of another kind: a sum over
    the batches since the row before begins with that of one batch.
    """
    head = finite(run["loss"][: 1 + foremost.rows])  # of a long log, few are looked at further
    first, after = head[0], head[1:].drop_nulls()
    if first is None or first <= 0 or len(after) < foremost.rows or to_float(after.min()) <= times * first:
        return []
    bound, loss = first * (1 + foremost.alone), finite(run["loss"])
    end = to_float(loss.drop_nulls()[-foremost.rows :].median())
    if to_float(after.max()) <= bound or end > to_float(after.max()) / 2:
        return []
    return [Losses(loss).episode(1, span, bound, first, 0.0)]


def _early(run: Run, span: int, times: float, sigmas: float, as_factor: float) -> list[Episode]:
    """The spike among the first `span` rows: a loss above `times` the first ones, and above their noise.

    The noise may be a share of the loss and shrink with it: that of twice as many rows counts, too, `sigmas`
    times in its own unit and, as its tails are long, `as_factor` times in its logarithm.
    """
    whole = finite(run["loss"])
    loss = whole[:span]
    usual = loss[:FIRST].drop_nulls()
    if not len(usual):
        return []
    near, mean = whole[: 2 * span].drop_nulls(), to_float(usual.median())
    if to_float(near.min()) > 0:
        times = max(times, math.exp(min(as_factor * noise_of(near.log()), _MOST)))
    noise = sigmas * max(noise_of(whole.drop_nulls()), noise_of(near))
    height = max((times - 1) * mean, noise)
    above = (loss > mean + height).fill_null(False).arg_true()
    if mean <= 0 or not len(above) or int(above[0]) < 2:
        return []
    low = (loss[: int(above[0])] <= mean + height / 2).fill_null(False).arg_true()
    if not len(low):  # it began that high: nothing tells what was usual
        return []
    row = int(low[-1]) + 1  # where the climb to that height begins
    usual = loss[: min(row, FIRST)].drop_nulls()  # what is told of the rows before it is of these alone
    mean = to_float(usual.median())
    bound = mean + max((times - 1) * mean, noise)
    return [Losses(loss).episode(row, span, bound, mean, to_float(usual.std(ddof=0)))]


def _after_resume(run: Run, span: int, above: Beyond) -> list[Episode]:
    """The spike in the first `span` rows of a log that begins mid-way: `above` times the first, and no noise.

    A learning rate that warms up once more lifts the loss too, and is meant to.
    """
    loss = finite(run["loss"])
    usual = loss[:FIRST].drop_nulls()
    if not len(usual) or _warms_up(run, span):
        return []
    mean = to_float(usual.median())
    bound = mean + max((above.bound - 1) * mean, above.sigmas * noise_of(loss.drop_nulls()))
    lifted = (loss[:span].rolling_median(FIRST) > bound).fill_null(False).arg_true()
    if mean <= 0 or not len(lifted):
        return []
    row = max(1, int(lifted[0]) - FIRST + 1)
    return [Losses(loss).episode(row, span, bound, mean, to_float(usual.std(ddof=0)))]


def _tower(run: Run, span: int, times: float) -> list[Episode]:
    """The spike in the first `span` rows of a log that begins mid-way: one that no noise explains."""
    loss = finite(run["loss"])
    usual = loss[:FIRST].drop_nulls()
    level = to_float(usual.median()) if len(usual) else math.inf
    bound = level + times * abs(level)
    above = (loss[1:span] > bound).fill_null(False).arg_true() + 1
    if not len(above) or not level:
        return []
    return [Losses(loss).episode(int(above[0]), span, bound, level, to_float(usual.std(ddof=0)))]


WARM = 2.0
"""Times that a learning rate rises over a stretch that warms up: what the word means, not what is sick."""


def _warms_up(run: Run, span: int) -> bool:
    """Whether the learning rate warms up over the first `span` rows."""
    if not run.has("lr"):
        return False
    lr = finite(run["lr"])[:span].drop_nulls()
    return len(lr) > 1 and float(lr[-1]) >= WARM * float(lr[0])


def as_long_as(run: Run, window: Window) -> Window:
    """The window, or as much as a shorter log allows: half of it, at least `FEWEST` rows."""
    half = max(FEWEST, len(run) // 2)
    if window.count(run) <= half:
        return window
    return Window(round(half * cadence(run)), min(half, window.rows))
