"""Detectors of the defences: what should have kept a bad batch from the weights."""

from __future__ import annotations

from tutor.detectors import NO_DATA, Finding, detector
from tutor.detectors.windows import Window, finite
from tutor.run import Run, known_float


@detector(
    outcomes=("clipped", "unclipped"),
    facts={"clipped": ("norm", "after", "clip"), "unclipped": ("norm", "after", "clip")},
    every_row=True,
    configured=("grad_clip",),
)
def clipping(run: Run, at: int | None, *, around: Window, equal: float) -> Finding:
    """Whether the gradient was clipped where it was largest, within `around` of the step.

    The flaw: no bound on one batch's gradient. It was clipped where the norm after clipping is smaller than
    the one before by more than the share `equal`; without the norm after, the configured clip and the norm
    before decide. Source: ours.
    """
    row = run.row_at(at) if at is not None else len(run) - 1
    clip = run.manifest.settings.get("grad_clip", "unknown")
    if not run.has("grad_norm"):
        return Finding(NO_DATA, at, {"missing": ["grad_norm"]})
    rows = around.count(run)
    first = max(0, row - rows)
    norms = finite(run["grad_norm"])[first : row + rows + 1].fill_null(0.0)
    worst = first + (norms.arg_max() or 0)
    step, norm = int(run.steps[worst]), norms[worst - first]
    after = _after(run, worst)
    if after is None and clip == "unknown":
        return Finding(NO_DATA, step, {"missing": ["grad_norm_clipped"]})
    if after is None:
        after = norm if clip is None else min(norm, float(clip))
    facts = {"norm": norm, "after": after, "clip": None if clip == "unknown" else clip}
    outcome = "clipped" if after < (1 - equal) * norm else "unclipped"
    return Finding(outcome, step, facts)


def _after(run: Run, row: int) -> float | None:
    """The norm after clipping at a row; None where it wasn't recorded, or isn't finite."""
    return known_float(finite(run["grad_norm_clipped"])[row]) if run.has("grad_norm_clipped") else None


@detector(
    manifest=("settings",),
    outcomes=("slow", "quick"),
    facts=("beta2", "memory", "bound"),
    configured=("beta2",),
)
def second_moment(run: Run, at: int | None, *, memory: int) -> Finding:
    """Whether Adam's v is too slow to see a bad batch coming in.

    No flaw of itself: v averages over 1 / (1 - beta2) steps, and over more than `memory` of them it divides
    a sudden gradient by what was usual before. Source: the playbook for long runs (beta2 0.95, not 0.999).
    """
    beta2 = run.manifest.settings.get("beta2")
    if not isinstance(beta2, int | float) or not 0 <= beta2 < 1:
        return Finding(NO_DATA, facts={"missing": ["beta2"]})
    steps = 1 / (1 - beta2)
    facts = {"beta2": beta2, "memory": steps, "bound": memory}
    return Finding("slow" if steps > memory else "quick", facts=facts, measured=steps, bound=memory)
