"""Lightning's CSVLogger, `metrics.csv`: a row for each call that logged, so that most cells are empty.

`NAME_step` is the value of its batch, and so is a name alone where it was logged by steps; `NAME_epoch`, and
a name alone that was logged once an epoch, is the mean over the epoch. Where a new name comes up, the file is
written anew with a longer header, its names sorted.
A row of an evaluation's single batch has the number of that batch as its step, and no epoch.
Sources: lightning/fabric/loggers/csv_logs.py,
lightning/pytorch/trainer/connectors/logger_connector/result.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.rows import run_of_table
from tutor.readers.common.tables import cells, filled, names_in, tidy
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source
from tutor.run import Remark, Run, called, names

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Metrics:
    """A run in a `metrics.csv`."""

    path: Path
    format: str = "Lightning's metrics.csv"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its metrics say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        remarks: list[Remark] = []
        rows = _in_training_steps(tidy(cells(self.path, remarks)))
        found = {signal: column for column, signal in names.mapping(rows.columns, self.path).items()}
        loss = found.get("loss", "")
        mean = None if loss in called.names_for(self.path).values() else _more_often(rows, loss)
        if mean is not None:
            rows = rows.rename({loss: names.free(f"{loss} (single steps)", rows.columns)})
            found["loss"] = mean
        averaged = "loss" in found and _once_an_epoch(rows, found["loss"])
        aggregations = {"loss": WINDOW} if averaged else None
        return run_of_table(rows, self.path, aggregations=aggregations, remarks=remarks)


def _in_training_steps(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows by the steps of training: those of single batches of an evaluation count these instead.

    Lightning leaves their epoch out, as it does of what a loop itself gives its logger. They take the step of
    the row above.
    """
    import polars as pl  # only who reads a log pays for it

    evaluated = [name for name in rows.columns if name.endswith("_step") and "train" not in name.lower()]
    if not evaluated:
        return rows
    batch = ~filled(rows["epoch"])
    batch &= (
        pl.DataFrame({str(place): filled(rows[name]) for place, name in enumerate(evaluated)})
        .select(pl.any_horizontal(pl.all()))
        .to_series()
    )
    steps = rows["step"].to_frame().select(pl.when(~batch).then(pl.col("step")))["step"]
    return rows.with_columns(steps.forward_fill().backward_fill())


def _more_often(rows: "pl.DataFrame", column: str) -> str | None:
    """The mean over the epoch of what `column` holds single steps of, where it was logged as often or more.

    So it is where an epoch has fewer steps than Lightning logs one in, 50 unless told otherwise.
    """
    mean = f"{column.removesuffix('_step')}_epoch"
    if not column.endswith("_step") or mean not in rows.columns:
        return None
    return mean if filled(rows[mean]).sum() >= filled(rows[column]).sum() else None


def _once_an_epoch(rows: "pl.DataFrame", column: str) -> bool:
    """Whether no epoch has two values of the column."""
    logged = rows.filter(filled(rows[column]))
    return logged["epoch"].n_unique() == logged.height


def knows(named: Sequence[str]) -> bool:
    """Whether these are the columns of such a file."""
    if not {"epoch", "step"} <= set(named):
        return False
    return list(named) == sorted(named) or any(name.endswith(("_step", "_epoch")) for name in named)


def sources(path: Path) -> list[Source]:
    """A CSV of epochs and steps, its names sorted or ending as Lightning's do, with a loss."""
    named = names_in(path)
    losses = set(names.mapping(named, path).values()) & {"loss", "val_loss"} if knows(named) else ()
    return [Metrics(path)] if losses else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A CSV without a loss is told by the reader of any."""
    return None
