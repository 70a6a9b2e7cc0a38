"""Detectors of a resume: what a run that goes on from a checkpoint brought along."""

from tutor.detectors import Finding, detector
from tutor.detectors.windows import Window, resumed
from tutor.run import Run


@detector(signals=("loss",), outcomes=("state", "no"), facts=("first", "after", "bound"))
def lost_state(run: Run, at: int | None, *, window: Window, within: Window) -> Finding:
    """Whether the spike at `at` follows at once on the beginning of a log that begins mid-way.

    The flaw: the weights were restored and the optimizer's state wasn't. Adam's first steps are then as large
    as the learning rate allows, in every weight, and the loss rises from the first row on. The log begins
    mid-way where more than `window` lies before it. Source: ours.
    """
    begin = int(run.steps[0])
    spike = begin if at is None else at
    after, bound = spike - begin, int(run.steps[min(len(run) - 1, within.count(run))]) - begin
    lost = at is not None and resumed(run, window) and after <= bound
    facts = {"first": begin, "after": after, "bound": bound}
    return Finding("state" if lost else "no", at, facts, measured=float(after), bound=float(bound))
