"""Detectors of precision: the dtype, non-finite gradients, the loss scale."""

import math
from typing import TYPE_CHECKING, Any

from tutor.detectors import NO_DATA, Finding, any_of, detector
from tutor.detectors.grouped import Gain, Scaler
from tutor.detectors.has_learned import LEARNS, found_learning
from tutor.detectors.windows import finite
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl


@detector(
    outcomes=("fp32", "bf16", "fp16", "scaled"),
    facts={**dict.fromkeys(("fp32", "bf16", "fp16"), ("dtype",)), "scaled": ("highest", "lowest")},
    configured=("dtype",),
)
def dtype(run: Run, at: int | None) -> Finding:
    """The dtype of the forward pass, as the manifest says.

    No flaw of itself: it says which ones can be (fp16 overflows above 65,504). Where it doesn't say, a loss
    scale that moves does, between powers of 2 above 1: it is fp16, "scaled", for bf16 and fp32 need none.
    Source: the tree.
    """
    precision = run.manifest.precision
    scales = finite(run["loss_scale"]).drop_nulls() if run.has("loss_scale") else None
    if precision is None and scales is not None and _moves(scales):
        facts = {"highest": to_float(scales.max()), "lowest": to_float(scales.min())}
        return Finding("scaled", facts=facts)
    if precision is None:
        return Finding(NO_DATA, facts={"missing": ["dtype"]})
    return Finding(precision, facts={"dtype": precision})


def _moves(scales: "pl.Series") -> bool:
    """Whether a scale of losses takes two values or more that lift a gradient, as a scaler has them."""
    lifting = scales.filter(scales > 1).unique()
    return len(lifting) > 1 and bool((lifting.log(2) % 1 == 0).all())


_COUNTED = ("count", "rows", "share", "bound")


@detector(
    signals=("grad_norm",),
    outcomes=("yes", "skipped", "no"),
    facts={
        "yes": ("step", *_COUNTED),
        "skipped": ("step", *_COUNTED, "begun", "later", "last"),
        "no": _COUNTED,
    },
)
def non_finite_gradient(run: Run, at: int | None, *, share: float, last: int, settled: float) -> Finding:
    """Whether the gradient norm is NaN or Inf often, or to the end, in any dtype.

    The flaw: overflow, or an operation without a finite gradient. Source: the tree; ours: what counts.

    A dynamic scaler probes for the largest scale: a step that overflows is skipped and nothing is lost, at
    the beginning many in a row. So it counts where the `last` rows are all non-finite, or where more than
    `share` of the rows are once the first `settled` of the log is over.
    """
    bad = (~run["grad_norm"].is_finite()).fill_null(False)
    count = int(bad.sum())
    facts: dict[str, Any] = {"count": count, "rows": len(run)}
    facts |= {"share": 100 * count / len(run), "bound": 100 * share}
    if not count:
        return Finding("no", facts=facts)
    step = int(run.steps[int(bad.arg_true()[0])])
    facts["step"] = step
    later = bad[int(settled * len(run)) :]
    to_the_end = len(run) >= last and bool(bad[-last:].all())
    since = int(later.sum())
    if to_the_end or (to_float(later.mean()) > share and since >= last):
        return Finding("yes", step, facts)
    return Finding("skipped", step, facts | {"begun": 100 * settled, "later": since, "last": last})


@detector(
    signals=(any_of("loss_scale", "skipped", "loss"),),
    outcomes=("all", "searching", "floor", "some", "learns"),
    facts={
        "learns": LEARNS,
        "all": ("count", "rows"),
        "searching": ("count", "rows", "lowest", "begins"),
        "floor": ("count", "rows", "highest", "lowest", "bound"),
        "some": ("count", "rows"),
    },
    every_row=True,
)
def steps_skipped(
    run: Run,
    at: int | None,
    *,
    last: int,
    share: float,
    every: float,
    scale: Scaler,
    gain: Gain,
) -> Finding:
    """Whether a loss scaler skips every step, or has come down as far as it can.

    The flaw: gradients overflow at every scale, so the optimizer never steps. Where skips aren't logged,
    a scale that halves at each of the `last` rows or more, up to the end, says the same. One that was
    `scale.fallen` times as high and stands at `scale.floor` or under it for the `last` rows protects no
    gradient any more; nor does one that goes on to fall from so far under it, which no scaler begins at.
    Where both hold, a run that skipped the share `every` of its steps never trained, and one that skipped
    fewer did until its values grew too large; without a scale that fell, more than `share` of the steps are
    enough. Down to `scale.begins` a scaler that began higher, some at 2^32, may be "searching" still: nothing
    was trained so far, and the next steps may be. Where neither was logged, a loss that falls by more than
    `gain` says that steps were taken ("learns"). Source: ours.
    """
    if not (run.has("skipped") or run.has("loss_scale")):
        unknown = Finding(NO_DATA, facts={"missing": ["loss_scale"]})
        return found_learning(run, finite(run["loss"]), gain) or unknown
    if run.has("skipped"):
        skipped = run["skipped"].cast(float).fill_null(0.0) > 0
    else:
        skipped = (finite(run["loss_scale"]).diff() < 0).fill_null(False)
        skipped = skipped[1:]
    count = int(skipped.sum())
    facts = {"count": count, "rows": len(skipped)}
    stuck = len(skipped) >= last and bool(skipped[-last:].all()) and count > share * len(skipped)
    known = finite(run["loss_scale"]).drop_nulls() if run.has("loss_scale") else skipped[:0].cast(float)
    if len(known) and count < every * len(skipped):
        highest, lowest, end = (to_float(one) for one in (known.max(), known[-last:].max(), known[-1:].max()))
        fell = len(known) > last and lowest <= scale.floor and highest >= scale.fallen * lowest
        falls = highest > end and scale.fallen * highest <= scale.floor
        if fell or falls:
            lowest = lowest if fell else end
            return Finding(
                "floor", None, facts | {"highest": highest, "lowest": lowest, "bound": scale.floor}
            )
    if stuck and len(known) > last and scale.begins <= float(known[-1]) < float(known[-last]):
        return Finding("searching", None, facts | {"lowest": float(known[-1]), "begins": scale.begins})
    return Finding("all" if stuck else "some", None, facts)


_SCALE = ("lowest", "highest", "halvings", "doublings", "bound")


@detector(
    signals=("loss_scale",),
    outcomes=("constant", "below", "dynamic"),
    facts={"constant": _SCALE, "below": ("step", *_SCALE), "dynamic": _SCALE},
)
def loss_scale(run: Run, at: int | None, *, floor: float) -> Finding:
    """What the loss scale does: stays constant, falls to `floor`, or moves as a dynamic scaler's does.

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
    if known.n_unique() <= 1:
        return Finding("constant", None, facts)
    if lowest is not None and lowest <= floor:
        step = int(run.steps[int((scale <= floor).fill_null(False).arg_true()[0])])
        since = int(run.steps[_falls_from(scale, floor)])
        return Finding("below", step, facts | {"step": since}, floor, since=since)
    return Finding("dynamic", None, facts)


def _falls_from(scale: "pl.Series", floor: float) -> int:
    """The row from which the scale fell to the floor for the last time, with pauses, too.

    It begins after the last rise to a scale that lies nearer to its highest than to the floor.
    """
    known = scale.forward_fill()
    last = int((known <= floor).fill_null(False).arg_true()[-1])
    way = known[: last + 1]
    high = math.sqrt(max(0.0, to_float(way.max()) * floor))
    near = (way >= high).fill_null(False).arg_true()
    up = int(near[-1]) if len(near) else 0  # it was never so high since; what is below 0 is no scale
    rises = (way[: up + 1].diff() > 0).fill_null(False).arg_true()
    top = int(rises[-1]) if len(rises) else 0
    falls = (way[top:].diff() < 0).fill_null(False).arg_true()
    return top + int(falls[0]) if len(falls) else last
