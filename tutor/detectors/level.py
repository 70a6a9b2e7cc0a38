"""Detectors of the gradient norm's level over the whole run: too high, too low, or with rows that tower."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, Smoothed, detector
from tutor.detectors.grouped import Gain, NormBound, Sustained
from tutor.detectors.has_learned import gives_back, has_learned, untold
from tutor.detectors.loss import times_the_mean
from tutor.detectors.windows import Window, finite
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl

_LEVEL = ("mean", "bound", "floor", "share", "span", "begin", "clip")


@detector(
    signals=("grad_norm",),
    outcomes=("sane", "high", "unjudged", "diverges", "clipping", "low", "dead"),
    facts={
        **dict.fromkeys(("sane", "high", "unjudged", "clipping", "low"), _LEVEL),
        "diverges": (*_LEVEL, "best", "best_step", "end"),
        "dead": (*_LEVEL, "times"),
    },
    configured=("grad_clip", "warmup_steps"),
)
def gradient_level(
    run: Run,
    at: int | None,
    *,
    window: Window,
    above: float,
    below: NormBound,
    share: Sustained,
    gain: Gain,
) -> Finding:
    """Whether the rolling mean of the gradient norm is sane once the warm-up is over.

    The flaw: it stays over `above` times the clip (over `above` itself without one) for more than `share` of
    the rows in a run that doesn't learn (`gain`): it "diverges" where the loss rises again by as much as
    counts as learning, and is "clipping" at every step where it stays flat; or it stays under `below` while
    nothing is learned, or only a part of the mean loss is trained on (`below.of_loss`). Where the run learns,
    a level out of bounds is a remark: healthy norms have no unit in common. So it is where the loss is flat
    and no clip is known, and where the loss ends in NaN or Inf, which other questions name. Without a
    configured warm-up, the first share `share.after` of the rows is left out, since the first steps are
    always tall. Source: the tree; ours: the rest.
    """
    span = window.count(run)
    warmup = run.manifest.schedule.warmup_steps
    start = int(share.after * len(run)) if warmup is None else int((run.steps < warmup).sum())
    if len(run) - start < span:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": start + span})
    norms = finite(run["grad_norm"])[start:]
    rolling = norms.rolling_mean(span, min_samples=max(1, span // 2))
    means = rolling.drop_nulls()
    if not len(means):
        return Finding(NO_DATA, facts={"missing": ["grad_norm"]})
    clip = run.manifest.settings.get("grad_clip")
    most = float(clip) if isinstance(clip, int | float) and clip > 0 else None
    bound = above * (most or 1.0)
    mean, learned = to_float(means.median()), has_learned(run, gain)
    broken = learned is False and not math.isfinite(to_float(run["loss"].drop_nulls()[-1]))
    often = {"high": to_float((means > bound).mean()), "low": to_float((means < below.norm).mean())}
    side = "high" if often["high"] > share.share else "low" if often["low"] > share.share else "sane"
    facts = {
        "mean": mean,
        "bound": bound,
        "floor": below.norm,
        "share": 100 * often.get(side, 0.0),
        "span": span,
        "begin": int(run.steps[start]),
        "clip": clip,
    }
    if side == "low" and learned and not to_float(means.max()):
        return Finding(NO_DATA, facts={"missing": ["grad_norm"]})  # 0 at every row of a run that learns
    outcome = side
    if side == "low":
        times = times_the_mean(run, start)
        masked = times is not None and abs(times) < below.of_loss
        if learned is None and not masked:
            return untold(run)
        outcome, facts = ("dead" if masked or not learned else "low"), facts | {"times": times}
    elif side == "high" and learned is None:
        return untold(run)
    elif side == "high" and not learned:
        back = gives_back(run, gain)
        if broken:
            outcome = "unjudged"
        elif back:
            outcome = "diverges"
            facts |= {"best": back.best, "best_step": int(run.steps[back.best_row]), "end": back.end}
        else:
            outcome = "unjudged" if most is None else "clipping"
    nearest = bound if mean > math.sqrt(bound * below.norm) else below.norm
    seen = (int(run.steps[start]), int(run.steps[-1]))
    curve = Smoothed("grad_norm", run.steps[start:], rolling)
    return Finding(
        outcome, int(run.steps[start]), facts, nearest, seen, measured=mean, bound=nearest, curve=curve
    )


_TALL = ("count", "bound", "tallest", "named", "begin", "end")


@detector(
    signals=("grad_norm",),
    outcomes=("none", "few", "many"),
    facts={"none": ("bound", "tallest"), "few": _TALL, "many": _TALL},
)
def tall_gradients(
    run: Run, at: int | None, *, window: Window, above: float, times: float, most: int
) -> Finding:
    """How many single steps have a gradient norm over `above`, in the window that holds most of them.

    The flaw: more than `most` are an instability. A step counts where its norm is also `times` the median of
    the run, since some healthy runs lie above any bound; NaN and Inf are another question's. Those with which
    a run begins are no instability, where its loss falls meanwhile: the first gradients of large weights.
    Source: the tree; ours: `times`.
    """
    norms = finite(run["grad_norm"])
    usual = known_float(norms.median()) or 0.0
    bound = max(above, times * usual)
    tall = (norms > bound).fill_null(False)
    tallest = known_float(norms.max())
    if not tall.any():
        return Finding("none", None, {"bound": bound, "tallest": tallest}, bound)
    span = min(len(run), window.count(run))
    begun = _begins_tall(run, tall)
    later = (tall & ~tall)[:begun].append(tall[begun:])
    tall = later if later.any() else tall  # of those at first alone is told, too
    counts = tall.cast(int).rolling_sum(span, min_samples=1)
    last = counts.arg_max() or 0
    first = max(0, last - span + 1)
    rows = [int(row) + first for row in tall[first : last + 1].arg_true()]
    facts = {
        "count": len(rows),
        "bound": bound,
        "tallest": tallest,
        "named": ", ".join(_batch(run, row) for row in rows[: most + 1]),
        "begin": int(run.steps[first]),
        "end": int(run.steps[last]),
    }
    seen = (facts["begin"], facts["end"])
    outcome = "many" if len(rows) > most and later.any() else "few"
    return Finding(outcome, int(run.steps[rows[0]]), facts, bound, seen)


_QUIET = 3
"""Rows in a row that aren't tall end the tall beginning of a run: a constant of the method."""


def _begins_tall(run: Run, tall: pl.Series) -> int:
    """The row at which a beginning with tall gradients ends; 0 where there is none, or its loss stays up."""
    if not tall[0]:
        return 0
    quiet = (~tall).cast(int).rolling_sum(_QUIET) == _QUIET
    end = int(quiet.arg_max() or 0) - _QUIET + 1 if quiet.any() else 0
    loss = finite(run["loss"])[: end + 1].drop_nulls() if run.has("loss") else tall[:0].cast(float)
    return end if len(loss) > 1 and loss[-1] < loss[0] else 0


def _batch(run: Run, row: int) -> str:
    """A step and, where it was logged, the hash of its batch."""
    step = str(int(run.steps[row]))
    known = run["batch_hash"][row] if run.has("batch_hash") else None
    return f"{step} ({known})" if known else step
