"""Detectors of a resume: what a run that goes on from a checkpoint brought along."""

from collections.abc import Iterator
from itertools import pairwise

from tutor.detectors import NOT_YET, Finding, detector
from tutor.detectors.beginning import continued
from tutor.detectors.windows import Window, finite
from tutor.run import Run


@detector(
    signals=("loss",),
    outcomes=("state", "unresumed", "no"),
    facts=("first", "after", "bound"),
    configured=("beta2",),
)
def lost_state(run: Run, at: int | None, *, window: Window, within: Window, kept: float) -> Finding:
    """Whether the spike at `at` follows at once on a resume.

    The flaw: the weights were restored and the optimizer's state wasn't. Adam's first steps are then as large
    as the learning rate allows, in every weight, and the loss rises from the first row on. Source: ours.

    A resume shows where the log begins mid-way, at a step at which checkpoints are saved (more than `window`
    lies before it; with fewer rows than the window has at least, it may be an excerpt that somebody cut out
    around a spike), where it goes back to a step that it had logged, and where the norm of Adam's v falls
    faster than beta2 lets it or, where beta2 isn't known, under the share `kept` of the row before: v was
    built anew. A log that begins mid-way elsewhere may be a part of one ("unresumed"). Source of the last: v
    keeps beta2 of itself at every step (https://arxiv.org/abs/1412.6980).
    """
    begin = int(run.steps[0])
    spike = begin if at is None else at
    resumes = [begin] if continued(run, window) else []
    resumes += [*_gone_back(run), *_built_anew(run, kept)]
    last = max((step for step in resumes if step <= spike), default=None)
    first = begin if last is None else last
    row = min(len(run) - 1, run.row_at(first) + within.count(run))
    after, bound = spike - first, int(run.steps[row]) - first
    lost = at is not None and last is not None and after <= bound
    if lost and last == begin and len(run) < window.rows:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": window.rows})
    facts = {"first": first, "after": after, "bound": bound}
    if last is None and begin > 0:
        return Finding("unresumed", at, facts)
    return Finding("state" if lost else "no", at, facts, measured=float(after), bound=float(bound))


def _gone_back(run: Run) -> Iterator[int]:
    """The steps that a log goes back to, as its reader remarked."""
    for remark in run.remarks:
        if remark.key == "resumed":
            yield from remark.facts.get("steps", ())


ROUNDING = 0.01
"""A norm that is logged as a rounded number may be off by so large a share: numerics, no judgement."""


def _built_anew(run: Run, kept: float) -> list[int]:
    """The steps at which the norm of Adam's v is smaller than what was left of the one before.

    Of v each step leaves beta2, whatever the gradient; where beta2 isn't known, a fall under the share `kept`
    of the row before tells.
    """
    if not run.has("adam_v_norm"):
        return []
    beta2 = run.manifest.settings.get("beta2")
    known = isinstance(beta2, int | float) and 0 < beta2 < 1
    logged = run.logged("adam_v_norm")
    rows = zip(logged.steps.to_list(), finite(logged["adam_v_norm"]).to_list(), strict=True)
    return [
        step
        for (before, v_before), (step, v) in pairwise(row for row in rows if row[1] is not None)
        if v < v_before * ((1 - ROUNDING) * beta2 ** (step - before) if known else kept)
    ]
