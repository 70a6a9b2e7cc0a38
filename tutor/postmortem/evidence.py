"""What the log says of each cell of the grid: small rules, one for a panel and a hypothesis.

A rule gives a verdict, the reason's key in tutor/words and its figures; None where the log can't tell. A
panel that has no bearing on a hypothesis is silent by nature, and one that was not recorded is silent too.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from tutor import detectors
from tutor.detectors.gradient import rare_share
from tutor.detectors.windows import finite, rows
from tutor.postmortem.form import DESTRUCTIVE, Reading
from tutor.postmortem.scene import Scene
from tutor.run import PANELS
from tutor.words import number

# The tree's own bounds come with the scene; these are the ones that no question has.
CALM_RATIO = 3.0  # of the gradient norm to its mean: below it the gradient has not noticed the batch
LIFT = 2.0  # an activation norm or an RMS of g/sqrt(v) so far above its usual
RESET_FALL = 0.2  # Adam's v falls by 1 - beta2 of itself in a step; to a fifth only when it is rebuilt

SIGNALS: Mapping[str, tuple[str, ...]] = {
    "loss": ("loss",),
    "lr": ("lr",),
    "gradient": ("grad_norm",),
    "activations": ("activation_norms",),
    "parameters": ("param_norm", "param_norm_decay", "param_norm_no_decay"),
    "optimizer": ("adam_v_norm", "adam_ratio_rms"),
    "tokens": ("token_loss_hist",),
    "batch": ("rare_counts", "sentence_ids"),
    "throughput": ("loss_scale",),
}
"""What each panel draws that a rule may read: with none of it recorded, the panel is silent."""

# What a panel has nothing to say of, whatever it shows.
_NO_BEARING = {
    "lr": ("rare_token", "overflow"),
    "gradient": ("schedule", "state"),
    "activations": ("schedule", "state"),
    "parameters": ("rare_token", "overflow", "schedule"),
    "optimizer": ("overflow", "schedule"),
    "tokens": ("overflow", "schedule", "state", DESTRUCTIVE),
    "batch": ("overflow", "schedule", "state", DESTRUCTIVE),
    "throughput": ("rare_token", "schedule", "state"),
}

Verdict = tuple[str, str, dict[str, Any]] | None
Rule = Callable[[Scene], Verdict]
_RULES: dict[tuple[str, str], Rule] = {}


def readings(scene: Scene, hypotheses: Iterable[str]) -> dict[str, Reading]:
    """What the log says, by "panel/hypothesis"; cells where it can't tell are left out."""
    found = {}
    for key in hypotheses:
        for panel in PANELS:
            if said := _read(scene, panel, key):
                verdict, why, facts = said
                facts = {name: number(value) for name, value in facts.items()}
                found[f"{panel}/{key}"] = Reading(verdict=verdict, why=why, facts=facts)
    return found


def _read(scene: Scene, panel: str, key: str) -> Verdict:
    if key in _NO_BEARING.get(panel, ()):
        return "silent", "no_bearing", {}
    rule = _RULES.get((panel, key))
    if rule and (said := rule(scene)):
        return said
    if not any(scene.run.has(signal) for signal in SIGNALS[panel]):
        return "silent", "not_recorded", {}
    return None


def _rule(panel: str, key: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        _RULES[panel, key] = function
        return function

    return register


def _ratio(value: float | None, usual: Any) -> float | None:
    """How many times its usual mean a finite value is."""
    if value is None or usual is None or not math.isfinite(value) or not usual.mean:
        return None
    return value / usual.mean


@_rule("loss", "overflow")
def _(scene: Scene) -> Verdict:
    if scene.bad_row is None:
        return None
    half = scene.run.manifest.precision == "fp16"
    step = int(scene.run.steps[scene.bad_row])
    return ("favours", "nan_fp16", {"step": step}) if half else None


@_rule("loss", DESTRUCTIVE)
def _(scene: Scene) -> Verdict:
    if scene.bad_row is None:
        return "rules_out", "loss_finite", {}
    after = scene.run["loss"][scene.bad_row :].drop_nulls()
    step = int(scene.run.steps[scene.bad_row])
    if len(after) > 1 and not after.is_finite().any():
        return "favours", "nan_to_the_end", {"step": step, "rows": len(after)}
    return ("rules_out", "loss_finite_again", {"step": step}) if after.is_finite().any() else None


@_rule("lr", "schedule")
def _(scene: Scene) -> Verdict:
    finding = detectors.apply("lr_jump", scene.run, scene.rules["lr_jump"], scene.began)
    facts = {name: finding.facts.get(name) for name in ("step", "before", "after")}
    if finding.outcome == "schedule":
        return "favours", "lr_jumps", facts
    return ("rules_out", "lr_smooth", facts) if finding.outcome == "no" and scene.row is not None else None


@_rule("gradient", "rare_token")
def _(scene: Scene) -> Verdict:
    worst, usual = scene.worst("grad_norm"), scene.usual("grad_norm")
    if (ratio := _ratio(worst, usual)) is None:
        return None
    bound = scene.rules["bad_batch"]["ratio"]
    facts = {"value": worst, "usual": usual.mean, "ratio": ratio, "bound": bound}
    if ratio > bound:
        return "favours", "gradient_spikes", facts
    return ("rules_out", "gradient_calm", facts | {"bound": CALM_RATIO}) if ratio < CALM_RATIO else None


@_rule("gradient", "overflow")
def _(scene: Scene) -> Verdict:
    if scene.row is None or not scene.run.has("grad_norm"):
        return None
    value = scene.worst("grad_norm")
    if value is None or not math.isfinite(value):
        fits = scene.run.manifest.precision == "fp16" or not scene.run.manifest.dtype
        return ("favours", "gradient_not_finite", {"value": value}) if fits else None
    return "rules_out", "gradient_finite", {"value": value}


@_rule("gradient", DESTRUCTIVE)
def _(scene: Scene) -> Verdict:
    if not scene.bad_row or not scene.run.has("grad_norm"):
        return None
    first = max(0, scene.bad_row - rows(scene.run, 3))
    last = finite(scene.run["grad_norm"][first : scene.bad_row]).max()
    usual = scene.usual("grad_norm", first)
    ratio, bound = _ratio(last, usual), scene.rules["bad_batch"]["ratio"]
    if ratio is None or ratio <= bound:
        return None
    facts = {"value": last, "usual": usual.mean, "ratio": ratio, "bound": bound}
    return "favours", "gradient_before_nan", facts


@_rule("activations", "rare_token")
def _(scene: Scene) -> Verdict:
    if scene.row is None or not scene.run.has("activation_norms"):
        return None
    first_layer = scene.run["activation_norms"].list.get(0, null_on_oob=True)
    before = finite(first_layer[max(0, scene.row - scene.span) : scene.row])
    here, usual = first_layer[scene.row], before.mean()
    if here is None or not usual or not math.isfinite(here):
        return None
    facts = {"value": here, "usual": usual, "ratio": here / usual, "bound": LIFT}
    return (
        ("favours", "activation_lifts", facts)
        if here > LIFT * usual
        else ("silent", "activation_calm", facts)
    )


@_rule("parameters", DESTRUCTIVE)
def _(scene: Scene) -> Verdict:
    names = [n for n in SIGNALS["parameters"] if scene.run.has(n)]
    if not names:
        return None
    for name in names:
        bad = (~scene.run[name].cast(pl.Float64).is_finite()).fill_null(False).arg_true()
        if len(bad):
            return (
                "favours",
                "parameter_not_finite",
                {"signal": name, "step": int(scene.run.steps[int(bad[0])])},
            )
    return "rules_out", "parameters_finite", {}


@_rule("optimizer", "state")
def _(scene: Scene) -> Verdict:
    if scene.row is None or not scene.run.has("adam_v_norm"):
        return None
    near = finite(scene.run["adam_v_norm"])[max(0, scene.row - rows(scene.run, 20, 5)) : scene.peak_row + 1]
    falls = (near / near.shift(1)).fill_nan(None).drop_nulls()
    if not len(falls):
        return None
    lowest = float(falls.min())
    facts = {"share": min(100.0, 100 * lowest), "bound": 100 * RESET_FALL}
    return (
        ("favours", "moments_fall", facts) if lowest < RESET_FALL else ("rules_out", "moments_whole", facts)
    )


@_rule("optimizer", "rare_token")
def _(scene: Scene) -> Verdict:
    worst, usual = scene.worst("adam_ratio_rms"), scene.usual("adam_ratio_rms")
    ratio = _ratio(worst, usual)
    if ratio is None:
        return None
    facts = {"value": worst, "usual": usual.mean, "ratio": ratio, "bound": LIFT}
    return ("favours", "ratio_lifts", facts) if ratio > LIFT else ("silent", "ratio_calm", facts)


@_rule("tokens", "rare_token")
def _(scene: Scene) -> Verdict:
    edges, vocabulary = scene.run.manifest.token_loss_edges, scene.run.manifest.vocab_size
    if (
        scene.row is None
        or not edges
        or not vocabulary
        or vocabulary < 1
        or not scene.run.has("token_loss_hist")
    ):
        return None
    guess = math.log(vocabulary)  # the loss of a uniform guess: above it the model was sure of something else
    first_tall = next((i for i, edge in enumerate(edges) if edge >= guess), None)
    if first_tall is None:
        return None
    histogram = scene.run["token_loss_hist"]
    here = _tall_share(histogram[scene.row], first_tall)
    start = max(0, scene.row - scene.span)
    before = [s for h in histogram[start : scene.row] if (s := _tall_share(h, first_tall)) is not None]
    if here is None or not before:
        return None
    usual = sum(before) / len(before)
    facts = {"share": 100 * here, "usual": 100 * usual, "nats": edges[first_tall]}
    tall = here > scene.rules["bad_batch"]["share"] and here > LIFT * usual
    return ("favours", "tokens_tall", facts) if tall else ("silent", "tokens_calm", facts)


def _tall_share(counts: pl.Series | None, first: int) -> float | None:
    """The share of a batch's tokens whose loss lies in the bins from `first` on."""
    whole = counts.sum() if counts is not None else 0
    return counts[first:].sum() / whole if whole else None


@_rule("batch", "rare_token")
def _(scene: Scene) -> Verdict:
    if scene.row is None:
        return None
    shares = [rare_share(scene.run, row) for row in range(scene.row, scene.peak_row + 1)]
    known = [(share, token) for share, token in shares if share is not None]
    if not known:
        return None
    share, token = max(known, key=lambda pair: pair[0])
    bound = scene.rules["bad_batch"]["share"]
    facts = {"token": token, "share": min(100.0, 100 * share), "bound": 100 * bound}
    return ("favours", "rare_many", facts) if share > bound else ("rules_out", "rare_few", facts)


@_rule("throughput", "overflow")
def _(scene: Scene) -> Verdict:
    manifest = scene.run.manifest
    if manifest.dtype is None:
        return None
    if manifest.precision != "fp16":
        return "rules_out", "not_fp16", {"dtype": manifest.dtype}
    return None if scene.run.has("loss_scale") else ("favours", "no_loss_scale", {})
