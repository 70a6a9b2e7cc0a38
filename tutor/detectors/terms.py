"""The other losses of training that a log holds beside the one that is read: terms of it, and divergences."""

from tutor.detectors import Finding, Smoothed
from tutor.detectors.scores import LENGTH
from tutor.run import Run, names
from tutor.words import plain

_TWICE = 2
"""One row may lie on the edge of what a number holds: a constant of the method."""


def another_not_finite(run: Run) -> Finding | None:
    """The finding, "another", that such a column is NaN or Inf in `_TWICE` rows or more after a finite one.

    One that is so in all its rows is of nothing that the run has.
    """
    for name in run.frame.columns:
        if not names.is_term(name) or not run.frame[name].dtype.is_numeric():
            continue
        known = run.frame[name].is_not_null()
        steps, values = run.steps.filter(known), run.frame[name].filter(known).cast(float)
        finite = values.is_finite()
        bad = (~finite).arg_true()
        after = bad.filter(bad > (finite.arg_max() or 0))
        if finite.any() and len(after) >= _TWICE:
            step, last = (int(steps[int(after[end])]) for end in (0, -1))
            facts = {"term": plain(name)[:LENGTH], "step": step, "last": last}
            facts |= {"value": float(values[int(after[0])]), "count": len(bad), "rows": len(values)}
            return Finding("another", step, facts, curve=Smoothed(name, steps, values))
    return None
