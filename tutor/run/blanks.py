"""Blanks and nulls that stand for NaN: pandas writes the one for the other, and JSON has no NaN."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tutor.run import names
from tutor.run.remark import Remark
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl

LEAST = 3
"""Rows that end a loss without a number, and rows before that have one: fewer may be rows of a last test."""


def _always(column: str) -> bool:  # noqa: ARG001
    return True


def with_nan(
    rows: "pl.DataFrame",
    path: Path,
    remarks: list[Remark],
    key: Literal["blank_is_nan", "null_is_nan"],
    written: Callable[[str], bool] = _always,
) -> "pl.DataFrame":
    """The rows with NaN for the blanks that end the training loss.

    Every row before has one, each of these is counted, and no other loss stands in them. A loss that was not
    measured is missing in between too, or beside one that was.

    Args:
        rows: the log's rows, by its own names.
        path: the log.
        remarks: takes the remark that says so.
        key: the remark's, by what the log has instead of NaN.
        written: whether a column's last blanks stand in the log, where a row can also leave a column out.
    """
    import polars as pl  # only who reads a log pays for it

    columns = {signal: column for column, signal in names.mapping(rows.columns, path).items()}
    if not {"step", "loss"} <= columns.keys() or not rows[columns["loss"]].null_count():
        return rows
    loss = columns["loss"]
    if not (rows[loss].dtype.is_numeric() or rows[loss].dtype == pl.String):
        return rows
    known = filled(rows[loss])
    first = int((~known).arg_max() or 0)
    count = rows.height - first
    others = [name for name in rows.columns if "loss" in name.lower() and name != loss]
    ends = first >= LEAST <= count and not known[first:].any() and filled(rows[columns["step"]])[first:].all()
    if not ends or any(filled(rows[name])[first:].any() for name in others) or not written(loss):
        return rows
    remarks.append(Remark(key, {"column": quoted([loss]), "count": count}))
    values = rows[loss].cast(pl.Float64, strict=False).fill_null(math.nan)
    return rows.with_columns(pl.Series(loss, values))


def filled(column: "pl.Series") -> "pl.Series":
    """Whether each cell holds more than blanks."""
    import polars as pl  # only who reads a log pays for it

    if column.dtype != pl.String:
        return column.is_not_null()
    return column.fill_null("").str.strip_chars() != ""
