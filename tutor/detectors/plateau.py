"""A loss that comes to a stop high up: what it costs is what one pays who knows next to nothing."""

from __future__ import annotations

from tutor.detectors import Finding
from tutor.detectors.grouped import Enough
from tutor.detectors.windows import cadence, finite
from tutor.run import Run, to_float

_BEGIN = 0.4
"""Where the later part of a run begins: of two evaluations, half-way and at the end, both are in it."""
_MEANS = 50
"""Steps whose mean hardly varies, however single steps do: of an estimator, not a bound."""


def stops_high(run: Run, least: Enough) -> Finding | None:
    """The finding that the loss lies still above `least.high` in the later part of the run, "stops-high".

    Two evaluations or more, or as many means of the training loss over many steps, lie within the share
    `least.flat` of each other, and the run has gained less than `least.gained` of its first loss in all.
    """
    begun = finite(run["loss"] if run.has("loss") else run["val_loss"]).drop_nulls()
    first, last = int(run.steps[0]), int(run.steps[-1])
    middle = first + _BEGIN * (last - first)
    if not len(begun) or float(begun[0]) <= 0:
        return None
    for signal in ("val_loss", "loss"):
        if not run.has(signal) or (signal == "loss" and not _means(run)):
            continue
        known = run.logged(signal)
        values = finite(known[signal])
        later = values.filter(known.steps >= middle)
        if len(later) < 2 or later.null_count() or to_float(later.min()) < least.high:
            continue
        level, spread = float(later[-1]), to_float(later.max()) - to_float(later.min())
        gained = 1 - to_float(begun[-max(1, len(begun) // 4) :].median()) / float(begun[0])
        if spread > least.flat * level or gained > least.gained:
            continue
        facts = {
            "top": float(begun[0]),
            "best": level,
            "gain": 100 * max(0.0, gained),
            "bound": 100 * least.gained,
            "rows": len(later),
            "since": int(known.steps.filter(known.steps >= middle)[0]),
            "spread": 100 * spread / level,
            "high": least.high,
        }
        return Finding(
            "stops-high", None, facts, least.high, (first, last), measured=gained, bound=least.gained
        )
    return None


def _means(run: Run) -> bool:
    """Whether each row of the training loss is a mean over many steps."""
    return run.aggregation("loss").over == "window" and cadence(run) >= _MEANS
