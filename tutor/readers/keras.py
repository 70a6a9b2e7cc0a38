"""Keras: what CSVLogger writes, a row an epoch, and a `History.history` dumped as JSON, a list a metric.

Each number of training is the mean over its epoch, made while the weights changed; NaN shows. `NA` stands
where nothing was measured. A CSVLogger that appends counts each `fit` from epoch 0 on: where the loss goes on
from where it was, so does the training, and its epochs are numbered on; of several trainings the longest is
read.
Sources: keras/src/callbacks/csv_logger.py, keras/src/callbacks/history.py, keras/src/trainers/trainer.py
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutor.readers.common.document import Found, Looked, look
from tutor.readers.common.lists import Value, by_row, counter
from tutor.readers.common.rows import run_of
from tutor.readers.common.tables import cells, names_in, tidy
from tutor.readers.common.trainers import WINDOW
from tutor.readers.common.wholejson import cut_off
from tutor.readers.source import Source, head
from tutor.run import Aggregation, BadRunError, Remark, Run, vocabulary, whose
from tutor.run.blanks import with_nan

AGGREGATIONS: Mapping[str, Aggregation] = {"loss": WINDOW}

_DUMPED = re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*(?:\[|\{\s*"0"\s*:)')


@dataclass(frozen=True)
class Epochs:
    """A run in a CSV of CSVLogger's."""

    path: Path
    format: str = "a CSV of Keras"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its metrics say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        remarks: list[Remark] = []
        rows = with_nan(tidy(cells(self.path, remarks)), self.path, remarks, "blank_is_nan")
        return run_of(rows.rows(named=True), self.path, remarks=remarks, aggregations=AGGREGATIONS)


@dataclass(frozen=True)
class History:
    """A run in a dumped `History.history`."""

    path: Path
    format: str = "a History of Keras"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its metrics say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole; one that is cut short as far as it goes. Raises BadRunError."""
        looked = look(self.path)
        if looked is None or not _dumped(looked):
            raise BadRunError(f"{self.path} is no object of lists any more, one a metric")
        run = run_of(_by_epoch(looked.runs[0]), self.path, aggregations=AGGREGATIONS)
        return cut_off(run) if looked.cut else run


def _by_epoch(found: Found) -> list[dict[str, Value]]:
    """A row an epoch. What was measured less often, as by `validation_freq`, is spread evenly to the end.

    Where the end is missing, the last of the lists has its values from the first epoch on: training is
    measured in each. How often validation was, that list doesn't say any more.
    """
    lists = {name: [*one.values] for name, one in found.columns.items()}
    if found.short is not None and found.short.startswith("val_"):
        del lists[found.short]
    count = max(map(len, lists.values()))
    rows = by_row(lists, count, short=[found.short] if found.short else [])
    return [{**row, "epoch": epoch} for epoch, row in enumerate(rows)]


def _dumped(looked: Looked) -> bool:
    """Whether a document is a list a metric, `loss` among them, and nothing else; Keras's has no counter."""
    if len(looked.runs) != 1 or looked.runs[0].way or not looked.runs[0].flat:
        return False
    columns = looked.runs[0].columns
    return "loss" in columns and not any(counter(name) or one.steps for name, one in columns.items())


def knows(named: Sequence[str]) -> bool:
    """Whether these are the columns of CSVLogger, which counts in epochs, sorts the rest and names no run."""
    return (
        named[0] == "epoch"
        and "loss" in named
        and not {*named[1:]} & {*vocabulary.KNOWN["step"]}
        and not any("/" in name or whose.says_run(name) for name in named)
    )


def sources(path: Path) -> list[Source]:
    """A CSV that begins with epochs and has a `loss`, or JSON with a list of numbers under `loss`."""
    if not path.is_file():
        return []
    if (named := names_in(path)) and knows(named):
        return [Epochs(path)]
    looked = look(path) if _DUMPED.match(head(path)) else None
    return [History(path)] if looked and _dumped(looked) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A CSV without a loss is told by the reader of any."""
    return None
