"""Planned: how many steps a run was to have, as its manifest, its log or its trainer's configuration says."""

from dataclasses import dataclass

from tutor.run.facts import whole
from tutor.run.run import Run

TOTAL = "total_steps"
"""The column of a log that prints beside each step how many there are to be."""

_COUNTED = ("max_steps", "max_iters")
"""Names of the horizon of a schedule under which a trainer takes the length of the training itself."""


@dataclass(frozen=True)
class Planned:
    """The length that a run was to have.

    Attributes:
        steps: how many.
        last: the number of the last.
    """

    steps: int
    last: int


def planned(run: Run) -> Planned | None:
    """The length that the run was to have; None where nothing says. tutor counts from 0, others from 1."""
    if steps := whole(run.manifest.settings.get("steps")):
        return Planned(steps, steps - 1)
    horizon = run.origins.get("schedule_steps")
    said = run.logged(TOTAL)[TOTAL][-1] if run.has(TOTAL) else None
    if said is None and horizon is not None and horizon.called in _COUNTED:
        said = horizon.value
    steps = whole(said)
    return Planned(steps, steps) if steps else None


def over(run: Run) -> bool:
    """Whether the log has come to the last step that the run was to have; False where nothing says."""
    ends = planned(run)
    return ends is not None and len(run) > 0 and int(run.steps[-1]) >= ends.last
