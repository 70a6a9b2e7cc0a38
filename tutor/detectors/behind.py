"""A held-out score that stands still, or never rises, while the same one goes on rising in training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tutor.catalog import cut
from tutor.detectors import Finding, Smoothed
from tutor.detectors.grouped import Rise, Scores
from tutor.detectors.trends import ordered
from tutor.detectors.windows import finite
from tutor.run import Run, names, scoring, to_float
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl


_HIGH = 0.8
"""A share of the whole score from which on little is left to rise: a constant of the method."""
_IN_ORDER = 1.0
"""Deviations from no trend from which on a few may rise: a constant of the method."""
BEHIND = ("score", "other", "step", "held", "before", "after", "apart", "bound")


def left_behind(run: Run, chance: Rise, scores: Scores, last: int, of_level: float) -> Finding | None:
    """The finding that a held-out score lies `scores.apart` below that of training, which left it behind.

    Since the held-out one came within `scores.near` of its best level, a median of `last` rows, the other has
    risen by `scores.since` or more, over more than `chance.evaluations` rows. All are parts of the whole
    score. Not where the validation loss goes on to fall, by `of_level` in the later half of its evaluations:
    what is learned then serves held-out data, too.
    """
    if _falls_on(run, last, of_level):
        return None
    found = [one for pair in _pairs(run) if (one := _behind(run, *pair, chance, scores, last))]
    return max(found, key=lambda one: one.measured or 0.0, default=None)


def never_follows(run: Run, chance: Rise, scores: Scores, last: int, of_level: float) -> Finding | None:
    """The finding that a held-out score never rises while that of training does: "never-follows".

    Over `chance.evaluations` rows or more the median of its last third lies no more than `scores.near` above
    that of the first, and it doesn't rise in order (`chance.few`), while the other rises by `scores.since` or
    more and ends `scores.gap` above it; `scores.apart`, where the validation loss goes on to fall, or isn't
    logged, or the score began so high that little was left to rise. Of one that never leaves one half, which
    a coin gives, by more than `scores.since`, `scores.gap` is enough, in whatever order. Of fewer rows, twice
    `last` tell where both are `scores.apart`, the rise and the gap. All are parts of the whole score.
    """
    falls_on = _falls_on(run, last, of_level)
    gap = scores.gap if run.has("val_loss") and not falls_on else scores.apart
    rows = chance.evaluations if falls_on else 2 * last
    found = (_never_followed(run, *pair, chance, scores, rows=rows, gap=gap) for pair in _pairs(run))
    return next((one for one in found if one), None)


def _falls_on(run: Run, last: int, of_level: float) -> bool:
    """Whether the validation loss, if there is one, ends below where the later half of it began."""
    known = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if known is None or len(known) < 2 * last:
        return False
    later = known[len(known) // 2 :]
    each = min(last, len(later) // 2)
    begun, ended = to_float(later[:each].median()), to_float(later[-each:].median())
    return begun - ended > of_level * abs(begun)


def _pairs(run: Run) -> Iterator[tuple[str, str]]:
    """The columns of one score on the training data and on held-out data."""
    numeric = (name for name in run.frame.columns if run.frame[name].dtype.is_numeric())
    shares = [name for name in numeric if scoring.is_share(name)]
    held_out = {names.measured(name): name for name in reversed(shares) if names.says_held_out(name)}
    for name in shares:
        beside = held_out.get(names.measured(name))
        if beside and not names.says_held_out(name):
            yield name, beside


def _both(run: Run, trained: str, held_out: str) -> tuple[pl.Series, pl.Series, pl.Series]:
    """The steps at which both scores are known, and these."""
    learned, kept = finite(run.frame[trained]), finite(run.frame[held_out])
    known = learned.is_not_null() & kept.is_not_null()
    return run.steps.filter(known), learned.filter(known).cast(float), kept.filter(known).cast(float)


def _never_followed(
    run: Run, trained: str, held_out: str, chance: Rise, scores: Scores, *, rows: int, gap: float
) -> Finding | None:
    steps, learned, kept = _both(run, trained, held_out)
    if len(kept) < rows:
        return None
    third = len(kept) // 3
    (began, held), (before, after) = (
        (to_float(some[:third].median()), to_float(some[-third:].median())) for some in (kept, learned)
    )
    above, below = (scoring.whole(to_float(one.max())) for one in (learned, kept))
    gone = after / above - held / below
    tossed = to_float((kept / below - 1 / 2).abs().max()) <= scores.since
    few = len(kept) < chance.evaluations
    least = scores.apart if few or began >= _HIGH * below else gap
    least = scores.gap if tossed and not few else least
    stays = held - began <= scores.near * below and (
        tossed or ordered(kept) < (_IN_ORDER if few else chance.few)
    )
    rises = after - before >= (scores.apart if few else scores.since) * above
    if not (stays and rises) or gone < least:
        return None
    facts = {
        "score": plain(cut(held_out)),
        "other": plain(cut(trained)),
        "step": int(steps[0]),
        "rows": len(kept),
    }
    facts |= {"began": began, "held": held, "before": before, "after": after}
    facts |= {"apart": 100 * gone, "bound": 100 * least}
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), Smoothed(held_out, steps, kept)
    return Finding("never-follows", None, facts, None, seen, measured=gone, bound=least, curve=curve)


def _behind(run: Run, trained: str, held_out: str, chance: Rise, scores: Scores, last: int) -> Finding | None:
    steps, learned, kept = _both(run, trained, held_out)
    if len(kept) < last:
        return None
    above, below = (scoring.whole(to_float(one.max())) for one in (learned, kept))
    levels: pl.Series = kept.rolling_median(last)
    near = (levels >= to_float(levels.max()) - scores.near * below).fill_null(False)
    still = near.arg_max() or 0
    before = to_float(learned[max(0, still - last + 1) : still + 1].median())
    after, end = to_float(learned[-last:].median()), float(levels[-1])
    gap = after / above - end / below
    if len(kept) - still <= chance.evaluations or gap < scores.apart or after - before < scores.since * above:
        return None
    facts = {
        "score": plain(cut(held_out)),
        "other": plain(cut(trained)),
        "step": int(steps[still]),
        "held": end,
        "before": before,
        "after": after,
        "apart": 100 * gap,
        "bound": 100 * scores.apart,
    }
    seen, curve = (int(run.steps[0]), int(run.steps[-1])), Smoothed(held_out, steps, kept)
    return Finding(
        "left-behind", facts["step"], facts, None, seen, measured=gap, bound=scores.apart, curve=curve
    )
