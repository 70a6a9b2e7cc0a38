"""Detectors of the learning rate against the schedule that was configured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, detector
from tutor.detectors.grouped import Motion
from tutor.detectors.windows import FEWEST, cadence, finite
from tutor.run import Run, to_float
from tutor.run.manifest import Schedule
from tutor.run.planned import planned as planned_length

if TYPE_CHECKING:
    import polars as pl


KINDS = ("cosine", "linear", "constant")
"""The schedules that are known, each after a linear warm-up."""


def planned(schedule: Schedule, steps: pl.Series, lr: pl.Series) -> pl.Series | None:
    """The configured rate at each step, in the unit of `lr_max`; None where the schedule is no known one.

    A linear warm-up and, after it, a cosine or a line down to `lr_min`, or a constant. Trainers count a
    warm-up in two ways, (t + 1) / W, whose first step moves, and t / W, as Hugging Face's schedulers do;
    both are right, and the one that `lr` follows more closely is the plan.
    """
    import polars as pl

    kind, peak, horizon = _kind(schedule), schedule.lr_max, schedule.schedule_steps
    if kind not in KINDS or not isinstance(peak, int | float):
        return None
    if kind != "constant" and not horizon:
        return None
    warmup, floor = schedule.warmup_steps or 0, schedule.lr_min or 0.0
    if kind == "constant":
        after = pl.repeat(float(peak), len(steps), eager=True)
    else:
        done = ((steps - warmup) / max(1, (horizon or 0) - warmup)).clip(0, 1)
        left = 0.5 * (1 + (done * math.pi).cos()) if kind == "cosine" else 1 - done
        after = floor + left * (peak - floor)
    if not warmup:
        return after
    ways = [(peak * (steps + first) / warmup).zip_with(steps < warmup, after) for first in (1, 0)]
    return min(ways, key=lambda plan: to_float((lr - plan).abs().max()))


def _kind(schedule: Schedule) -> str:
    return str(schedule.kind or "").removesuffix("_with_warmup").lower()


def _lacks(schedule: Schedule) -> list[str]:
    """The facts without which there is no plan, by the names of `run.facts`."""
    kind = _kind(schedule)
    unknown = {
        "schedule": kind not in KINDS,
        "lr_max": not schedule.lr_max,
        "schedule_steps": not schedule.schedule_steps and kind in KINDS and kind != "constant",
    }
    return [name for name, lacks in unknown.items() if lacks]


def updates(run: Run) -> pl.Series:
    """How many updates were done by the end of each row's step: those that a loss scaler skipped aside."""
    done = run.steps + 1
    return done - run["skipped_steps"].cast(int).fill_null(0) if run.has("skipped_steps") else done


_SHAPE = ("lr", "lr_max", "rows", "kind")
_AWAY = (*_SHAPE, "step", "planned", "share", "bound")


@detector(
    signals=("lr",),
    manifest=("schedule",),
    outcomes=("matches", "differs", "constant", "zero", "falls", "above"),
    facts={
        **dict.fromkeys(("matches", "differs"), _AWAY),
        **dict.fromkeys(("constant", "zero"), _SHAPE),
        "falls": (*_SHAPE, "step", "before", "after", "bound"),
        "above": (*_SHAPE, "step", "times", "bound"),
    },
    configured=("schedule", "lr_max", "lr_min", "warmup_steps", "schedule_steps"),
)
def schedule_shape(
    run: Run, at: int | None, *, away: float, jump: float, motion: Motion, above: float, few: int
) -> Finding:
    """Whether the learning rate follows the configured schedule.

    The flaw: a scheduler that never steps (`motion` says what that is), a base rate of 0, a rate of `above`
    times the configured peak or more, or a fall by more than `jump` of the peak at one row where none is
    planned. A rate that is otherwise further `away` than that share is a remark. Under `few` updates show no
    shape. Source: the tree; ours: the shares.
    """
    lr_rows = run["lr"].is_finite()
    steps, lr = run.steps.filter(lr_rows), run["lr"].cast(float).filter(lr_rows)
    schedule, rows = run.manifest.schedule, len(lr)
    if min(rows, int(updates(run)[-1])) < few:  # a scheduler waits while every step is skipped
        return Finding(NOT_YET, facts={"rows": rows, "needed": max(few, 2 * rows)})
    facts = {"rows": rows, "lr": float(lr[-1]), "lr_max": schedule.lr_max, "kind": schedule.kind}
    shows = int(steps[min(rows - 1, int((steps < (schedule.warmup_steps or 0)).sum()))])
    if not to_float(lr.abs().max()):
        return Finding("zero", shows, facts)
    plan = planned(schedule, steps, lr)
    if plan is None or not schedule.lr_max:
        return Finding(NO_DATA, facts={"missing": _lacks(schedule)})
    peak = float(schedule.lr_max)
    curve, moved = Smoothed("lr", steps, plan), _range(plan) / peak
    if _range(lr) <= motion.still * peak and moved > motion.moves:
        return Finding("constant", shows, facts, curve=curve, measured=moved, bound=motion.moves)
    if odd := _odd(steps, lr, plan, peak, above, jump):
        return replace(odd, facts={**facts, **odd.facts}, curve=curve)
    deviation = (lr - plan).abs()
    row = deviation.arg_max() or 0
    share = float(deviation[row]) / peak
    facts |= {"step": int(steps[row]), "lr": float(lr[row]), "planned": float(plan[row])}
    facts |= {"share": round(100 * share, 3), "bound": 100 * away}  # what a log rounds is no deviation
    outcome = "matches" if share <= away else "differs"
    return Finding(outcome, int(steps[row]), facts, curve=curve, measured=share, bound=away)


def _odd(
    steps: pl.Series, lr: pl.Series, plan: pl.Series, peak: float, above: float, jump: float
) -> Finding | None:
    """What no plan has: a rate far above its peak, or a fall at one row that is none of the plan's."""
    top = lr.arg_max() or 0
    step, times = int(steps[top]), float(lr[top]) / peak
    if times >= above:
        facts = {"step": step, "lr": float(lr[top]), "times": times, "bound": above}
        return Finding("above", step, facts, above * peak, measured=times, bound=above)
    fall, row = _unplanned_fall(lr, plan)
    if fall > jump * peak:
        step = int(steps[row])
        facts = {"step": step, "before": float(lr[row - 1]), "after": float(lr[row]), "bound": 100 * jump}
        return Finding("falls", step, facts, measured=fall / peak, bound=jump)
    return None


def _unplanned_fall(lr: pl.Series, plan: pl.Series) -> tuple[float, int]:
    """The largest fall from one row to the next beyond the plan's own, and the row that it leads to."""
    beyond = lr.diff() - plan.diff()
    row = beyond.arg_min() or 0
    return -float(beyond[row] or 0.0), row


def _range(values: pl.Series) -> float:
    return to_float(values.max()) - to_float(values.min())


_WARM = ("lr", "lr_max", "share", "step", "warmup")


@detector(
    signals=("lr",),
    outcomes=("reached", "short", "low", "never"),
    facts={**dict.fromkeys(("reached", "short", "low"), _WARM), "never": ("begin", "lr", "step", "rows")},
    configured=("warmup_steps", "lr_max"),
)
def warmup_end(run: Run, at: int | None, *, low: float, near: float, straight: float) -> Finding:
    """Whether the learning rate has reached its configured peak by the end of the configured warm-up.

    The flaw: the warm-up is counted wrong, as by a scheduler that steps once per group of micro-batches; or
    it "never" ends, for it is longer than the run: the rate rises to the last step that the run was to have,
    within the share `straight` of a line, which a search for a rate doesn't. The largest rate up to the first
    row after the warm-up is taken. Source: the tree; ours: a warm-up without an end.
    """
    schedule = run.manifest.schedule
    warmup, peak = schedule.warmup_steps, schedule.lr_max
    if never := _outlasts(run, straight):
        return never
    if warmup is None or not isinstance(peak, int | float) or not peak:
        unknown = {"warmup_steps": warmup is None, "lr_max": not peak}
        return Finding(NO_DATA, facts={"missing": [name for name, lacks in unknown.items() if lacks]})
    if 1 < cadence(run) > warmup:
        return Finding(NO_DATA, facts={"missing": []})  # the peak lies between two rows
    done, lr = updates(run), finite(run["lr"])
    if int(done[-1]) < warmup:
        return Finding(NOT_YET, facts={"rows": int(done[-1]), "needed": warmup})
    so_far = lr.filter(done <= warmup + cadence(run))
    row = so_far.arg_max()
    if row is None:
        return Finding(NO_DATA, facts={"missing": ["lr"]})
    share, step = float(so_far[row]) / peak, int(run.steps[row])
    facts = {"lr": float(so_far[row]), "lr_max": peak, "share": 100 * share, "step": step, "warmup": warmup}
    outcome = "low" if share < low else "short" if share < near else "reached"
    short, bound = 1 - share, 1 - (low if share < (low + near) / 2 else near)
    return Finding(outcome, step, facts, near * peak, measured=short, bound=bound)


def _outlasts(run: Run, straight: float) -> Finding | None:
    """The finding that the rate still warms up where the run is over; None where it doesn't, or isn't.

    A run may be a part of what its schedule was made for, on purpose: it is over where both are.
    """
    ends, known, schedule = planned_length(run), run.logged("lr"), run.manifest.schedule
    lr, warmup = finite(known["lr"]), schedule.warmup_steps
    if ends is None or len(lr) < FEWEST or lr.null_count() or (warmup is not None and warmup <= ends.steps):
        return None
    begin, top, step = float(lr[0]), float(lr[-1]), int(known.steps[-1])
    last = max(ends.last, schedule.schedule_steps or 0)
    if step + cadence(known) < last or to_float(lr.diff().drop_nulls().min()) <= 0:
        return None
    line = begin + (top - begin) * (known.steps - known.steps[0]) / (step - int(known.steps[0]))
    off = to_float((lr - line).abs().max()) / top
    if off > straight:
        return None
    facts = {"begin": begin, "lr": top, "step": step, "rows": len(lr)}
    return Finding("never", step, facts, None, (int(known.steps[0]), step), measured=off, bound=straight)
