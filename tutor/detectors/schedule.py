"""Detectors of the learning rate."""

import math

from tutor.detectors import NOT_YET, Finding, detector
from tutor.detectors.windows import Window, finite
from tutor.run import Run, known_float


@detector(
    signals=("lr",), outcomes=("schedule", "no"), facts=("step", "before", "after", "jump", "bound", "usual")
)
def lr_jump(run: Run, at: int | None, *, window: Window, jump: float, usual: float, recent: int) -> Finding:
    """Whether the learning rate is discontinuous near `at`.

    The flaw: a schedule that restarts, or steps where a smooth one was configured. Source: the tree.

    A jump is a change from one row to the next of more than `jump` of the rate's largest value nearby
    and of more than `usual` times the median change nearby: a warm-up moves at every row, and is smooth.
    """
    row = run.row_at(at) if at is not None else len(run) - 1
    start = window.start(run, row)
    near = finite(run["lr"])[start : row + 2]
    changes = near.diff().abs()
    if changes.count() < 2:
        return Finding(NOT_YET, at, {"rows": len(near), "needed": 3})
    top = known_float(near.max()) or 0.0
    # The rows at the spike and shortly before it: a restart shows there, an older one has been survived.
    near_spike = changes[-recent - 1 :]
    worst = len(changes) - len(near_spike) + (near_spike.fill_null(0.0).arg_max() or 0)
    size, median = float(changes[worst] or 0.0), known_float(changes.median()) or 0.0
    step = int(run.steps[start + worst])
    facts = {
        "step": step,
        "before": near[max(0, worst - 1)],
        "after": near[worst],
        "jump": 100 * size / top if top else 0.0,
        "bound": 100 * jump,
        "usual": median,
    }
    jumps = top > 0 and size > jump * top and size > usual * median
    return Finding("schedule" if jumps else "no", step, facts)


@detector(
    signals=("lr",), outcomes=("yes", "no"), facts=("before", "after", "change", "bound", "begin", "end")
)
def rising_lr(run: Run, at: int | None, *, window: Window, growth: float) -> Finding:
    """Whether the learning rate grew over the last window, once the configured warm-up is over.

    The flaw: a schedule turned upside down, or a warm-up without end. Source: the tree.

    A warm-up as long as the whole schedule never is: then growth is the schedule's own fault.
    """
    needed = window.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    start = window.start(run, len(run))
    begin, end = int(run.steps[start]), int(run.steps[-1])
    schedule = run.manifest.schedule
    warmup, planned = schedule.warmup_steps or 0, schedule.schedule_steps or math.inf
    if begin < warmup < planned:
        return Finding(NOT_YET, facts={"rows": end, "needed": warmup + needed})
    lr = finite(run["lr"])[start:].drop_nulls()
    if len(lr) < 2:
        return Finding(NOT_YET, facts={"rows": len(lr), "needed": 2})
    before, after = float(lr[0]), float(lr[-1])
    change = after / before if before else (math.inf if after else 1.0)
    facts = {"before": before, "after": after, "change": change, "bound": growth, "begin": begin, "end": end}
    return Finding("yes" if change > growth else "no", end, facts, None, (begin, end))
