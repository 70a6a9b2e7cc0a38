"""The scores of a log: which columns they are, and where one stood in its last rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from tutor import signals
from tutor.detectors import Finding, Smoothed
from tutor.detectors.windows import finite
from tutor.run import Run, names, scoring, to_float
from tutor.words import plain

_SCORE = re.compile(
    r"(?<![a-z])(acc|accuracy|f1|auc|auroc|roc|mcc|m?iou|dice|precision|recall|bleu|rouge|r2|wer|cer)(?![a-z])"
)
"""Columns that score answers: the same answer to every input gives the same score at every evaluation."""
_OTHER = re.compile(
    r"(?<![a-z])(best|max|min|top_?5|top_?k|train|training|loss|(?:win|success)[ _-]?rate)(?![a-z])",
    re.IGNORECASE,
)
"""Words of a column that only rises by design, isn't about held-out data, or whose tasks may grow harder."""
KEPT = re.compile(r"(?<![a-z])(best|max|min|top)(?![a-z])")
"""Words of a score that is the best so far, which stays what it is by design."""
LENGTH = 40
"""Characters of a column's name that a sentence has room for."""


@dataclass(frozen=True)
class Score:
    """A score in the last rows that have it: its median, how far it moves, and at which row they begin."""

    name: str
    value: float
    moves: float
    count: int
    scored: int
    row: int

    def found(self, run: Run, outcome: str, **more: object) -> Finding:
        """The finding that it decides, with its course, which no panel draws by itself."""
        since = int(run.steps[self.row])
        known = {"score": plain(self.name)[:LENGTH], "value": self.value}
        known |= {"count": self.count, "scored": self.scored, "since": since}
        there = run.frame[self.name].is_not_null()
        curve = Smoothed(self.name, run.steps.filter(there), run.frame[self.name].filter(there).cast(float))
        return Finding(outcome, None, known | more, None, (since, int(run.steps[-1])), curve=curve)


def answer_scores(run: Run) -> Iterator[tuple[str, pl.Series]]:
    """The columns that score answers, those of training too, but not the best so far.

    Of each a value for every row of the run, null where that has none, or none that is finite.
    """
    for name in run.frame.columns:
        scores = (
            _SCORE.search(names.spelled(name))
            and not KEPT.search(names.spelled(name))
            and not signals.find(name)
        )
        if scores and run.frame[name].dtype.is_numeric():
            yield name, finite(run.frame[name])


def scores_and_rewards(run: Run) -> Iterator[tuple[str, pl.Series]]:
    """The columns of rewards, and of scores that aren't of training.

    Of each the finite values alone, without nulls: the place of a value among them is no row of the run.
    """
    for name in run.frame.columns:
        held_out = scoring.is_score(name) and not _OTHER.search(names.spelled(name))
        scores = scoring.is_reward(name) or held_out
        if scores and not signals.find(name) and run.frame[name].dtype.is_numeric():
            yield name, finite(run.frame[name]).drop_nulls()


def in_last(name: str, known: pl.Series, rows: pl.Series, count: int) -> Score:
    """A score in the last `count` of the `rows` that have it."""
    later = rows[-count:]
    values = known.gather(later)
    moves = to_float(values.max()) - to_float(values.min())
    return Score(name, to_float(values.median()), moves, count, len(rows), int(later[0]))


def share_of(score: Score) -> float:
    """What a score is as a share of 1, which percents are logged for."""
    return score.value / scoring.whole(score.value)
