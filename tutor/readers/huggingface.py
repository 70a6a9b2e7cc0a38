"""Hugging Face's Trainer: `trainer_state.json`, and the dictionaries that it prints.

Its `loss` is the mean since the row before, in which a NaN is by default replaced by the mean so far
(`logging_nan_inf_filter`): a NaN then shows as a loss of 0 beside a gradient norm of NaN. The norm is that of
the last step before clipping, and shows NaN. Since version 5 the filter holds for evaluation too. axolotl's
and TRL's logs are the same, with columns of their own.
Source: transformers/trainer.py (`_maybe_log_save_evaluate`, `evaluation_loop`)
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row, configured, number, run_of
from tutor.readers.common.trainers import HUGGING_FACE
from tutor.readers.source import HEAD, Source
from tutor.run import BadRunError, Run

STATE = "trainer_state.json"
_SETTINGS = ("max_steps", "num_train_epochs", "train_batch_size")
AGGREGATIONS = {"loss": HUGGING_FACE}

_PRINTED = re.compile(rf"\{{(?=')[^{{}}]*'loss': '?{NUMBER}'?[^{{}}]*\}}", re.IGNORECASE)
_PAIR = re.compile(rf"'([^']+)': '?({NUMBER})'?", re.IGNORECASE)


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
            state = json.loads(self.path.read_bytes())
            history = state["log_history"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BadRunError(f"{self.path} is no whole trainer_state.json: was it cut?") from None
        if not isinstance(history, list):
            raise BadRunError(f"{self.path} has no list of rows under log_history")
        rows = _tidy(row for row in history if isinstance(row, dict))
        return run_of(
            rows,
            self.path,
            name=self.path.resolve().parent.name or STATE,
            aggregations=AGGREGATIONS,
            manifest=configured((key, state.get(key)) for key in _SETTINGS),
        )


def _tidy(history: Iterable[Row]) -> Iterator[Row]:
    """The rows without the summary at the end; several sets' evaluations, a row each, as their mean.

    A second evaluation at one step is of the best checkpoint, loaded again at the end: it isn't the run's.
    """
    evaluated: set[object] = set()
    logged = (row for row in history if "train_runtime" not in row)
    for (step, held_out), rows in groupby(logged, lambda row: (row.get("step"), bool(_held_out(row)))):
        if not held_out:
            yield from rows
        elif step not in evaluated:
            evaluated.add(step)
            yield _mean_of(rows)


def _mean_of(rows: Iterable[Row]) -> Row:
    """The rows of one step's evaluations as one; of a set that is there twice, the first."""
    first, losses = dict[str, object](), dict[str, float]()
    for row in rows:
        first, losses = {**row, **first}, _held_out(row) | losses
    return {**first, "eval_loss": sum(losses.values()) / len(losses)}


def _held_out(row: Row) -> dict[str, float]:
    """The losses on held-out sets in a row, by their names."""
    return {
        key: value
        for key, given in row.items()
        if key.startswith("eval_") and key.endswith("_loss") and (value := number(given)) is not None
    }


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    """The printed dictionaries; they have no step, so a row of the loss counts as one."""
    return _tidy(_printed(lines))


def _printed(lines: Iterator[str]) -> Iterator[Row]:
    step = 0
    for line in lines:
        for printed in re.findall(r"\{'[^{}]*\}", line):
            row = dict(_PAIR.findall(printed))
            if "loss" in row:
                step += 1
            if row:
                yield {**row, "step": step}


def sources(path: Path) -> list[Source]:
    """A trainer_state.json, the folder of a checkpoint with one in it, or what the Trainer printed."""
    if (path / STATE).is_file():
        path = path / STATE
    if not path.is_file():
        return []
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.lstrip().startswith(b"{") and b'"log_history"' in head:
        return [State(path)]
    if has(path, _PRINTED):
        return [TextLog(path, "what a Trainer printed", _parse, AGGREGATIONS)]
    return []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
