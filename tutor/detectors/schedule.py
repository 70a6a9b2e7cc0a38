"""Detectors of the learning rate."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from tutor.detectors import NOT_YET, Finding, detector
from tutor.detectors.episodes import one_spike
from tutor.detectors.windows import FEWEST, Window, finite, rows
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl

_JUMP = ("step", "before", "after", "jump", "bound", "usual")


@detector(
    signals=("lr",),
    outcomes=("schedule", "planned", "no"),
    facts=_JUMP,
    configured=("schedule",),
)
def lr_jump(
    run: Run, at: int | None, *, window: Window, jump: float, usual: float, recent: Window, even: float
) -> Finding:
    """Whether the learning rate jumps up near `at`, and no plan says so.

    The flaw: a schedule that restarts, or was restored wrongly. Source: the tree; ours: a restart is planned
    where jumps come back at equal distances (the longest at most `even`
    times the shortest), or where the configured schedule is one with restarts.

    A jump is a rise from one row to the next by more than `jump` of the rate's largest value nearby and by
    more than `usual` times the median change nearby: a warm-up moves at every row, and is smooth. In a sparse
    log it may be over in two rows, so what only rises from the log's first row on is a warm-up too. A jump
    counts within `recent` of the spike, which is a few rows where a row stands for many steps, and up to the
    spike's peak: a row of noise may be taken for the beginning of what comes after it.
    """
    row = run.row_at(at) if at is not None else len(run) - 1
    start = window.start(run, row)
    end = max(row + 2, _peak(run, row, window) + 1)
    lr = finite(run["lr"])
    near, changes = lr[start:end], lr.diff()[start:end]
    if changes.count() < 2:
        return Finding(NOT_YET, at, {"rows": len(near), "needed": 3})
    top = known_float(near.max()) or 0.0
    # The rows at the spike and shortly before it: a restart shows there, an older one has been survived.
    rises = changes.fill_null(0.0).set(_warms_up(run, usual)[start:end], 0.0)
    near_spike = rises[max(0, row + 1 - recent.count(run) - start) :]
    worst = len(changes) - len(near_spike) + (near_spike.arg_max() or 0)
    size, median = float(rises[worst]), known_float(changes.abs().median()) or 0.0
    step = int(run.steps[start + worst])
    facts = {
        "step": step,
        "before": lr[max(0, start + worst - 1)],
        "after": lr[start + worst],
        "jump": 100 * max(0.0, size) / top if top else 0.0,
        "bound": 100 * jump,
        "usual": median,
    }
    jumps = top > 0 and size > jump * top and size > usual * median
    outcome = "no" if not jumps else "planned" if _planned(run, size, even) else "schedule"
    return Finding(outcome, step, facts, measured=facts["jump"], bound=100 * jump)


def _peak(run: Run, row: int, window: Window) -> int:
    """The row of the highest loss of the spike that begins at a row; that row where no loss was logged."""
    end = bisect_right(run.steps, int(run.steps[row]) + one_spike(window))
    highest = finite(run["loss"])[row:end].arg_max() if run.has("loss") else None
    return row + (highest or 0)


def _warms_up(run: Run, usual: float) -> pl.Series:
    """Row by row, whether the rate rises there as in the warm-up with which the log begins.

    A rate of 0, as of steps that were skipped, may come first. Where a warm-up takes so few rows that nothing
    is usual among them, none is a jump.
    """
    import polars as pl

    lr, rows = finite(run["lr"]), pl.int_range(len(run), eager=True)
    begins = int((lr > 0).arg_max() or 0)
    rises = lr.diff().fill_null(0.0)
    ends = (rises <= 0)[begins + 1 :].arg_true()
    end = begins + 1 + int(ends[0]) if len(ends) else len(lr)
    own = rises[begins + 1 : end]
    most = usual * to_float(own.median()) if len(own) > FEWEST else math.inf
    return (rows <= begins) | (rows < end) & (rises <= most)


def _planned(run: Run, size: float, even: float) -> bool:
    """Whether jumps of about this size come back at equal distances, or each time as many times as far apart,
    or the schedule is one with restarts.

    A run that begins as high as its rate jumps begins with a cycle of its own. Between two restarts the rate
    falls; a stair of jumps that it only falls after is a warm-up.
    """
    schedule = run.manifest.schedule
    if any("restart" in str(one).lower() for one in (schedule.kind, getattr(schedule, "name", ""))):
        return True
    lr = finite(run["lr"])
    jumps = (lr.diff() > size / 2).fill_null(False)
    if jumps.any() and (known_float(lr[0]) or 0.0) * even >= to_float(lr.filter(jumps).max()):
        jumps[0] = True
    rows = jumps.arg_true().to_list()
    falls = (lr.diff() < 0).fill_null(False)
    if not all(falls[one:later].any() for one, later in pairwise(rows)):
        return not falls[: rows[-1]].any() and bool(falls[rows[-1] :].any())
    gaps = run.steps.filter(jumps).diff().drop_nulls().to_list()
    times = [later / earlier for earlier, later in pairwise(gaps)]
    longer = max(1, round(times[0])) if times else 1
    return bool(times) and all(longer / even <= one <= longer * even for one in times)


@detector(
    signals=("lr",),
    outcomes=("yes", "no"),
    facts=("before", "after", "change", "bound", "begin", "end"),
    configured=("warmup_steps", "schedule_steps"),
)
def rising_lr(run: Run, at: int | None, *, window: Window, growth: float) -> Finding:
    """Whether the learning rate grew over the last window, once the configured warm-up is over.

    The flaw: a schedule turned upside down, or a warm-up without end. Source: the tree.

    A warm-up as long as the whole schedule never is: then growth is the schedule's own fault. Where none is
    configured the log decides: under a loss that rises, a rate that still does is too high already.
    """
    needed = window.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    start = window.start(run, len(run))
    begin, end = int(run.steps[start]), int(run.steps[-1])
    schedule = run.manifest.schedule
    warmup, planned = schedule.warmup_steps or 0, schedule.schedule_steps or math.inf
    if begin < warmup < planned:
        more = rows(run, warmup - begin)
        return Finding(NOT_YET, facts={"rows": len(run), "needed": len(run) + more})
    lr = finite(run["lr"])[start:].drop_nulls()
    if len(lr) < 2:
        return Finding(NOT_YET, facts={"rows": len(lr), "needed": 2})
    before, after = float(lr[0]), float(lr[-1])
    change = after / before if before else (math.inf if after else 1.0)
    facts = {"before": before, "after": after, "change": change, "bound": growth, "begin": begin, "end": end}
    outcome = "yes" if change > growth else "no"
    # As a rise: a constant rate stands all of the bound away from it, not a hundredth.
    return Finding(outcome, end, facts, None, (begin, end), measured=change - 1, bound=growth - 1)
