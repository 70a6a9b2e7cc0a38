"""Ultralytics' `results.csv`, and YOLOv5's: a row an epoch, the parts of the loss in a column each.

What is trained on is their sum, which isn't logged; so they are added up here, those of validation too. Each
is the mean over its epoch, and NaN shows. Older versions pad the names with blanks.
Source: ultralytics/engine/trainer.py (`tloss`, `save_metrics`)
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.rows import run_of_table
from tutor.readers.common.tables import cells, names_in, tidy
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source
from tutor.run import Remark, Run, called
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl

_PART = re.compile(r"(train|val)/\w+_loss")
_SUMS = {"loss": "train/loss", "val_loss": "val/loss"}
"""By signal, what the sum of its parts is called."""


@dataclass(frozen=True)
class Results:
    """A run in a `results.csv`."""

    path: Path
    format: str = "Ultralytics' results.csv"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its metrics say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. A signal that the user says a column is isn't added up."""
        remarks: list[Remark] = []
        rows = with_sums(tidy(cells(self.path, remarks)), self.path, remarks)
        return run_of_table(rows, self.path, remarks=remarks, aggregations={"loss": WINDOW})


def with_sums(rows: "pl.DataFrame", path: Path, remarks: list[Remark]) -> "pl.DataFrame":
    """The rows with the sums of their losses' parts, where they lack them and the user names none."""
    said = called.names_for(path)
    for signal, name in _SUMS.items():
        parts = _parts(rows.columns, name.partition("/")[0])
        if parts and signal not in said and name not in rows.columns:
            rows = rows.with_columns(_sum(parts).alias(name))
            remarks.append(Remark("summed", {"signal": signal, "columns": quoted(parts)}))
    return rows


def _sum(parts: Iterable[str]) -> "pl.Expr":
    import polars as pl  # only who reads a log pays for it

    numbers = (pl.col(part).cast(pl.Float64, strict=False) for part in parts)
    return pl.sum_horizontal(*numbers, ignore_nulls=False)


def _parts(named: Iterable[str], of: str) -> list[str]:
    return [name for name in named if (part := _PART.fullmatch(name)) and part[1] == of]


def knows(named: Sequence[str]) -> bool:
    """Whether these are the columns of such a file."""
    rates = {"lr/pg0", "x/lr0"} & set(named)
    return "epoch" in named and bool(rates) and bool(_parts(named, "train") or "train/loss" in named)


def sources(path: Path) -> list[Source]:
    """A CSV of epochs with losses of training and the rates of optimizer groups."""
    return [Results(path)] if knows(names_in(path)) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A CSV without a loss is told by the reader of any."""
    return None
