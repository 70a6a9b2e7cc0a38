"""The other losses of training that a log holds beside the one that is read: terms of it, and divergences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutor.detectors import Finding, Smoothed
from tutor.detectors.scores import LENGTH
from tutor.run import Run, names, to_float
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

_TWICE = 2
"""One row may lie on the edge of what a number holds: a constant of the method."""
_OFTEN = 0.2
"""In more than this share of the rows a NaN comes again and again: a constant of the method."""


def another_not_finite(run: Run) -> Finding | None:
    """The finding, "another", that such a column is Inf in `_TWICE` rows or more after a finite one; or NaN
    in as many, either from one to the last, and in none before, or again and again and at some of these with
    a gradient norm that isn't finite.

    A NaN between finite rows may say that nothing was measured there, unless the gradient shows it too; an
    Inf doesn't. Where a loss scale is logged, steps that overflow are skipped.
    """
    for name in run.frame.columns:
        if not names.is_term(name) or not run.frame[name].dtype.is_numeric():
            continue
        known = run.frame[name].is_not_null()
        steps, values = run.steps.filter(known), run.frame[name].filter(known).cast(float)
        finite = values.is_finite()
        bad = (~finite).arg_true()
        if not len(bad) or not finite.any():
            continue
        infinite = bad.filter(bad > int(finite.arg_max() or 0)) if not run.has("loss_scale") else bad[:0]
        infinite = infinite.filter(values.gather(infinite).is_infinite())
        to_the_end = bool(bad[0] > 0) and len(bad) == len(values) - int(bad[0])
        lasting, felt = bad if to_the_end else bad[:0], _felt(run, known, bad)
        if found := [some for some in (lasting, infinite, felt) if len(some) >= _TWICE]:
            first = int(found[0][0])
            facts = {
                "term": plain(name)[:LENGTH],
                "step": int(steps[first]),
                "last": int(steps[int(bad[-1])]),
            }
            facts |= {"value": float(values[first]), "count": len(bad), "rows": len(values)}
            return Finding("another", int(steps[first]), facts, curve=Smoothed(name, steps, values))
    return None


def _felt(run: Run, known: pl.Series, bad: pl.Series) -> pl.Series:
    """Those of the `bad` places, among the `known` rows, where the gradient norm isn't finite either.

    None, where they are no more than `_OFTEN` of the rows, as of a batch that was left out; or where the
    gradient is finite at none of them: both may be written so where neither was measured.
    """
    if not run.has("grad_norm") or run.has("loss_scale") or len(bad) <= _OFTEN * to_float(known.sum()):
        return bad[:0]
    broken = (~run["grad_norm"].cast(float).is_finite().fill_null(True)).filter(known).gather(bad)
    return bad[:0] if broken.all() else bad.filter(broken)
