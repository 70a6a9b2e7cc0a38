"""Detector of whether a run came back from a spike of its loss."""

from tutor.detectors import NOT_YET, Finding, Smoothed, detector
from tutor.detectors.episodes import one_spike, usual_before
from tutor.detectors.spike import as_long_as
from tutor.detectors.windows import Window, finite, forward_mean
from tutor.run import Run, known_float, to_float

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

    The flaw: an update that did lasting harm. A return that comes after those steps, and lasts to the end of
    the log, is "late". A log that ends before those steps do says "no", too, where `still` rows or more from
    the spike on are known and not one of them is back: it may come back yet, but nothing shows that it will.

    The peak is the highest loss within half a window from `at`, which `spike` counts as one spike: where a
    row or two lead a rise, the calm between them is no recovery. Source: the tree; ours: the loss is
    smoothed, since one lucky batch is no recovery.
    """
    row = run.row_at(at) if at is not None else 0
    before = usual_before(run, row, as_long_as(run, window))
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
        "within": within.reach(run),
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
            outcome,
            step,
            facts,
            bound,
            window_steps,
            measured=took,
            bound=float(within.reach(run)),
            curve=curve,
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
    """The first row after `last` where the mean of `span` rows is back under the bound; None if none is.

    Nor where the log doesn't end there: the mean of its last rows is above the bound. As many rows since the
    return are taken for that as told what was usual, `most`: the mean of fewer may lie above it by chance.
    """
    if len(run) - last - 1 < span:
        return None
    means = forward_mean(run["loss"], span, last + 1, len(run) - span + 1)
    back = (means <= bound).fill_null(False)
    row = last + 1 + int(back.arg_max() or 0)
    end = known_float(finite(run["loss"][row:][-most:]).mean())
    return row if back.any() and end is not None and end <= bound else None
