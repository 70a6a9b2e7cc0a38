"""Boosted trees: what XGBoost, LightGBM and CatBoost print, a line for each round that is evaluated.

`[500]	train-logloss:0.16	eval-logloss:0.42`, `[500]	training's l2: 0.16	valid_1's l2: 0.42`,
`500:	learn: 0.16	test: 0.42	best: 0.41 (450)`. A value is that of its whole set after the round, and
NaN shows. The loss is the first metric that falls where the model is better; of several sets that aren't
trained on, the last, by which XGBoost stops early, is held out. A set `validation_0` may be any: beside a
`validation_1` that it leaves behind it is what is trained on, and called so, as in XGBoost's examples; else
it counts as held out.
Sources: xgboost/callback.py (`EvaluationMonitor`), xgboost's doc/parameter.rst (`eval_metric`),
lightgbm/callback.py (`_format_eval_result`), LightGBM's docs/Parameters.rst (`metric`),
catboost/libs/logging/profile_info.cpp
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.guessed import in_words, renamed, unsaid
from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.rows import run_of_frame
from tutor.readers.source import Source
from tutor.run import Remark, Run

if TYPE_CHECKING:
    import polars as pl

_NAME = r"(?:[a-z0-9_.]+(?:-[a-z0-9_@.]+)+|[a-z0-9_.]+'s (?:train |valid )?[a-z0-9_@.]+)"
_ROUND = rf"\[(?P<step>[0-9]+)\]\s+{_NAME}: ?{NUMBER}(?:[ \t\r+]|$)"
_PAIR = rf"(?P<name>{_NAME}): ?(?P<value>{NUMBER})"
_CATBOOSTS = rf"^(?P<step>[0-9]+):\s+learn: (?P<learn>{NUMBER})(?:\s+test: (?P<test>{NUMBER}))?\s"
_LINES = Lines((Line(_ROUND, _PAIR, str), Line(_CATBOOSTS)))
_PRINTED = either(_ROUND, _CATBOOSTS)

_LOSS = re.compile(
    r".*[- ](?:\w*logloss|\w*nloglik|deviance|rmsle|rmse|mae|mape|mphe|l1|l2|huber|fair|poisson|quantile"
    r"|gamma|tweedie|cross_entropy\w*|kullback_leibler)(?:@[0-9.]+)?|learn|test"
)
_SHARE = re.compile(r".*-m?error(?:@[0-9.]+)?")  # of wrong answers: the loss where none is printed
_CATBOOSTS_SETS = ("learn", "test")
_TRAINED_ON = re.compile(r"train|learn|\S+ train ")
_ANY, _OTHER = "validation_0-", "validation_1-"
_BEHIND, _FEW = 0.8, 5
"""Of a metric, the share of the other set's that one comes down to at least as it leaves that behind, counted
from where both began; and rounds, at least, that show it."""


@dataclass(frozen=True)
class Rounds:
    """A run in such lines."""

    path: Path
    format: str = "what a library of boosted trees printed"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The lines say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. A signal that the user says a column is isn't looked for."""
        from tutor.readers.common.extract import frame_of  # polars: only who reads a log pays for it

        remarks: list[Remark] = []
        rows = frame_of(self.path, _LINES, remarks)
        taken = unsaid(_signals(rows), self.path, rows.columns)
        if taken:
            remarks.append(Remark("printed", {"taken": in_words(taken)}))
        if taken.get("loss", "").startswith(_ANY):
            scores = [
                column for column in rows.columns if column.startswith(_ANY) and column not in taken.values()
            ]
            named = {column: column.replace(_ANY, "train-") for column in scores}
            rows = rows.rename({column: name for column, name in named.items() if name not in rows.columns})
        return run_of_frame(renamed(rows, taken), self.path, name=self.path.name, remarks=remarks)


def _signals(rows: "pl.DataFrame") -> dict[str, str]:
    """By signal the columns that are the loss of training and the held-out one, of one metric."""
    losses = [column for column in rows.columns if _LOSS.fullmatch(column.lower())]
    if not losses:  # a share that is 0 throughout is no loss of 0
        shares = [column for column in rows.columns if _SHARE.fullmatch(column.lower())]
        losses = [column for column in shares if (rows[column].cast(float) != 0).any()]
    of_first = [column for column in losses if _metric(column) == _metric(losses[0])]
    trained = [one for one in of_first if _TRAINED_ON.match(one.lower())]
    trained = trained or [one for one in of_first if _leaves_behind(rows, one)]
    # The last of each counts: of a set that is trained on there is one.
    return {"loss" if column in trained else "val_loss": column for column in of_first}


def _leaves_behind(rows: "pl.DataFrame", column: str) -> bool:
    """Whether `validation_0` comes down, and `validation_1` doesn't come along."""
    other = column.replace(_ANY, _OTHER)
    if other == column or other not in rows.columns or len(rows) < _FEW:
        return False
    shares = rows[column].cast(float) / rows[other].cast(float)
    third = len(shares) // 3
    began, ended = shares[0], shares[-third:].median()
    if not isinstance(began, float) or not isinstance(ended, float):
        return False
    return math.isfinite(began) and ended < _BEHIND * began


def _metric(column: str) -> str:
    """What is measured, without the set; "" where CatBoost names the set alone."""
    return "" if column in _CATBOOSTS_SETS else re.split("[- ]", column)[-1]


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [Rounds(path)] if has(path, _PRINTED) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
