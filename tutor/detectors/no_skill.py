"""Scores that say no more than chance would: of variance explained, of ranking, or next to nothing right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.grouped import Guess
from tutor.detectors.scores import answer_scores, in_last
from tutor.detectors.trends import ordered, share_fallen
from tutor.detectors.windows import FEWEST, finite
from tutor.run import Run, names, scoring, to_float

if TYPE_CHECKING:
    import polars as pl

_STRICT = re.compile(r"(?<![a-z])(exact|em|seq|sequence|sentence|full|joint|whole)(?![a-z])")
"""Words of a score that only an answer counts for which is right in all of its parts."""
_WRONG = re.compile(r"(?<![a-z])(err|error|errors|stderr|std|var|attack|adv|asr)(?![a-z])")
"""Words of a score that is the lower the better, or says how sure another is."""
_ELSEWHERE = 0.05
"""A score that comes so far tells that answers are right: a constant of the method."""
_LEARNED = 0.25
"""By such a share of its first third a validation loss has fallen that learns: a constant of the method."""
_ALL = 100
"""All words, in percent."""
_MOST = 1.5
"""Errors for each word, as a share, beyond which they hardly lie near one: a constant of the method."""
_LONG = 4 * FEWEST
"""Evaluations after which a recogniser that began from nothing has some words right."""
_COSTLY = 1.0
"""What answers cost, in nats, of which some are right already: a constant of the method."""
_DETECTS = re.compile(r"(?<![a-z])m_?ap[0-9]*")
"""The score of a detector, which finds nothing in its first epochs: it takes twice as many evaluations."""


def explains_nothing(run: Run, guess: Guess) -> Finding | None:
    """An R² of held-out data that is never above 0, at `FEWEST` evaluations or more.

    Its name as `score`, what it is in the later half, and the `highest`. Where its median rises by more than
    `guess.unmoved` in the last quarter, it is still on its way there.
    """
    for name, known in answer_scores(run):
        if not (scoring.is_explained(name) and names.says_held_out(name)):
            continue
        values = known.drop_nulls()
        if len(values) < FEWEST or to_float(values.max()) > 0:
            continue
        quarter = len(values) // 4
        late, before = (
            to_float(one.median()) for one in (values[-quarter:], values[-2 * quarter : -quarter])
        )
        if late - before > guess.unmoved:
            continue
        score = in_last(name, known, known.is_not_null().arg_true(), max(1, len(values) // 2))
        return score.found(run, "explains-nothing", highest=to_float(values.max()))
    return None


def ranks_by_chance(run: Run, guess: Guess) -> Finding | None:
    """An area under the ROC curve of held-out data that stays at half, at `FEWEST` evaluations or more.

    Its median is half, within `guess.sure`, it is never higher by `guess.unmoved`, and doesn't rise in order.
    Its name as `score`, what it is in the later half, the `lowest` and the `highest`.
    """
    for name, known in answer_scores(run):
        if not (scoring.is_ranking(name) and names.says_held_out(name)):
            continue
        values = known.drop_nulls()
        if len(values) < FEWEST:
            continue
        lowest, highest, usual = (to_float(one) for one in (values.min(), values.max(), values.median()))
        whole = scoring.whole(highest)
        half, near, far = whole / 2, guess.sure * whole, guess.unmoved * whole
        if abs(usual - half) <= near and highest - half < far and ordered(values) < guess.order:
            score = in_last(name, known, known.is_not_null().arg_true(), max(1, len(values) // 2))
            return score.found(run, "ranks-by-chance", lowest=lowest, highest=highest)
    return None


def scores_nothing(run: Run, guess: Guess) -> Finding | None:
    """A score under `guess.nothing` at each of `FEWEST` evaluations or more, and not 0 at all of them.

    Of held-out data, or of rows that are epochs: the first batches of a run may well score nothing. It
    doesn't rise in order, and no other score comes to `_ELSEWHERE`: one of a rare class, or of what was made
    to deceive the model, may be low beside it. Nor does the validation loss fall by `_LEARNED`: the score is
    then computed wrong. Its name as `score`, what it is in the later half, and the `highest`.
    """
    costs = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if costs is not None and len(costs) and share_fallen(costs) >= _LEARNED:
        return None
    scores = {name: finite(run.frame[name]) for name in run.frame.columns if _counts(run, name)}
    if any(to_float(known.max() or 0.0) >= _ELSEWHERE for known in scores.values()):
        return None
    for name, known in scores.items():
        if not (run.counts == "epochs" or names.says_held_out(name)) or _STRICT.search(names.spelled(name)):
            continue
        values = known.drop_nulls()
        least = 2 * FEWEST if _DETECTS.search(names.spelled(name)) else FEWEST
        highest = to_float(values.max()) if len(values) >= least else 0.0
        if 0 < highest < guess.nothing and ordered(values) < guess.order:
            score = in_last(name, known, known.is_not_null().arg_true(), max(1, len(values) // 2))
            return score.found(run, "scores-nothing", highest=highest)
    return None


def errs(run: Run, guess: Guess) -> Finding | None:
    """An error rate of words or characters that says that next to nothing is written down.

    In percent it is never under 100 by more than `guess.skill`, at twice `FEWEST` evaluations or more, of
    which the later half lies near 100. One that is exactly 100, or 1, at each of `FEWEST` says so, too, where
    losses above `_COSTLY` lie still within `guess.above`: a rate of 1 may as well be a good one, in percent.
    A recogniser that is trained from nothing begins so; the loss of this one falls by less than
    `guess.unmoved` in the later half. A share that goes above 1 and never far under it, beside a costly
    validation loss, is no percentage: it says so at `_LONG` evaluations, whatever the loss does, or at
    `FEWEST` where training never came down. Its name as `score`, what it is there, and the `lowest`.
    """
    for name, known in answer_scores(run):
        values = known.drop_nulls()
        if not scoring.is_transcribed(name) or names.LOSS.search(name) or len(values) < FEWEST:
            continue
        later, lowest = values[len(values) // 2 :], to_float(values.min())
        each = values.n_unique() == 1 and lowest in (1.0, _ALL) and _lie_still(run, guess.above)
        near = lowest >= _ALL * (1 - guess.skill) and to_float(later.max()) <= _ALL * (1 + guess.skill)
        percent = near and len(values) >= 2 * FEWEST and not _falls_on(run, guess)
        if each or percent or _never_right(run, values, guess):
            score = in_last(name, known, known.is_not_null().arg_true(), len(later))
            return score.found(run, "errs", lowest=lowest)
    return None


def _never_right(run: Run, rates: pl.Series, guess: Guess) -> bool:
    """Whether rates that are shares say, at `FEWEST` evaluations or more, that hardly a word is right."""
    costs = finite(run["val_loss"]).drop_nulls() if run.has("val_loss") else None
    if costs is None or not len(costs) or to_float(costs.min()) <= _COSTLY:
        return False
    lowest, highest = to_float(rates.min()), to_float(rates.max())
    if not 1 - guess.skill <= lowest < 1 + guess.skill / 10 < highest <= _MOST:
        return False
    loss = finite(run["loss"]).drop_nulls() if run.has("loss") else costs
    return len(rates) >= _LONG or float(loss[-1]) >= float(loss[0])


def _lie_still(run: Run, share: float) -> bool:
    """Whether training and validation, where it was logged, lie above `_COSTLY`, and within a share of it."""
    losses = [finite(run[name]).drop_nulls() for name in ("loss", "val_loss") if run.has(name)]
    extremes = [(to_float(one.min()), to_float(one.max())) for one in losses if len(one)]
    return bool(extremes) and all(low > _COSTLY and high - low <= share * high for low, high in extremes)


def _falls_on(run: Run, guess: Guess) -> bool:
    """Whether the loss falls by the share `guess.unmoved` over the later half of its rows."""
    loss = finite(run["loss"]).drop_nulls()
    return share_fallen(loss[len(loss) // 2 :]) >= guess.unmoved


def _counts(run: Run, name: str) -> bool:
    """Whether the column is a share of right answers, or of what was found, and no cost and no error."""
    spelled = names.spelled(name)
    right = scoring.is_share(name) and not (scoring.is_ranking(name) or _WRONG.search(spelled))
    return right and not names.LOSS.search(spelled) and run.frame[name].dtype.is_numeric()
