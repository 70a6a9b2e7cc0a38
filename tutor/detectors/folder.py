"""Detectors of what the run's folder holds."""

from tutor.detectors import NO_DATA, Finding, detector
from tutor.run import Run


@detector(
    outcomes=("yes", "no"),
    facts={"yes": ("step", "before", "count", "spike", "kept"), "no": ("count", "spike", "kept")},
)
def checkpoint_before(run: Run, at: int | None, *, margin: int) -> Finding:
    """Whether a checkpoint was saved at least `margin` steps before `at`."""
    if run.checkpoints is None:
        return Finding(NO_DATA, at, {"missing": ["checkpoint"]})
    spike = at if at is not None else int(run.steps[-1])
    earlier = [step for step in run.checkpoints if step <= spike - margin]
    facts = {"spike": spike, "count": len(run.checkpoints), "kept": len(run.kept)}
    if not earlier:
        return Finding("no", at, facts)
    return Finding("yes", earlier[-1], facts | {"step": earlier[-1], "before": spike - earlier[-1]})
