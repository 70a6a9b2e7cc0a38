"""Detectors of what the run's folder holds."""

from tutor.detectors import Finding, detector
from tutor.run import Run


@detector(outcomes=("yes", "no"), facts=("step", "before", "count", "spike"))
def checkpoint_before(run: Run, at: int | None, *, margin: int) -> Finding:
    """Whether a checkpoint was saved at least `margin` steps before `at`."""
    spike = at if at is not None else int(run.steps[-1])
    earlier = [step for step in run.checkpoints if step <= spike - margin]
    facts = {"spike": spike, "count": len(run.checkpoints)}
    if not earlier:
        return Finding("no", at, facts)
    return Finding("yes", earlier[-1], facts | {"step": earlier[-1], "before": spike - earlier[-1]})
