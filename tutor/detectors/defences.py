"""Detectors of the defences: what should have kept a bad batch from the weights, and which a long run has.

Of a long run each is "on" or "off", as the manifest says, and "no data" where that doesn't name it: a defence
that nobody recorded is unknown, not off.
"""

from __future__ import annotations

from typing import Any

from tutor.detectors import NO_DATA, Finding, detector
from tutor.detectors.going_back import checkpoint_interval
from tutor.detectors.windows import Window, finite
from tutor.run import Run, as_number, known_float

_OFF_OR_ON = ("off", "on")
_UNNAMED = object()
"""What a manifest says of what it doesn't name; None is a value that it may give."""


def _configured(run: Run, name: str) -> Any:
    """What the manifest says of `name`, in its design or its settings; _UNNAMED where it doesn't."""
    manifest = run.manifest
    return manifest.design.get(name, manifest.settings.get(name, _UNNAMED))


def _unknown(name: str) -> Finding:
    return Finding(NO_DATA, facts={"missing": [name]})


def _memory(beta2: float, memory: int) -> dict[str, float]:
    """The facts of how long Adam's v remembers: over 1 / (1 - beta2) steps, and the bound on them."""
    return {"beta2": beta2, "memory": 1 / (1 - beta2), "bound": memory}


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
    given = run.manifest.settings.get("grad_clip", "unsaid")  # None says that nothing is clipped
    clip = as_number(given)  # a text, such as "auto", doesn't say at what
    if not run.has("grad_norm"):
        return Finding(NO_DATA, at, {"missing": ["grad_norm"]})
    rows = around.count(run)
    first = max(0, row - rows)
    norms = finite(run["grad_norm"])[first : row + rows + 1].fill_null(0.0)
    worst = first + (norms.arg_max() or 0)
    step, norm = int(run.steps[worst]), norms[worst - first]
    after = _after(run, worst)
    if after is None and clip is None and given is not None:
        return Finding(NO_DATA, step, {"missing": ["grad_norm_clipped"]})
    if after is None:
        after = norm if clip is None else min(norm, clip)
    facts = {"norm": norm, "after": after, "clip": clip}
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
        return _unknown("beta2")
    facts = _memory(beta2, memory)
    steps = facts["memory"]
    return Finding("slow" if steps > memory else "quick", facts=facts, measured=steps, bound=memory)


@detector(outcomes=_OFF_OR_ON, facts=("beta2", "memory", "bound"))
def quick_second_moment(run: Run, at: int | None, *, memory: int) -> Finding:
    """Whether Adam's v forgets within `memory` steps, 1 / (1 - beta2) of them.

    Off: v divides a sudden gradient by what was usual before. Source: the playbook for long runs (0.95).
    """
    beta2 = as_number(_configured(run, "beta2"))
    if beta2 is None or not 0 <= beta2 < 1:
        return _unknown("beta2")
    facts = _memory(beta2, memory)
    return Finding("off" if facts["memory"] > memory else "on", facts=facts)


@detector(outcomes=_OFF_OR_ON, facts=("clip", "bound"))
def clipped_norm(run: Run, at: int | None, *, clip: float) -> Finding:
    """Whether the gradient norm is clipped at `clip` or lower.

    Off: nothing bounds what one batch does. Source: the playbook for long runs (1.0).
    """
    configured = _configured(run, "grad_clip")
    if configured is _UNNAMED:
        return _unknown("grad_clip")
    value = as_number(configured)
    on = value is not None and 0 < value <= clip
    return Finding("on" if on else "off", facts={"clip": value, "bound": clip})


@detector(outcomes=_OFF_OR_ON, facts=("decay", "low", "high"))
def moderate_decay(run: Run, at: int | None, *, low: float, high: float) -> Finding:
    """Whether weight decay lies between `low`, under which weights drift, and `high`, over which they starve.

    Source: the playbook for long runs (about 0.1).
    """
    decay = as_number(_configured(run, "weight_decay"))
    if decay is None:
        decays = [
            float(group.weight_decay) for group in run.manifest.groups if group.weight_decay is not None
        ]
        decay = max(decays, default=None)
    if decay is None:
        return _unknown("weight_decay")
    facts = {"decay": decay, "low": low, "high": high}
    return Finding("on" if low <= decay <= high else "off", facts=facts)


@detector(outcomes=_OFF_OR_ON, facts=("beta1", "bound"))
def short_momentum(run: Run, at: int | None, *, beta1: float) -> Finding:
    """Whether Adam's m remembers no longer than beta1 = `beta1`.

    Off: m carries a bad update on for 1 / (1 - beta1) steps. Source: the playbook for long runs (0.9, 0.95).
    """
    given = as_number(_configured(run, "beta1"))
    if given is None:
        return _unknown("beta1")
    return Finding("on" if given <= beta1 else "off", facts={"beta1": given, "bound": beta1})


@detector(outcomes=_OFF_OR_ON, facts=("norm",))
def pre_norm(run: Run, at: int | None) -> Finding:
    """Whether each block normalises its input ("pre") rather than the stream after it ("post").

    Off: gradients near the output are large at the start. Source: https://arxiv.org/abs/2002.04745.
    """
    norm = _configured(run, "norm")
    if not isinstance(norm, str):
        return _unknown("norm")
    return Finding(
        "on" if norm.strip().lower() in ("pre", "pre-norm", "prenorm") else "off", facts={"norm": norm}
    )


@detector(outcomes=_OFF_OR_ON, facts=("dtype",))
def wide_range(run: Run, at: int | None) -> Finding:
    """Whether the forward pass has the range of fp32 (bf16, fp32), or is fp16 under a loss scale.

    Off: fp16 overflows above 65,504. Source: https://arxiv.org/abs/1710.03740.
    """
    dtype = run.manifest.precision
    if dtype is None:
        return _unknown("dtype")
    if dtype != "fp16":
        return Finding("on", facts={"dtype": dtype})
    if not run.has("loss_scale"):
        return _unknown("loss_scale")
    highest = known_float(finite(run["loss_scale"]).max())
    return Finding("on" if highest is not None and highest > 1 else "off", facts={"dtype": dtype})


@detector(outcomes=_OFF_OR_ON, facts=("every", "bound"))
def frequent_checkpoints(run: Run, at: int | None, *, every: int) -> Finding:
    """Whether a checkpoint is saved at least every `every` steps.

    Off: what a restart loses. Source: the playbook for long runs.
    """
    if "checkpoint_every" in run.manifest.settings and run.manifest.settings["checkpoint_every"] is None:
        return Finding("off", facts={"every": None, "bound": every})
    interval = checkpoint_interval(run)
    if interval is None:
        return _unknown("checkpoint")
    return Finding("on" if interval <= every else "off", facts={"every": interval, "bound": every})


def _switch(run: Run, name: str) -> Finding:
    """A defence that is a switch, or a strength of which 0 is off."""
    value = _configured(run, name)
    if value is _UNNAMED or value is None or isinstance(value, str):
        return _unknown(name)
    return Finding("on" if value else "off", facts={"strength": float(value)})


@detector(outcomes=_OFF_OR_ON, facts=("strength",))
def qk_norm(run: Run, at: int | None) -> Finding:
    """Whether queries and keys are normalised before they meet.

    Off: attention logits can grow without bound. Source: https://arxiv.org/abs/2302.05442.
    """
    return _switch(run, "qk_norm")


@detector(outcomes=_OFF_OR_ON, facts=("strength",))
def z_loss(run: Run, at: int | None) -> Finding:
    """Whether the loss holds the logarithm of the softmax's sum near 0.

    Off: output logits can drift together. Source: https://arxiv.org/abs/2204.02311 (5; 1e-4).
    """
    return _switch(run, "z_loss")


@detector(outcomes=_OFF_OR_ON, facts=("strength",))
def width_parametrised(run: Run, at: int | None) -> Finding:
    """Whether init and learning rates are scaled with width (muP), so that a small run's rate holds for it.

    Off: a learning rate found on a narrow model may be too high for a wide one. Source:
    https://arxiv.org/abs/2203.03466.
    """
    return _switch(run, "mup")
