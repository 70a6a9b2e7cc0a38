"""Hugging Face's Trainer: `trainer_state.json`, and the dictionaries that it prints.

Its `loss` is the mean since the row before, in which a NaN is by default replaced by the mean so far
(`logging_nan_inf_filter`): a NaN then shows as a loss of 0 beside a gradient norm of NaN. The norm is that of
the last step before clipping, and shows NaN. Since version 5 the filter holds for evaluation too. axolotl's
and TRL's logs are the same, with columns of their own.
Under DeepSpeed's fp16 a message tells each step that an overflow skipped.

Each checkpoint holds the history up to it, so that several of one run tell it in the longest.
Source: transformers/trainer.py (`_maybe_log_save_evaluate`, `evaluation_loop`)
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, has
from tutor.readers.common.rows import configured, number, run_of_frame, table_of
from tutor.readers.common.textlog import TextLog
from tutor.readers.common.trainers import HUGGING_FACE
from tutor.readers.common.wholejson import cut_off, load
from tutor.readers.deepspeed import SCALE
from tutor.readers.jsonlines import LLAMA_FACTORYS, of_llama_factory
from tutor.readers.source import Source, head
from tutor.run import BadRunError, Chosen, Remark, Run, limits
from tutor.run.names import HEADINGS
from tutor.runfolder import is_run
from tutor.words import plain

if TYPE_CHECKING:
    import polars as pl

STATE = "trainer_state.json"
_SETTINGS = ("max_steps", "num_train_epochs", "train_batch_size")
AGGREGATIONS = {"loss": HUGGING_FACE}
_CHECKPOINT = re.compile(r"checkpoint-([0-9]{1,15})[\\/]*$")
_TOGETHER = ""  # the column of what stands together: no log names one so

_COUNTER = r"[^{}\n]*\b(?:epoch|step|iter(?:ation)?)\b[\s:=#\[(]*[0-9]+(?:/[0-9]+)?[^{}\n%0-9]{0,12}\{'"
_PRINTED = re.compile(
    rf"^(?!{_COUNTER})[^\n]*?\{{(?=')[^{{}}]*'loss': '?{NUMBER}'?[^{{}}]*\}}", re.IGNORECASE | re.MULTILINE
)
"""A line with a dictionary that has a loss: of a Trainer, which has its counter in it or nowhere; a loop of
somebody's own prints it behind its counter.
"""
_EVALUATED = re.compile(rf"\{{(?=')[^{{}}\n]*'eval_loss': '?{NUMBER}'?[^{{}}\n]*\}}", re.IGNORECASE)
_OUTSIDE = re.compile(r"^[^{\n]*loss", re.IGNORECASE | re.MULTILINE)
"""A dictionary with that of an evaluation, and a line that speaks of a loss outside of any."""
_HISTORY, _LOSS = re.compile(rb"\s*\[\s*\{'"), re.compile(rb"'(?:eval_)?loss': ")
"""How the history begins where it was printed whole, and what shows that it is one."""
_DICTIONARY = r"\{'[^{}]*\}"
_PAIR = rf"'(?P<name>[^']+)': '?(?P<value>{NUMBER})'?"


@dataclass(frozen=True)
class State:
    """A run in a `trainer_state.json`.

    Attributes:
        path: that file or, where several in a folder tell one run, the folder.
        longest: the one of them that is read; None where `path` is.
    """

    path: Path
    longest: Path | None = None
    format: str = "a Trainer's trainer_state.json"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The file says nothing of what the run was meant to be before it is read whole."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; one that is cut short as far as it goes. Raises BadRunError."""
        file = self.longest or self.path
        state, history, cut = _told(file)
        remarks: list[Remark] = []
        rows = table_of((_flat(row) for row in history if isinstance(row, dict)), remarks)
        if "train_runtime" in rows.columns and len(rows) == 1:
            remarks.append(Remark("only_summary"))
        folder = self.path if self.longest else self.path.resolve().parent
        run = run_of_frame(
            _tidy(rows),
            self.path,
            name=folder.resolve().name or STATE,
            aggregations=AGGREGATIONS,
            remarks=remarks,
            manifest=configured((key, state.get(key)) for key in _SETTINGS),
            file=file,
        )
        run = replace(run, chosen=_chosen(state, history))
        return cut_off(run) if cut else run


def _told(file: Path) -> tuple[dict[str, object], list[object], bool]:
    """What the file says, its rows, and whether they end early. Raises BadRunError where it is broken."""
    try:
        given, cut = load(file, limits.PACKED)
        state = {"log_history": given} if isinstance(given, list) else given
        history = state["log_history"] if isinstance(state, dict) else None
    except (ValueError, KeyError, RecursionError):
        raise BadRunError(f"{file} is no whole trainer_state.json: was it cut?") from None
    if not isinstance(state, dict) or not isinstance(history, list):
        raise BadRunError(f"{file} has no list of rows under log_history")
    if cut and not history:
        raise BadRunError(f"{file} is no whole trainer_state.json: was it cut?")
    return {**state}, history, cut


def _flat(row: dict[str, object]) -> dict[str, object]:
    """The row, with what a metric of `evaluate` returned, `{'accuracy': 0.5}`, as columns of its own."""
    found: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            alone = len(value) == 1
            found |= {key if alone else f"{key}/{name}": one for name, one in value.items()}
        else:
            found[key] = value
    return found


def _chosen(state: dict[str, object], history: list[object]) -> Chosen | None:
    """The checkpoint that the Trainer calls its best. Its file doesn't say by which metric: by that whose
    value there is the best one's.
    """
    place, value = state.get("best_model_checkpoint"), number(state.get("best_metric"))
    named = _CHECKPOINT.search(place) if isinstance(place, str) else None
    if named is None:
        return None
    step = int(named[1])
    there = (row for row in history if isinstance(row, dict) and row.get("step") == step)
    held_out = ((key, number(its)) for row in there for key, its in row.items() if key.startswith("eval_"))
    metric = next((key for key, its in held_out if its is not None and its == value), "")
    return Chosen(step, plain(metric), value)


def states(folder: Path) -> list[State]:
    """The runs of the checkpoints in a folder: one whose rows are the first of another's is the same run.

    Of a folder that is a run's own those in it, whatever they are called, are taken for checkpoints, too.
    """
    last = folder / STATE
    inner = "*" if last.is_file() else "checkpoint-*"
    checkpoints = [] if is_run(folder) else sorted(folder.glob(f"{inner}/{STATE}"))
    if not checkpoints:
        return [State(last)] if last.is_file() else []
    files = [last, *checkpoints] if last.is_file() else checkpoints
    longest: dict[Path, tuple[int, ...]] = {}
    for file, rows in sorted(((file, _rows(file)) for file in files), key=lambda one: -len(one[1])):
        if not any(longer[: len(rows)] == rows for longer in longest.values()):
            longest[file] = rows
    if len(longest) > 1:
        return [State(file) for file in files if file in longest]
    return [State(folder, file) for file in longest]


def _rows(file: Path) -> tuple[int, ...]:
    """A key for each row of a file; none where it can't be read."""
    about = file.stat()
    return _keys(file, (about.st_ino, about.st_size, about.st_mtime_ns))


@lru_cache(maxsize=1024)  # each checkpoint is asked for whenever the next one has come
def _keys(file: Path, changed: Hashable) -> tuple[int, ...]:  # noqa: ARG001 (one that changed is read anew)
    try:
        return tuple(hash(repr(row)) for row in _told(file)[1])
    except (BadRunError, OSError):
        return ()


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows without the summary at the end, unless it is all; the evaluations of several sets in one row.

    A second evaluation at one step is of the best checkpoint, loaded again at the end: it isn't the run's.
    """
    import polars as pl  # only who reads a log pays for it

    if "train_runtime" in rows.columns and len(rows) > 1:
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
    of_one = [name for name in (HEADINGS, "step") if name in evaluated.columns]
    evaluated = evaluated.unique(of_one, keep="first", maintain_order=True)
    tidy = pl.concat([rows.filter(~held_out), evaluated], how="diagonal")
    return tidy.sort(_TOGETHER, maintain_order=True).drop(_TOGETHER)


def _numbered(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The printed dictionaries with the overflows before them, which say what they skipped.

    They have no step: a row of the loss counts as one, and so does an overflow, but that the loss of its step
    follows it; where no loss was logged an evaluation does. Each training is counted by itself.
    """
    import polars as pl  # only who reads a log pays for it

    nothing = pl.repeat(None, len(rows), dtype=pl.Float64, eager=True)
    loss, scale = (rows[name] if name in rows.columns else nothing for name in ("loss", "loss_scale"))
    logged, skipped = loss.is_not_null(), scale.is_not_null()
    if not logged.any() and "eval_loss" in rows.columns:
        logged = rows["eval_loss"].is_not_null()
    begun = skipped | (logged & ~skipped.shift().fill_null(False))
    rows = rows.with_columns(begun.cum_sum().cast(pl.Float64).alias("step"))
    trainings = _trainings(rows)
    if trainings[-1]:
        before = (rows["step"] - begun.cast(pl.Float64)).alias("before")
        rows = rows.with_columns(trainings, before)
        rows = rows.with_columns(pl.col("step") - pl.col("before").first().over(HEADINGS)).drop("before")
    if skipped.any():
        so_far = rows.select(
            loss_scale=scale.forward_fill(), skipped_steps=skipped.cum_sum().cast(pl.Float64)
        )
        rows = rows.with_columns(so_far.select(pl.when(begun).then(pl.all())))
    return _tidy(rows)


def _trainings(rows: "pl.DataFrame") -> "pl.Series":
    """How many trainings had ended above each row, but for the last one.

    A summary ends each. The next one begins at an earlier epoch or, where none is said, with a loss, and has
    a loss: what is evaluated right below a summary is the model that it sums up, and a training that goes on
    where the summary stood is the same run.
    """
    import polars as pl  # only who reads a log pays for it

    counts = pl.zeros(len(rows), dtype=pl.Int64, eager=True).alias(HEADINGS)
    summed = "train_runtime" in rows.columns and "loss" in rows.columns
    ends = rows["train_runtime"].is_not_null().arg_true().to_list() if summed else []
    for end, following in pairwise([*ends, len(rows)]):
        below = rows[end + 1 : following]
        trained = begins = below["loss"].is_not_null()
        if "epoch" in rows.columns and (ended := rows["epoch"][end]) is not None:
            begins = (below["epoch"] < ended).fill_null(False)
        if begins.any() and trained[begins.arg_max() :].any():
            first = end + 1 + (begins.arg_max() or 0)
            counts += pl.int_range(len(rows), eager=True) >= first
    return counts.alias(HEADINGS)


_LINES = Lines(
    (Line(SCALE), Line(r"^(?P<step>)", _PAIR, str)), each=rf"{SCALE}|{_DICTIONARY}", tidy=_numbered
)


def sources(path: Path) -> list[Source]:
    """A trainer_state.json, the folder of a checkpoint or of several, or what the Trainer printed."""
    if not path.is_file():
        return [] if of_llama_factory(path / LLAMA_FACTORYS) else [*states(path)]
    begin = head(path)
    if begin.lstrip().startswith(b"{") and b'"log_history"' in begin:
        return [State(path)]
    if _HISTORY.match(begin) and _LOSS.search(begin) and _rows(path):
        return [State(path, format="a Trainer's log_history, as Python prints it")]
    if has(path, _PRINTED) or (has(path, _EVALUATED) and not has(path, _OUTSIDE)):
        return [TextLog(path, "what a Trainer printed", _LINES, AGGREGATIONS, numbered=False)]
    return []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
