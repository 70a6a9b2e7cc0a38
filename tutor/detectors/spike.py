"""Detectors of a spike of the loss: where it is, whether the run came back, and how much it was."""

import math
from bisect import bisect_right

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, detector
from tutor.detectors.beginning import continued, resumed
from tutor.detectors.episodes import Episode, Losses, episodes, one_spike
from tutor.detectors.grouped import Beyond, Foremost, Lasting
from tutor.detectors.objective import earns_on, is_objective
from tutor.detectors.windows import (
    FEWEST,
    Baseline,
    Window,
    baseline,
    cadence,
    finite,
    forward_mean,
    noise_of,
    rows,
)
from tutor.run import Run, known_float, to_float

FIRST = 3
"""Rows whose median tells where a loss began: of an estimator, the fewest that one odd batch doesn't move."""


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
    or two may be a hard batch. What rises while an earlier one lasts is no spike of its own: a run that never
    came back is unsteady, and its cause lies where it left. In an average over many rows a short spike
    doesn't show, so that none can be ruled out.
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
        first_rows = _leap(run, span, early, foremost) or _early(run, span, early, resumed_above.sigmas)
    found = _of_their_own([*first_rows, *episodes(run, window, sigmas)], foremost)
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


def _of_their_own(found: list[Episode], foremost: Foremost) -> list[Episode]:
    """The spikes, in order, but for those that are parts of an earlier one."""
    kept: list[Episode] = []
    lasting: Episode | None = None  # the last that is long enough for others to be parts of it
    for one in found:
        inside = lasting is not None and one.row < lasting.row + lasting.rows
        if lasting is not None and inside and one.excess < foremost.times * lasting.excess:
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


def _early(run: Run, span: int, times: float, sigmas: float) -> list[Episode]:
    """The spike among the first `span` rows: a loss above `times` the first ones, and above their noise."""
    whole = finite(run["loss"])
    loss = whole[:span]
    usual = loss[:FIRST].drop_nulls()
    if not len(usual):
        return []
    mean = to_float(usual.median())
    height = max((times - 1) * mean, sigmas * noise_of(whole.drop_nulls()))
    above = (loss > mean + height).fill_null(False).arg_true()
    if mean <= 0 or not len(above) or int(above[0]) < 2:
        return []
    left = loss > mean + height / 2  # where the climb to that height begins
    row = int(left.fill_null(False).arg_true()[0])
    usual = loss[: min(row, FIRST)].drop_nulls()  # what is told of the rows before it is of these alone
    mean = to_float(usual.median())
    bound = mean + max((times - 1) * mean, sigmas * noise_of(whole.drop_nulls()))
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
    """The window, or as much as a shorter log allows: half of its rows, at least `FEWEST`."""
    half = max(FEWEST, len(run) // 2)
    return window if window.count(run) <= half else Window(round(half * cadence(run)), half)


def _usual(run: Run, row: int, window: Window) -> Baseline | None:
    """As `baseline`, and what lies before a spike that begins in the second row: one alone."""
    first = known_float(finite(run["loss"])[0]) if row == 1 else None
    return baseline(run, "loss", row, window) if first is None else Baseline(first, 0.0, 1)


_RECOVERY = ("step", "value", "bound", "mean", "std", "sigmas", "smooth", "within", "rows")


@detector(signals=("loss",), outcomes=("yes", "no"), facts={"yes": ("after", *_RECOVERY), "no": _RECOVERY})
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
    back, and there are `still` of them: a return may yet come, and to assume one would be to invent it.

    The spike at `at` has its peak within half a window, as `spike` has it: where a blip leads a rise, the
    calm between them is no recovery.
    """
    row = run.row_at(at) if at is not None else 0
    before = _usual(run, row, window)
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
    if len(back):
        there = peak + 1 + int(back[0])
        step = int(run.steps[there])
        facts |= {"step": step, "after": step - int(run.steps[peak]), "value": float(means[int(back[0])])}
        took = float(facts["after"])
        return Finding(
            "yes", step, facts, bound, window_steps, measured=took, bound=float(within.steps), curve=curve
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


_SEVERE = ("height", "bound", "gained", "level", "lasted", "rows_bound", "peak")


@detector(
    signals=("loss",),
    outcomes=("lost", "hurt", "blip", "rewarded"),
    facts={
        **dict.fromkeys(("hurt", "blip"), _SEVERE),
        "rewarded": (*_SEVERE, "reward", "before", "after"),
        "lost": (*_SEVERE, "kept", "best", "best_step", "end"),
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
    `lasting` rows or more and rises by more than `of_gain` of what the run had gained until then, or of its
    level where that is more; or by `tall` times its level, if that is `lasting.of_wild` of the gain or more;
    or where it rises by more than `tall` times the gain or level, however short. What was
    learned is lost where the last `lasting.to_the_end` rows still stand above the level before, in the
    median, by the share `lasting.given_back` of the same; where fewer are left, all do and the last is the
    highest of the log: it climbs on. What a reward shows nothing of did a run that is after it no harm. A
    spike that the log ends in may yet last.
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
    gained = to_float(loss[: max(1, min(row, 5))].median()) - before.mean
    gained = gained if gained > before.std / math.sqrt(before.rows) else 0.0  # less is no gain, but its noise
    yardstick = max(gained, abs(before.mean))
    # What was gained from a wild beginning says little of a spike at a level far below it.
    far_below = max(tall * abs(before.mean), lasting.of_wild * gained)
    least = min(of_gain * yardstick, far_below)
    # A few rows that happen to agree say nothing of the noise.
    bound = before.mean + max(sigmas * before.std, 0.0 if before.rows >= FEWEST else least)

    def weight(stretch: slice) -> tuple[bool, bool, float]:
        near = slice(stretch.start, min(stretch.stop, end))  # a climb of hundreds of steps is no spike
        height = (known_float(loss[near].max()) or before.mean) - before.mean
        lasts = stretch.stop - stretch.start >= lasting.rows
        return (lasts and height > least) or height > tall * yardstick, lasts, height

    stretches = Losses(loss).stretches(row, end, bound) or [slice(row, row)]
    worst = max(stretches, key=weight)
    hurt, _, height = weight(worst)
    whole = row + rows(run, one_spike(window), lasting.rows)
    above = loss[-1] is None or loss[-1] - bound > 1e-6 * abs(before.mean)  # beyond rounding
    if not hurt and above and stretches[-1].stop == len(run) < whole:
        return Finding(NOT_YET, at, {"rows": len(run), "needed": whole})
    facts = {
        "height": height,
        "bound": least,
        "gained": gained,
        "level": before.mean,
        "lasted": worst.stop - worst.start,
        "rows_bound": lasting.rows,
        "peak": before.mean + height,
    }
    seen = (int(run.steps[window.start(run, row)]), int(run.steps[min(len(run) - 1, worst.stop)]))
    kept = before.mean + lasting.given_back * yardstick
    if hurt and (rewarded := earns_on(run, row)):
        return Finding("rewarded", at, facts | rewarded, bound, seen)
    lost = _lost(run, worst.start, lasting, kept) if hurt else {}
    outcome = "lost" if lost else "hurt" if hurt else "blip"
    return Finding(outcome, at, facts | lost, bound, seen, measured=height, bound=least)


def _lost(run: Run, row: int, lasting: Lasting, kept: float) -> dict[str, float]:
    """Where the run was best and ends, if its last rows stand above `kept`; empty where they don't."""
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
    return {"kept": kept, "best": float(before[best]), "best_step": int(run.steps[best]), "end": end}
