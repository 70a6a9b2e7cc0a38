"""Detectors of the training loss."""

import math
from dataclasses import dataclass
from itertools import pairwise

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.windows import (
    Window,
    baseline,
    blocks,
    cadence,
    finite,
    forward_mean,
    is_objective,
    rolling_baseline,
)
from tutor.run import Run, known_float, to_float

FEWEST = 5
"""Rows that a mean and a standard deviation need at least to say what is usual."""

FIRST = 3
"""Rows that tell where a loss began."""

STOPPED = 4
"""A loss has stopped when it is missing over more than so many times its widest gap."""


@detector(
    signals=("loss",),
    outcomes=("yes", "no"),
    facts={"yes": ("step", "value", "count", "rows"), "no": ("count", "rows")},
    every_row=True,
)
def non_finite_loss(run: Run, at: int | None) -> Finding:
    """Whether the training loss is NaN or Inf at any logged step.

    The flaw: a computation overflowed, took log(0) or 0/0. Source: the tree.

    Where the loss stops while the log goes on, nobody can tell: many trainers write NaN as JSON's null. Nor
    where the trainer hides NaN, unless the gradient norm is there to show it.
    """
    loss = run["loss"]
    known = loss.is_not_null().arg_true()
    bad = (~loss.is_finite()).fill_null(False).arg_true()
    if not len(bad):
        gap = to_float(known.diff().max()) if len(known) > 1 else 1
        if len(run) - 1 - known[-1] > STOPPED * gap:
            first, last = int(run.steps[int(known[-1]) + 1]), int(run.steps[-1])
            return Finding(NO_DATA, first, {"missing": [f"loss[{first}..{last}]"]})
        if not run.aggregation("loss").shows_nan and not run.has("grad_norm"):
            return Finding(NO_DATA, facts={"missing": ["grad_norm"]})
        return Finding("no", facts={"count": 0, "rows": len(known)})
    step = int(run.steps[int(bad[0])])
    facts = {"step": step, "value": float(loss[int(bad[0])]), "count": len(bad), "rows": len(known)}
    return Finding("yes", step, facts)


@detector(
    signals=("reduced_loss", "loss"),
    outcomes=("yes", "no"),
    facts={"yes": ("step", "value", "mean"), "no": ("step", "value")},
)
def reduction(run: Run, at: int | None) -> Finding:
    """Whether the reduced loss stops being finite while the mean over all tokens still is.

    The flaw: a reduction that divides 0 by 0, as over an empty mask. Every token's loss is finite there, so
    the model isn't at fault. Source: ours; the first step at which either isn't finite decides.
    """
    reduced, mean = run["reduced_loss"], run["loss"]
    bad = (~(reduced.is_finite() & mean.is_finite())).fill_null(False).arg_true()
    if not len(bad):
        return Finding("no", None, {"step": int(run.steps[-1]), "value": reduced[-1]})
    row = int(bad[0])
    facts = {"step": int(run.steps[row]), "value": float(reduced[row])}
    if not math.isfinite(reduced[row]) and mean[row] is not None and math.isfinite(mean[row]):
        return Finding("yes", facts["step"], facts | {"mean": float(mean[row])})
    return Finding("no", facts["step"], facts)


@dataclass(frozen=True)
class Episode:
    """A spike: where it begins, its peak, and the bound that it crossed."""

    row: int
    peak_row: int
    peak: float
    bound: float
    mean: float
    std: float

    @property
    def excess(self) -> float:
        """How far the peak stands above the bound, in nats."""
        return self.peak - self.bound


def episodes(run: Run, window: Window, sigmas: float, merge: int) -> list[Episode]:
    """Spikes of the loss, recorded at every row, in order.

    Rows above mean + sigmas x std of the rows before begin a spike; those within `merge` steps of its
    beginning belong to it, so that a spike's own height doesn't hide in the window of its later rows.
    """
    loss = finite(run["loss"])
    mean, std = rolling_baseline(run, loss, window)
    bound = mean + sigmas * std
    # A flat stretch has a std of 0: what rolling sums leave of rounding is no spike.
    above = (loss > bound + 1e-6 * mean.abs()).fill_null(False).arg_true().to_list()
    steps = run.steps
    found: list[Episode] = []
    last_step = -math.inf
    for row in above:
        if steps[row] <= last_step:
            continue
        last_step = steps[row] + merge
        end = run.row_at(int(last_step)) + 1
        peak_row = row + (loss[row:end].arg_max() or 0)
        found.append(
            Episode(
                row, peak_row, float(loss[peak_row]), float(bound[row]), float(mean[row]), float(std[row])
            )
        )
    return found


@detector(
    signals=("loss",),
    outcomes=("yes", "no"),
    facts={
        "yes": ("step", "peak", "peak_step", "bound", "mean", "std", "sigmas", "count", "rows"),
        "no": ("sigmas", "count", "rows"),
    },
)
def spike(run: Run, at: int | None, *, window: Window, sigmas: float, merge: int, early: float) -> Finding:
    """Whether a loss stands above mean + sigmas x std of the window before it, and where it is worst.

    The flaw: an update, or a batch, threw the model off. Source: the tree; the statistics of the steps
    before, as spikes are told from noise in PaLM (https://arxiv.org/abs/2204.02311, 5.1). Ours: in the first
    rows, which have no window before them, a spike is a loss above `early` times the first ones.
    """
    if not is_objective(run["loss"]):
        return Finding(NO_DATA, facts={"missing": []})
    window = _within(run, window)
    span = window.count(run)
    if len(run) <= span:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": span + 1})
    found = [*_early(run, span, early), *episodes(run, window, sigmas, merge)]
    facts = {"sigmas": sigmas, "rows": span, "count": len(found)}
    if not found:
        return Finding("no", facts=facts)
    worst = max(found, key=lambda episode: episode.excess)
    step = int(run.steps[worst.row])
    facts |= {
        "step": step,
        "peak": worst.peak,
        "peak_step": int(run.steps[worst.peak_row]),
        "bound": worst.bound,
        "mean": worst.mean,
        "std": worst.std,
    }
    others = sorted(found, key=lambda episode: -episode.excess)[1:10]
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


def _early(run: Run, span: int, times: float) -> list[Episode]:
    """The spike among the first `span` rows, where a loss stands above `times` the first ones."""
    loss = finite(run["loss"])[:span]
    usual = loss[:FIRST].drop_nulls()
    if not len(usual):
        return []
    mean = to_float(usual.median())
    above = (loss > times * mean).fill_null(False).arg_true()
    if mean <= 0 or not len(above) or int(above[0]) < 2:
        return []
    row, peak_row = int(above[0]), int(loss.arg_max() or 0)
    return [Episode(row, peak_row, float(loss[peak_row]), times * mean, mean, to_float(usual.std(ddof=0)))]


def _within(run: Run, window: Window) -> Window:
    """The window, or as much as a shorter log allows: half of its rows, at least `FEWEST`."""
    half = max(FEWEST, len(run) // 2)
    return window if window.count(run) <= half else Window(round(half * cadence(run)), half)


_RECOVERY = ("step", "value", "bound", "mean", "std", "sigmas", "smooth", "within", "rows")


@detector(signals=("loss",), outcomes=("yes", "no"), facts={"yes": ("after", *_RECOVERY), "no": _RECOVERY})
def recovery(
    run: Run,
    at: int | None,
    *,
    window: Window,
    sigmas: float,
    merge: int,
    within: Window,
    smooth: Window,
) -> Finding:
    """Whether a smoothed loss comes back within mean + sigmas x std, inside so many steps of the peak.

    The flaw: an update that did lasting harm. Source: the tree; ours: smoothed, since one lucky batch is no
    recovery.

    The spike at `at` has its peak within `merge` steps, as `spike` has it: where a blip leads a rise, the
    calm between them is no recovery.
    """
    row = run.row_at(at) if at is not None else 0
    before = baseline(run, "loss", row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    bound = before.mean + sigmas * before.std
    span = smooth.count(run)
    mean = forward_mean(run["loss"], span)
    near = finite(run["loss"])[row : run.row_at(int(run.steps[row]) + merge) + 1]
    peak = row + (near.arg_max() or 0)
    last = within.end(run, peak)
    back = (mean[peak + 1 : last + 1] <= bound).fill_null(False).arg_true()
    facts = {
        "bound": bound,
        "mean": before.mean,
        "std": before.std,
        "sigmas": sigmas,
        "smooth": span,
        "within": within.steps,
        "rows": before.rows,
    }
    window_steps = (int(run.steps[max(0, row - before.rows)]), int(run.steps[min(last, len(run) - 1)]))
    if len(back):
        there = peak + 1 + int(back[0])
        step = int(run.steps[there])
        facts |= {"step": step, "after": step - int(run.steps[peak]), "value": float(mean[there])}
        took = float(facts["after"])
        return Finding("yes", step, facts, bound, window_steps, measured=took, bound=float(within.steps))
    if last + span > len(run):
        return Finding(NOT_YET, at, {"rows": len(run) - row, "needed": last + span - row})
    step = int(run.steps[last])
    facts |= {"step": step, "value": mean[last]}
    return Finding("no", step, facts, bound, window_steps, measured=known_float(mean[last]), bound=bound)


@detector(
    signals=("loss",),
    outcomes=("hurt", "blip"),
    facts=("height", "bound", "gained", "lasted", "rows_bound", "peak"),
)
def severity(
    run: Run,
    at: int | None,
    *,
    window: Window,
    sigmas: float,
    of_gain: float,
    of_level: float,
    lasting: int,
    tall: float,
) -> Finding:
    """Whether a spike is more than noise: it lasts, or towers over all that the run had gained.

    The flaw: the run became unstable. A spike hurt where its loss stands above mean + sigmas x std for
    `lasting` rows or more and rises by more than `of_gain` of what the run had gained until then and by more
    than `of_level` of the level before; or where it rises by more than `tall` times both, however short.
    Source: ours; one or two rows above the band are what healthy runs show by chance.
    """
    row = run.row_at(at) if at is not None else 0
    window = _within(run, window)
    before = baseline(run, "loss", row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    loss = finite(run["loss"])
    ahead = loss[row:]
    bound = before.mean + sigmas * before.std
    calm = (ahead <= bound).fill_null(False).arg_true()
    lasted = int(calm[0]) if len(calm) else len(ahead)
    peak = known_float(ahead[: max(1, lasted)].max()) or before.mean
    gained = max(0.0, to_float(loss[: max(1, min(row, 5))].median()) - before.mean)
    height = peak - before.mean
    least = max(of_gain * gained, of_level * abs(before.mean))
    facts = {
        "height": height,
        "bound": least,
        "gained": gained,
        "lasted": lasted,
        "rows_bound": lasting,
        "peak": peak,
    }
    hurt = (lasted >= lasting and height > least) or height > tall * max(gained, abs(before.mean))
    seen = (int(run.steps[window.start(run, row)]), int(run.steps[min(len(run) - 1, row + lasted)]))
    return Finding("hurt" if hurt else "blip", at, facts, bound, seen, measured=height, bound=least)


@detector(signals=("loss",), outcomes=("yes", "no"), facts=("first", "last", "rise", "bound", "begin", "end"))
def rising_loss(run: Run, at: int | None, *, window: Window, pieces: int, sigmas: float) -> Finding:
    """Whether the loss rose over the last window: each piece's mean above the one before, beyond noise.

    The flaw: the run drifts away from what it had learned. Noise is the standard deviation within the pieces.
    Source: the tree; ours: pieces instead of a monotonic curve, which noise never is.
    """
    needed = window.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    start = window.start(run, len(run))
    tail = blocks(run["loss"][start:], pieces)
    if len(tail[0]) < 2:
        return Finding(NOT_YET, facts={"rows": len(tail[0]), "needed": 2 * pieces})
    means = [to_float(piece.mean()) for piece in tail]
    noise = math.sqrt(sum(to_float(piece.var(ddof=0)) for piece in tail) / pieces)
    rise, bound = means[-1] - means[0], sigmas * noise
    climbs = all(later > earlier for earlier, later in pairwise(means))
    begin, end = int(run.steps[start]), int(run.steps[-1])
    facts = {"first": means[0], "last": means[-1], "rise": rise, "bound": bound, "begin": begin, "end": end}
    outcome = "yes" if climbs and rise > bound else "no"
    return Finding(outcome, end, facts, None, (begin, end), measured=rise, bound=bound)
