"""Detectors of the parameters' norms."""

import math

from tutor import signals
from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.windows import Window, finite
from tutor.run import Run

NORM = "param_norm"


@detector(
    signals=(NORM,),
    outcomes=("climbing", "collapsing", "no"),
    facts=("group", "before", "after", "change", "bound", "begin", "end"),
)
def norm_change(run: Run, at: int | None, *, window: Window, factor: float) -> Finding:
    """Whether any group's norm grew, or shrank, by more than `factor` over the last window.

    The flaw: weight decay too low (climbing) or too high (collapsing). Source: the tree.
    """
    needed = window.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    start = window.start(run, len(run))
    groups = [name for name in signals.groups(NORM, run.frame.columns) if run.has(name)]
    changes = {}
    for name in groups or [NORM]:
        norm = finite(run[name])[start:].drop_nulls()
        if len(norm) > 1 and min(norm[0], norm[-1]) >= 0:  # what is below 0 is no norm
            changes[name] = (float(norm[0]), float(norm[-1]))
    if not changes:
        return Finding(NO_DATA, facts={"missing": [NORM]})

    def ratio(name: str) -> float:
        before, after = changes[name]
        return after / before if before else (math.inf if after else 1.0)

    most = max(changes, key=lambda name: abs(math.log(ratio(name) or 1e-300)))
    begin, end = int(run.steps[start]), int(run.steps[-1])
    facts = {
        "group": most.removeprefix(f"{NORM}_"),
        "before": changes[most][0],
        "after": changes[most][1],
        "change": ratio(most),
        "bound": factor,
        "begin": begin,
        "end": end,
    }
    change = ratio(most)
    outcome = "climbing" if change > factor else "collapsing" if change < 1 / factor else "no"
    nearest = factor if change >= 1 else 1 / factor
    return Finding(outcome, end, facts, None, (begin, end), measured=change, bound=nearest)
