"""Detectors of the first few hundred steps: does the loss fall, and are the batches new."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, detector
from tutor.detectors.batch import one_batch, steps_per_epoch, within_epoch
from tutor.detectors.beginning import warming_up
from tutor.detectors.grouped import Beyond, Evaluation
from tutor.detectors.held_out import evaluations
from tutor.detectors.objective import is_objective
from tutor.detectors.windows import Window, finite, noise_of, rows
from tutor.run import Run, known_float, to_float

_FALL = ("before", "after", "fall", "bound", "begin", "end", "moved")


@detector(signals=("loss",), outcomes=("falls", "rises", "static", "slow"), facts=_FALL)
def early_fall(
    run: Run,
    at: int | None,
    *,
    span: Window,
    until: Window,
    fall: Beyond,
    risen: float,
    moved: float,
) -> Finding:
    """Whether an EMA over `span` of the loss falls between the end of the first span and `until`.

    The flaw: a run that stands still, or one whose learning rate is too low to move it. It falls where the
    EMA comes down by more than `fall` nats per 100 steps, or by that share of a loss under 1, which may be in
    any unit; and by more than `fall.sigmas` times its own noise. Rows far apart show the loss much later: it
    has to have come down by as much as that by then. One that "rises" by as much and, where updates are
    logged, by more than the share `risen` of where it stood is a remark: the whole run says whether it
    diverges. Where it does neither, the learning rate is too low if updates are logged and are smaller than
    the share `moved` of the weights; without them, if the EMA fell by more than its noise, and has not come
    to rest where a guess among few classes lies. What noise hides only the updates can tell. Source: the
    tree; ours: noise, updates, guesses.
    """
    later = int(run.steps[0]) > 1
    if later or not is_objective(run):
        return Finding(NO_DATA, facts={"missing": ["loss[0]"] if later else []})
    loss = finite(run["loss"])
    span_rows = span.count(run)
    first, last = span.end(run, 0), until.end(run, 0)
    if last >= len(run) or last <= first:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": max(last, first + 1) + 1})
    warms, begins = warming_up(replace(run, frame=run.frame[: last + 1])), loss[: first + 1].count() > 0
    if warms and len(run) < 2 * last:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": 2 * last})
    broken = not begins or 2 * loss[: last + 1].null_count() > last  # NaN or Inf: tree phase-19 asks why
    if warms or broken:  # a warm-up that goes on for longer than what is asked about
        return Finding(NO_DATA, facts={"missing": []})
    ema = loss[: last + 1].ewm_mean(span=max(2, span_rows), ignore_nulls=True).forward_fill()
    before, after = to_float(ema[first]), to_float(ema[last])
    begin, end = int(run.steps[first]), int(run.steps[last])
    weight = 2 / (max(2, span_rows) + 1)
    noise = noise_of(loss[: last + 1].drop_nulls()) * math.sqrt(2 * weight / (2 - weight))
    hidden, drop, update = fall.sigmas * noise, before - after, _moved(run, first, last)
    steps = min(end - begin, until.steps - span.steps)
    least = max(fall.bound * min(1.0, abs(before)) * steps / 100, hidden)
    if update is None and (0 < abs(drop) <= hidden or (drop <= least and _guesses(after))):
        return Finding(NO_DATA, facts={"missing": ["update_norm"]})
    slow = drop > 0 if update is None else update < moved
    high = least if update is None else max(least, risen * abs(before))
    rises = drop < -high
    facts = {
        "before": before,
        "after": after,
        "fall": 100 * drop / (end - begin),
        "bound": 100 * (high if rises else least) / (end - begin),
        "begin": begin,
        "end": end,
        "moved": update,
    }
    outcome = "falls" if drop > least else "rises" if rises else "slow" if slow else "static"
    seen = (int(run.steps[0]), end)
    curve = Smoothed("loss", run.steps[: last + 1], ema)
    bound = -high if rises else least
    return Finding(outcome, end, facts, before, seen, measured=drop, bound=bound, curve=curve)


_CLASSES, _NEAR = 10, 1e-3
"""Among so many classes, and so near the cost of a guess as a share of it: constants of the method."""


def _guesses(level: float) -> bool:
    """Whether a loss has come to what the same answer to every input costs, among few classes.

    It is not slow there: it has come to rest, and the whole run says at what.
    """
    return any(abs(level / math.log(classes) - 1) < _NEAR for classes in range(2, _CLASSES + 1))


def _moved(run: Run, first: int, last: int) -> float | None:
    """The median norm of an update as a share of the parameters' norm; None where either isn't logged."""
    if not (run.has("update_norm") and run.has("param_norm")):
        return None
    shares = finite(run["update_norm"][first:last]) / finite(run["param_norm"][first:last])
    return known_float(shares.drop_nulls().median())


_REPEATS = ("step", "count", "rows", "looked_back", "share")


@detector(
    signals=("batch_hash", "val_loss"),
    outcomes=("no", "epoch", "repeats"),
    facts={
        "no": _REPEATS,
        "epoch": ("step", "count", "rows", "per_epoch"),
        "repeats": (*_REPEATS, "hash", "evaluated"),
    },
    every_row=True,
    configured=("steps_per_epoch",),
)
def repeats_at_evaluation(
    run: Run, at: int | None, *, until: Evaluation, look_back: int, share: float
) -> Finding:
    """Whether the training loss around the last evaluation up to step `until` is that of batches given again.

    The flaw: the loader gives a batch over and over, and what training then is below validation says nothing
    of the data. A batch counts where one of the `look_back` rows before it had the same hash, and the flaw is
    there where more than `share` of the rows do whose median `validation_gap` takes as the training loss.
    Where they only do so a pass over the data set later it is "epoch", no flaw; where all hashes of the log
    are one and nobody says how long a pass is, the log can't tell. Source: ours; the cause is asked for
    before what follows from it.
    """
    due = evaluations(run)
    if len(due) < until.least:
        return Finding(NOT_YET, facts={"rows": len(due), "needed": until.least})
    row = max((row for row in due if run.steps[row] <= until.until), default=due[0])
    reach = rows(run, until.around, until.at_least)
    first, last = max(0, row - reach), min(len(run), row + reach + 1)
    hashes, near = run["batch_hash"].to_list(), within_epoch(run, look_back)
    again = _given_again(hashes, range(first, last), near)
    facts = {
        "step": int(run.steps[row]),
        "count": len(again),
        "rows": last - first,
        "looked_back": near,
        "share": 100 * share,
    }
    measured, seen = len(again) / (last - first), (int(run.steps[first]), int(run.steps[last - 1]))
    per_epoch = steps_per_epoch(run)
    if again and one_batch(run) and per_epoch is None:
        return Finding(NO_DATA, facts={"missing": ["steps_per_epoch"]})
    by_design = _given_again(hashes, range(first, last), look_back) if near < look_back else again
    if measured <= share < len(by_design) / (last - first):
        facts |= {"count": len(by_design), "per_epoch": per_epoch}
        return Finding("epoch", int(run.steps[row]), facts, None, seen)
    if measured <= share:
        return Finding("no", int(run.steps[row]), facts, None, seen, measured=measured, bound=share)
    facts |= {"hash": hashes[again[-1]], "evaluated": facts["step"]}
    step = int(run.steps[again[-1]])
    return Finding("repeats", step, facts | {"step": step}, None, seen, measured=measured, bound=share)


def _given_again(hashes: Sequence[str | None], places: range, look_back: int) -> list[int]:
    """The places whose batch is one of the `look_back` before."""
    return [
        place
        for place in places
        if hashes[place] is not None and hashes[place] in hashes[max(0, place - look_back) : place]
    ]
