"""Detectors of precision: the dtype, non-finite gradients, the loss scale."""

from tutor.detectors import NO_DATA, Finding, detector
from tutor.detectors.windows import finite
from tutor.run import Run, known_float


@detector(manifest=("dtype",), outcomes=("fp32", "bf16", "fp16"), facts=("dtype",))
def dtype(run: Run, at: int | None) -> Finding:
    """The dtype of the forward pass, as the manifest says.

    No flaw of itself: it says which ones can be (fp16 overflows above 65,504). Source: the tree.
    """
    precision = run.manifest.precision
    if precision is None:
        return Finding(NO_DATA, facts={"missing": ["dtype"]})
    return Finding(precision, facts={"dtype": precision})


_COUNTED = ("count", "rows", "share", "bound", "dtype")


@detector(
    signals=("grad_norm",),
    manifest=("dtype",),
    outcomes=("yes", "skipped", "no", "fp32"),
    facts={"yes": ("step", *_COUNTED), "skipped": ("step", *_COUNTED), "no": _COUNTED, "fp32": _COUNTED},
    every_row=True,
)
def non_finite_gradient(run: Run, at: int | None, *, share: float) -> Finding:
    """Whether a mixed-precision run's gradient norm is ever NaN or Inf, beyond what a loss scaler skips.

    The flaw: overflow. Source: the tree; ours: `share`, from healthy runs.

    A dynamic scaler probes for the largest scale: a step that overflows is skipped and nothing is lost.
    So where the loss stays finite and at most `share` of the steps are hit, they are "skipped".
    """
    kind = run.manifest.precision
    bad = (~run["grad_norm"].is_finite()).fill_null(False).arg_true()
    facts = {"count": len(bad), "rows": len(run), "dtype": kind}
    facts |= {"share": 100 * len(bad) / len(run), "bound": 100 * share}
    if kind is None:
        return Finding(NO_DATA, facts={"missing": ["dtype"]})
    if kind == "fp32":
        return Finding("fp32", facts=facts)
    if not len(bad):
        return Finding("no", facts=facts)
    step = int(run.steps[int(bad[0])])
    facts["step"] = step
    loss_finite = not run.has("loss") or bool(run["loss"].is_finite().fill_null(True).all())
    harmless = kind == "fp16" and loss_finite and facts["share"] <= facts["bound"]
    return Finding("skipped" if harmless else "yes", step, facts)


_SCALE = ("lowest", "highest", "halvings", "doublings", "bound")


@detector(
    signals=("loss_scale",),
    outcomes=("constant", "below", "dynamic"),
    facts={"constant": _SCALE, "below": ("step", *_SCALE), "dynamic": _SCALE},
)
def loss_scale(run: Run, at: int | None, *, floor: float) -> Finding:
    """What the loss scale does: stays constant, falls below `floor`, or moves as a dynamic scaler's does.

    The flaw: a scaler that never engages, or one that finds no scale small enough. Source: the tree.
    """
    scale = finite(run["loss_scale"])
    known = scale.drop_nulls()
    change = known.diff().drop_nulls()
    facts = {
        "lowest": known.min(),
        "highest": known.max(),
        "halvings": int((change < 0).sum()),
        "doublings": int((change > 0).sum()),
        "bound": floor,
    }
    lowest = known_float(known.min())
    if lowest is not None and lowest < floor:
        step = int(run.steps[int((scale < floor).fill_null(False).arg_true()[0])])
        return Finding("below", step, facts | {"step": step}, floor)
    return Finding("constant" if known.n_unique() <= 1 else "dynamic", None, facts)
