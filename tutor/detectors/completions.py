"""What reinforcement learning of a language model logs of its answers: that they earn alike, or are cut off.

Source: TRL's docs of its GRPOTrainer, "Logged metrics"; verl's `response_length/clip_ratio`
"""

from tutor.detectors import Finding, Smoothed
from tutor.detectors.grouped import Enough
from tutor.detectors.objective import earnings
from tutor.detectors.windows import finite
from tutor.run import Run, scoring, to_float
from tutor.words import plain

COMPLETIONS = ("column", "share", "count", "top", "best", "gain", "rows", "bound")
_ROWS = 4
"""Rows, each a mean over many groups, whose median tells: a constant of the method."""


def of_completions(run: Run, least: Enough) -> Finding | None:
    """The finding that most answers teach nothing: "no-contrast" where in the share `least.alike` of the
    groups or more all earn the same, "cut-off" where the share `least.cut` of them is, in the median; None
    elsewhere.

    Its `column`, the `share` in percent, and in how many rows (`count`); and between which shares it lies. Of
    groups that earn alike none where a reward has risen: they may all be right by now.
    """
    kinds = (("no-contrast", scoring.is_alike, least.alike), ("cut-off", scoring.is_cut_off, least.cut))
    for outcome, is_one, bound in kinds:
        for name in filter(is_one, run.frame.columns):
            there = finite(run.frame[name]).is_not_null()
            shares = run.frame[name].filter(there).cast(float)
            share = to_float(shares.median() or 0.0)
            if len(shares) < _ROWS or share < bound or (is_one is scoring.is_alike and earnings(run)):
                continue
            top, best = to_float(shares.max()), to_float(shares.min())
            facts = {"column": plain(name), "share": 100 * share, "count": len(shares), "bound": 100 * bound}
            facts |= {"top": top, "best": best, "gain": 100 * (1 - best / top), "rows": len(shares)}
            seen = (int(run.steps[0]), int(run.steps[-1]))
            curve = Smoothed(name, run.steps.filter(there), shares)
            return Finding(outcome, None, facts, bound, seen, measured=share, bound=bound, curve=curve)
    return None
