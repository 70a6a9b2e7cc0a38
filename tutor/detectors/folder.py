"""Detectors of what the run's folder holds."""

from tutor.detectors import NO_DATA, Finding, detector
from tutor.run import Run


@detector(
    outcomes=("yes", "no"),
    facts={"yes": ("step", "before", "count", "spike", "kept"), "no": ("count", "spike", "kept")},
)
def checkpoint_before(run: Run, at: int | None, *, margin: int) -> Finding:
    """Whether a checkpoint was saved at least `margin` steps before `at`.

    No flaw of itself: it says whether one can go back. Source: the tree.

    A checkpoint that resumes at step t holds the weights that gave the loss at t. With a margin of 1, that
    loss is of a step before the spike.
    """
    if run.checkpoints is None:
        return Finding(NO_DATA, at, {"missing": ["checkpoint"]})
    spike = at if at is not None else int(run.steps[-1])
    kept = sum(one.path is not None for one in run.checkpoints)
    facts = {"spike": spike, "count": len(run.checkpoints), "kept": kept}
    sound = run.checkpoint_by(spike - margin)
    if sound is None:
        return Finding("no", at, facts)
    step = sound.resumes_at
    return Finding("yes", step, facts | {"step": step, "before": spike - step})
