"""What the log says of each cell of the grid: a rule for a panel and a hypothesis.

A rule gives a verdict, the reason's key in tutor/words and its figures; None where the log can't tell. What
it needs, it declares; its bounds are the tree's, which come with the incident, or stand in thresholds.py.
"""

import math
from collections.abc import Mapping

import polars as pl

from tutor.detectors.gradient import rare_share
from tutor.detectors.windows import Baseline, finite, rows
from tutor.postmortem.cells import cell, reading, readings
from tutor.postmortem.form import DESTRUCTIVE, Reading, Verdict
from tutor.postmortem.incident import Incident
from tutor.postmortem.thresholds import (
    CALM_RATIO,
    LAST_FINITE_STEPS,
    LIFT,
    RESET_ROWS,
    RESET_SHARE,
    RESET_STEPS,
)

__all__ = ["readings"]

Verdicts = Mapping[str, tuple[Verdict, str]]
"""By a detector's outcome, the verdict and the reason's key."""

PARAMETERS = ("param_norm", "param_norm_decay", "param_norm_no_decay")


def _ratio(value: float | None, baseline: Baseline | None) -> float | None:
    """How many times its baseline's mean a finite value is."""
    if value is None or baseline is None or not math.isfinite(value) or not baseline.mean:
        return None
    return value / baseline.mean


@cell("loss", "overflow", signals=("loss",), manifest=("dtype",))
def nan_in_fp16(incident: Incident) -> Reading | None:
    """An fp16 run whose loss is NaN or Inf."""
    if incident.bad_row is None or incident.run.manifest.precision != "fp16":
        return None
    return reading("favours", "nan_fp16", step=incident.bad_step)


@cell("loss", DESTRUCTIVE, signals=("loss",))
def nan_to_the_end(incident: Incident) -> Reading | None:
    """A loss that is never finite again: the weights are lost."""
    if incident.bad_row is None:
        return reading("rules_out", "loss_finite")
    after = incident.run["loss"][incident.bad_row :].drop_nulls()
    if after.is_finite().any():
        return reading("rules_out", "loss_finite_again", step=incident.bad_step)
    facts = {"step": incident.bad_step, "rows": len(after)}
    return reading("favours", "nan_to_the_end", **facts) if len(after) > 1 else None


@cell("lr", "schedule", signals=("lr",), numbers=("lr_jump",), at_step=True)
def lr_jumps(incident: Incident) -> Reading | None:
    """A learning rate that jumps where it began, as the tree's own detector has it."""
    facts = incident.found("lr_jump").facts
    rises = facts.get("before") != facts.get("after")  # at the first step of a warm-up nothing does
    smooth = "lr_smooth" if rises else "lr_calm"
    verdicts: Verdicts = {"schedule": ("favours", "lr_jumps"), "no": ("rules_out", smooth)}
    return _as_found(incident, "lr_jump", verdicts)


@cell("gradient", "rare_token", signals=("grad_norm",), numbers=("bad_batch",), at_step=True)
def gradient_spikes(incident: Incident) -> Reading | None:
    """A gradient norm that spikes with the batch, and no longer than one, as the walk asks too."""
    worst, baseline = incident.worst("grad_norm"), incident.baseline("grad_norm")
    ratio, bound = _ratio(worst, baseline), incident.spike_ratio
    if ratio is None or baseline is None:
        return None
    facts = {"value": worst, "baseline": baseline.mean, "ratio": ratio}
    struck = incident.found("bad_batch")
    if struck.outcome == "lasts":
        lasted = {"rows": struck.facts["bad_rows"], "most": struck.facts["most"]}
        return reading("rules_out", "gradient_lasts", **facts, **lasted, bound=bound)
    if ratio > bound:
        return reading("favours", "gradient_spikes", **facts, bound=bound)
    return reading("rules_out", "gradient_calm", **facts, bound=CALM_RATIO) if ratio < CALM_RATIO else None


@cell("gradient", "overflow", signals=("grad_norm",), at_step=True)
def gradient_not_finite(incident: Incident) -> Reading | None:
    """A gradient norm that is NaN or Inf, in fp16 as far as the manifest says."""
    value = incident.worst("grad_norm")
    if value is None:
        return None
    if math.isfinite(value):
        return reading("rules_out", "gradient_finite", value=value)
    manifest = incident.run.manifest
    fits = manifest.precision == "fp16" or not manifest.dtype
    return reading("favours", "gradient_not_finite", value=value) if fits else None


@cell("gradient", DESTRUCTIVE, signals=("grad_norm",), numbers=("bad_batch",))
def gradient_before_nan(incident: Incident) -> Reading | None:
    """A gradient norm that spikes in the last rows before the NaN."""
    if not incident.bad_row:
        return None
    first = max(0, incident.bad_row - rows(incident.run, LAST_FINITE_STEPS))
    last = finite(incident.run["grad_norm"][first : incident.bad_row]).drop_nulls()
    worst = float(last[last.arg_max() or 0]) if len(last) else None
    baseline = incident.baseline("grad_norm", first)
    ratio, bound = _ratio(worst, baseline), incident.spike_ratio
    if ratio is None or baseline is None or ratio <= bound:
        return None
    facts = {"value": worst, "baseline": baseline.mean, "ratio": ratio, "bound": bound}
    return reading("favours", "gradient_before_nan", **facts)


@cell("activations", "rare_token", signals=("activation_norms",), at_step=True)
def activation_lifts(incident: Incident) -> Reading | None:
    """A norm of the first layer's activations above its baseline: the embedding of a token seldom seen."""
    row = incident.row or 0
    first_layer = incident.run["activation_norms"].list.get(0, null_on_oob=True).cast(pl.Float64)
    before = finite(first_layer[max(0, row - incident.span) : row]).drop_nulls()
    here, baseline = first_layer[row], sum(before) / len(before) if len(before) else 0.0
    if here is None or not baseline or not math.isfinite(here):
        return None
    facts = {"value": here, "baseline": baseline, "ratio": here / baseline, "bound": LIFT}
    if here > LIFT * baseline:
        return reading("favours", "activation_lifts", **facts)
    return reading("silent", "activation_calm", **facts)


@cell("parameters", DESTRUCTIVE, any_of=PARAMETERS)
def parameter_not_finite(incident: Incident) -> Reading | None:
    """A parameter norm that is NaN or Inf."""
    for name in filter(incident.run.has, PARAMETERS):
        bad = (~incident.run[name].cast(pl.Float64).is_finite()).fill_null(False).arg_true()
        if len(bad):
            facts = {"signal": name, "step": int(incident.run.steps[int(bad[0])])}
            return reading("favours", "parameter_not_finite", **facts)
    return reading("rules_out", "parameters_finite")


@cell("optimizer", "state", signals=("adam_v_norm",), at_step=True)
def moments_fall(incident: Incident) -> Reading | None:
    """A norm of Adam's v that falls at once: v was built anew."""
    if incident.rows is None:
        return None
    first = max(0, incident.rows.start - rows(incident.run, RESET_STEPS, RESET_ROWS))
    near = finite(incident.run["adam_v_norm"])[first : incident.rows.stop]
    falls = (near / near.shift(1)).fill_nan(None).drop_nulls()
    if not len(falls):
        return None
    lowest = float(falls[falls.arg_min() or 0])
    facts = {"share": min(100.0, 100 * lowest), "bound": 100 * RESET_SHARE}
    if lowest < RESET_SHARE:
        return reading("favours", "moments_fall", **facts)
    return reading("rules_out", "moments_whole", **facts)


@cell("optimizer", "rare_token", signals=("adam_ratio_rms",), at_step=True)
def ratio_lifts(incident: Incident) -> Reading | None:
    """An RMS of g/sqrt(v) above its baseline: a gradient that v did not expect."""
    worst, baseline = incident.worst("adam_ratio_rms"), incident.baseline("adam_ratio_rms")
    ratio = _ratio(worst, baseline)
    if ratio is None or baseline is None:
        return None
    facts = {"value": worst, "baseline": baseline.mean, "ratio": ratio, "bound": LIFT}
    if ratio > LIFT:
        return reading("favours", "ratio_lifts", **facts)
    return reading("silent", "ratio_calm", **facts)


@cell("optimizer", "slow_v", manifest=("settings",), numbers=("quick_second_moment",))
def v_is_slow(incident: Incident) -> Reading | None:
    """A v that remembers more steps than the tree allows it."""
    finding = incident.found("quick_second_moment")
    if finding.outcome not in ("on", "off"):
        return None
    return reading("favours" if finding.outcome == "off" else "rules_out", "v_remembers", **finding.facts)


@cell(
    "tokens",
    "rare_token",
    signals=("token_loss_hist",),
    manifest=("token_loss_edges", "vocab_size"),
    numbers=("bad_batch",),
    at_step=True,
)
def tokens_tall(incident: Incident) -> Reading | None:
    """More tokens than before whose loss is above that of a uniform guess."""
    edges, vocabulary = incident.run.manifest.token_loss_edges, incident.run.manifest.vocab_size
    if not edges or not vocabulary or vocabulary < 1:
        return None
    first_tall = next((i for i, edge in enumerate(edges) if edge >= math.log(vocabulary)), None)
    if first_tall is None:
        return None
    row, histogram = incident.row or 0, incident.run["token_loss_hist"]
    here = _tall_share(histogram[row], first_tall)
    start = max(0, row - incident.span)
    before = [s for h in histogram[start:row] if (s := _tall_share(h, first_tall)) is not None]
    if here is None or not before:
        return None
    baseline = sum(before) / len(before)
    facts = {"share": 100 * here, "baseline": 100 * baseline, "nats": edges[first_tall]}
    tall = here > incident.rare_share and here > LIFT * baseline
    return reading("favours", "tokens_tall", **facts) if tall else reading("silent", "tokens_calm", **facts)


def _tall_share(counts: pl.Series | None, first: int) -> float | None:
    """The share of a batch's tokens whose loss lies in the bins from `first` on."""
    if counts is None or not (whole := float(counts.sum())):
        return None
    return float(counts[first:].sum()) / whole


@cell("batch", "rare_token", signals=("rare_counts", "rare_tokens"), numbers=("bad_batch",), at_step=True)
def rare_many(incident: Incident) -> Reading | None:
    """A rare token that takes much of a batch."""
    shares = [rare_share(incident.run, row) for row in incident.rows or ()]
    known = [(share, token) for share, token in shares if share is not None]
    if not known:
        return None
    share, token = max(known, key=lambda pair: pair[0])
    facts = {"token": token, "share": min(100.0, 100 * share), "bound": 100 * incident.rare_share}
    many = share > incident.rare_share
    return reading("favours", "rare_many", **facts) if many else reading("rules_out", "rare_few", **facts)


@cell("throughput", "overflow", manifest=("dtype",))
def no_loss_scale(incident: Incident) -> Reading | None:
    """An fp16 run without a loss scale; a run of another dtype has nothing to scale.

    A trainer other than tutor's may have scaled the loss, and not logged it.
    """
    manifest = incident.run.manifest
    if manifest.precision != "fp16":
        return reading("rules_out", "not_fp16", dtype=manifest.dtype)
    if incident.run.has("loss_scale") or not manifest.tutor:
        return None
    return reading("favours", "no_loss_scale")


@cell("batch", "loader", signals=("batch_hash",), numbers=("repeated_batch",), at_step=True)
def batch_repeats(incident: Incident) -> Reading | None:
    """A batch near where it began whose hash is that of one before."""
    finding = incident.found("repeated_batch")
    if finding.outcome == "loader":
        return reading("favours", "batch_repeats", step=incident.began, twin=finding.facts["twin"])
    looked_back = finding.facts.get("looked_back")
    return reading("rules_out", "batch_new", step=incident.began, rows=looked_back) if looked_back else None


@cell("loss", "rate", signals=("loss",), numbers=("ends_high",))
def loss_ends_high(incident: Incident) -> Reading | None:
    """A loss that climbs back from its best level and stays there."""
    verdicts: Verdicts = {"yes": ("favours", "ends_high"), "no": ("silent", "ends_low")}
    return _as_found(incident, "ends_high", verdicts)


@cell("gradient", "rate", signals=("grad_norm",), numbers=("gradient_course",))
def gradient_grows(incident: Incident) -> Reading | None:
    """A gradient norm that grows for good."""
    verdicts: Verdicts = {"grows": ("favours", "gradient_grows"), "no": ("silent", "gradient_steady")}
    return _as_found(incident, "gradient_course", verdicts)


@cell("optimizer", "rate", signals=("update_norm", "param_norm"), numbers=("update_size",))
def updates_large(incident: Incident) -> Reading | None:
    """Updates that move the weights too far."""
    verdicts: Verdicts = {"large": ("favours", "updates_large"), "usual": ("silent", "updates_usual")}
    return _as_found(incident, "update_size", verdicts)


@cell("loss", "memorised", signals=("val_loss",), numbers=("validation_turns",))
def validation_rises(incident: Incident) -> Reading | None:
    """A validation loss that turns while the training loss goes on."""
    verdicts: Verdicts = {
        "turns": ("favours", "validation_rises"),
        "no": ("rules_out", "validation_holds"),
        "some": ("rules_out", "validation_holds"),
    }
    return _as_found(incident, "validation_turns", verdicts)


@cell("loss", "no_signal", signals=("loss",), numbers=("learned",))
def nothing_learned(incident: Incident) -> Reading | None:
    """A loss that never comes down from where it began."""
    verdicts: Verdicts = dict.fromkeys(("no", "no-rate"), ("favours", "nothing_learned"))
    return _as_found(incident, "learned", {**verdicts, "yes": ("rules_out", "has_learned")})


@cell("gradient", "no_signal", signals=("grad_norm",), numbers=("zero_gradient",))
def gradient_is_zero(incident: Incident) -> Reading | None:
    """A gradient norm of zero at most rows."""
    verdicts: Verdicts = {"zero": ("favours", "gradient_zero"), "there": ("silent", "gradient_there")}
    return _as_found(incident, "zero_gradient", verdicts)


def _as_found(incident: Incident, detector: str, verdicts: Verdicts) -> Reading | None:
    """What a detector of the tree found, as a verdict and the reason's key; None for other outcomes."""
    finding = incident.found(detector)
    if finding.outcome not in verdicts:
        return None
    return reading(*verdicts[finding.outcome], **finding.facts)
