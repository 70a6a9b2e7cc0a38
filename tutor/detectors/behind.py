"""A held-out score that stands still while the same score goes on rising on the training data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tutor.detectors import Finding, Smoothed
from tutor.detectors.grouped import Rise
from tutor.detectors.windows import finite
from tutor.run import Run, names, to_float
from tutor.words import cut, plain

if TYPE_CHECKING:
    import polars as pl

_WHOLE = 1.5
"""Scores above it are in percent, others parts of 1."""


def left_behind(run: Run, chance: Rise, last: int) -> Finding | None:
    """The finding that a held-out score lies `chance.apart` below that of training, which left it behind.

    Since the held-out one came within `chance.near` of its best level, a median of `last` rows, the other has
    risen by `chance.since` or more, over `chance.evaluations` rows or more. All are parts of the whole score.
    """
    found = [one for pair in _pairs(run) if (one := _behind(run, *pair, chance, last))]
    return max(found, key=lambda one: one.measured or 0.0, default=None)


def _pairs(run: Run) -> Iterator[tuple[str, str]]:
    """The columns of one score on the training data and on held-out data."""
    columns = run.frame.columns
    scores = [name for name in columns if names.is_score(name) and run.frame[name].dtype.is_numeric()]
    held_out = {names.measured(name): name for name in reversed(scores) if names.says_held_out(name)}
    for name in scores:
        beside = held_out.get(names.measured(name))
        if beside and not names.says_held_out(name):
            yield name, beside


def _behind(run: Run, trained: str, held_out: str, chance: Rise, last: int) -> Finding | None:
    known = finite(run.frame[trained]).is_not_null() & finite(run.frame[held_out]).is_not_null()
    steps, learned, kept = (
        column.filter(known)
        for column in (run.steps, finite(run.frame[trained]), finite(run.frame[held_out]))
    )
    whole = 100.0 if len(kept) and max(to_float(learned.max()), to_float(kept.max())) > _WHOLE else 1.0
    levels: pl.Series = kept.rolling_median(last)
    if not levels.count():
        return None
    near = (levels >= to_float(levels.max()) - chance.near * whole).fill_null(False)
    still = near.arg_max() or 0
    before, after = float(learned[still]), to_float(learned[-last:].median())
    end = float(levels[-1])
    gap = (after - end) / whole
    if len(kept) - still <= chance.evaluations or gap < chance.apart or after - before < chance.since * whole:
        return None
    facts = {
        "score": plain(cut(held_out)),
        "other": plain(cut(trained)),
        "step": int(steps[still]),
        "held": end,
        "before": before,
        "after": after,
        "apart": 100 * gap,
        "bound": 100 * chance.apart,
    }
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), Smoothed(held_out, steps, kept)
    return Finding(
        "left-behind", facts["step"], facts, None, seen, measured=gap, bound=chance.apart, curve=curve
    )
