"""Hugging Face's Trainer: `trainer_state.json`, and the dictionaries that it prints.

Its `loss` is the mean since the row before, in which a NaN is by default replaced by the mean so far
(`logging_nan_inf_filter`): a NaN then shows as a loss of 0 beside a gradient norm of NaN. The norm is that of
the last step before clipping, and shows NaN. Since version 5 the filter holds for evaluation too. axolotl's
and TRL's logs are the same, with columns of their own.
Source: transformers/trainer.py (`_maybe_log_save_evaluate`, `evaluation_loop`)
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import packed
from tutor.readers.common.lines import NUMBER, Line, Lines, TextLog, has
from tutor.readers.common.rows import configured, run_of_frame, table_of
from tutor.readers.common.trainers import HUGGING_FACE
from tutor.readers.source import Source, head
from tutor.run import BadRunError, Remark, Run, limits

if TYPE_CHECKING:
    import polars as pl

STATE = "trainer_state.json"
_SETTINGS = ("max_steps", "num_train_epochs", "train_batch_size")
AGGREGATIONS = {"loss": HUGGING_FACE}
_TOGETHER = ""  # the column of what stands together: no log names one so

_PRINTED = re.compile(rf"\{{(?=')[^{{}}]*'loss': '?{NUMBER}'?[^{{}}]*\}}", re.IGNORECASE)
_DICTIONARY = r"\{'[^{}]*\}"
_PAIR = rf"'(?P<name>[^']+)': '?(?P<value>{NUMBER})'?"


@dataclass(frozen=True)
class State:
    """A run in a `trainer_state.json`."""

    path: Path
    format: str = "a Trainer's trainer_state.json"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The file says nothing of what the run was meant to be before it is read whole."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. Raises BadRunError where the JSON is broken."""
        try:
            state = json.loads(packed.read(self.path, limits.PACKED)[0])
            history = state["log_history"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BadRunError(f"{self.path} is no whole trainer_state.json: was it cut?") from None
        if not isinstance(history, list):
            raise BadRunError(f"{self.path} has no list of rows under log_history")
        remarks: list[Remark] = []
        rows = table_of((row for row in history if isinstance(row, dict)), remarks)
        return run_of_frame(
            _tidy(rows),
            self.path,
            name=self.path.resolve().parent.name or STATE,
            aggregations=AGGREGATIONS,
            remarks=remarks,
            manifest=configured((key, state.get(key)) for key in _SETTINGS),
        )


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows without the summary at the end; several sets' evaluations, a row each, as their mean.

    A second evaluation at one step is of the best checkpoint, loaded again at the end: it isn't the run's.
    """
    import polars as pl  # only who reads a log pays for it

    if "train_runtime" in rows.columns:
        rows = rows.filter(pl.col("train_runtime").is_null())
    losses = [name for name in rows.columns if name.startswith("eval_") and name.endswith("_loss")]
    if not losses:
        return rows
    if "step" not in rows.columns:
        rows = rows.with_columns(step=pl.lit(None, pl.Float64))
    held_out = rows.select(pl.any_horizontal(pl.col(losses).is_not_null())).to_series()
    both = pl.DataFrame({"step": rows["step"], "held out": held_out})
    rows = rows.with_columns(both.select(pl.struct(pl.all()).rle_id().alias(_TOGETHER)).to_series())
    evaluated = (
        rows.filter(held_out).group_by(_TOGETHER, maintain_order=True).agg(pl.all().drop_nulls().first())
    )
    evaluated = evaluated.unique("step", keep="first", maintain_order=True)
    evaluated = evaluated.with_columns(pl.mean_horizontal(losses).alias("eval_loss"))
    tidy = pl.concat([rows.filter(~held_out), evaluated], how="diagonal")
    return tidy.sort(_TOGETHER, maintain_order=True).drop(_TOGETHER)


def _numbered(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The printed dictionaries; they have no step, so a row of the loss counts as one."""
    import polars as pl  # only who reads a log pays for it

    counted = pl.col("loss").is_not_null().cum_sum() if "loss" in rows.columns else pl.lit(0)
    return _tidy(rows.with_columns(counted.cast(pl.Float64).alias("step")))


_LINES = Lines((Line(r"^(?P<step>)", _PAIR, str),), each=_DICTIONARY, tidy=_numbered)


def sources(path: Path) -> list[Source]:
    """A trainer_state.json, the folder of a checkpoint with one in it, or what the Trainer printed."""
    if (path / STATE).is_file():
        path = path / STATE
    if not path.is_file():
        return []
    begin = head(path)
    if begin.lstrip().startswith(b"{") and b'"log_history"' in begin:
        return [State(path)]
    if has(path, _PRINTED):
        return [TextLog(path, "what a Trainer printed", _LINES, AGGREGATIONS)]
    return []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
