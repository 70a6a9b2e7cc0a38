"""A posterior that has collapsed: the divergence of an autoencoder's latents from their prior is gone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tutor.detectors import Finding, Smoothed
from tutor.detectors.grouped import Guess
from tutor.detectors.objective import has_rewards
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, to_float
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

_RECONSTRUCTS = re.compile(r"(?<![a-z])recon[a-z]*(?![a-z])")
"""A name of what an autoencoder pays for what it makes of its latents."""


def collapses(run: Run, guess: Guess) -> Finding | None:
    """The finding, "collapsed", that a divergence beside a reconstruction's loss has come down to nothing.

    It lies under `guess.gone`, and under that share of its highest, at each row of the later half, `FEWEST`
    or more. None where a reward says that it is held against another policy; nor where the reconstruction
    costs half as much at last as when it was gone: something says much of the inputs.
    """
    logged = run.logged("loss")
    columns = logged.frame.columns
    made = [name for name in columns if _RECONSTRUCTS.search(names.spelled(name))]
    if has_rewards(run) or not made or any(_halves(logged.frame[name]) for name in made):
        return None
    for name in columns:
        if not names.is_divergence(name) or not logged.frame[name].dtype.is_numeric():
            continue
        known = finite(logged.frame[name])
        values = known.drop_nulls()
        later, highest = values[len(values) // 2 :], to_float(values.max() or 0.0)
        if len(values) >= 2 * FEWEST and _gone(values, later, guess.gone * min(1.0, highest)):
            there = known.is_not_null()
            steps = logged.steps.filter(there)
            facts = {"term": plain(name), "highest": highest, "level": to_float(later.max())}
            facts |= {"later": len(later), "under": guess.gone * min(1.0, highest)}
            step = int(steps[len(values) // 2])
            curve = Smoothed(name, steps, values)
            seen = (step, int(run.steps[-1]))
            level, bound = facts["level"], facts["under"]
            return Finding("collapsed", step, facts, None, seen, measured=level, bound=bound, curve=curve)
    return None


def _halves(made: pl.Series) -> bool:
    """Whether what is made costs half as much in the last rows as in the middle of the log."""
    known = finite(made).drop_nulls() if made.dtype.is_numeric() else made[:0].cast(float)
    middle, last = (
        to_float(some.median() or 0.0) for some in (known[len(known) // 2 :][:FEWEST], known[-FEWEST:])
    )
    return last < middle / 2


def _gone(values: pl.Series, later: pl.Series, least: float) -> bool:
    """Whether all of the later values lie under a bound, and the highest one came before, none under 0."""
    low, top = to_float(values.min()), to_float(later.max())
    return low >= 0 and top < least and to_float(values.max()) > top
