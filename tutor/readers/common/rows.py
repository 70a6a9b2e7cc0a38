"""Rows of another tool's log as a run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.run import Aggregation, BadRunError, Manifest, Remark, Run, limits, names

if TYPE_CHECKING:
    import polars as pl

Row = Mapping[str, object]


def run_of(
    rows: Iterable[Row],
    path: Path,
    *,
    name: str | None = None,
    aggregations: Mapping[str, Aggregation] | None = None,
    remarks: Sequence[Remark] = (),
) -> Run:
    """The run that the rows make, in the order in which they were logged.

    Args:
        rows: numbers by the log's own names; what isn't a number, in text or not, is passed over.
        path: the log.
        name: what to call it; else the file's name.
        aggregations: by tutor's signals, where a value isn't that of its step.
        remarks: what the reader passed over.

    Raises:
        BadRunError: there is no row with a number in it.
    """
    remarks = list(remarks)
    table = _table(rows, remarks)
    if not table:
        raise BadRunError(f"{path} holds no row with numbers: the run ended before it logged one")
    return run_of_table(
        _frame(table),
        path,
        name=name,
        aggregations=aggregations,
        remarks=remarks,
    )


def run_of_table(
    frame: "pl.DataFrame",
    path: Path,
    *,
    name: str | None = None,
    aggregations: Mapping[str, Aggregation] | None = None,
    remarks: Sequence[Remark] = (),
) -> Run:
    """As `run_of`, of a table that was read as one."""
    from tutor.run.normalise import hidden, normalise

    frame, more = normalise(frame, names.mapping(frame.columns), path)
    told = {signal: one for signal, one in (aggregations or {}).items() if signal in frame.columns}
    state = path.stat()
    return Run(
        path=path,
        name=name or path.stem,
        manifest=Manifest(),
        frame=frame,
        remarks=(*remarks, *more, *hidden(told)),
        aggregations=told,
        position=(state.st_ino, state.st_size, state.st_mtime_ns),
    )


def number(given: object) -> float | None:
    """The number that a value is or says, NaN and Inf among them; None for anything else."""
    if isinstance(given, bool) or given is None:
        return None
    try:
        return float(given) if isinstance(given, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _table(rows: Iterable[Row], remarks: list[Remark]) -> dict[str, list[float | None]]:
    """The rows as columns of numbers, in the order in which their names came up: so many, and no more."""
    columns: dict[str, list[float | None]] = {}
    count, dropped = 0, False
    for row in rows:
        known = {key: value for key, given in row.items() if (value := number(given)) is not None}
        if not known:
            continue
        for key, value in known.items():
            if key not in columns and len(columns) >= limits.COLUMNS:
                dropped = True
                continue
            if key not in columns:
                columns[key] = [None] * count
            columns[key].append(value)
        count += 1
        for column in columns.values():
            if len(column) < count:
                column.append(None)
    if dropped:
        remarks.append(Remark("too_many", {"most": limits.COLUMNS}))
    return columns


def _frame(table: dict[str, list[float | None]]) -> "pl.DataFrame":
    import polars as pl  # only who reads a log pays for it

    frame = pl.DataFrame(table, schema=dict.fromkeys(table, pl.Float64))
    whole = [name for name, column in table.items() if all(_whole(one) for one in column)]
    return frame.with_columns(pl.col(name).cast(pl.Int64) for name in whole)


def _whole(value: float | None) -> bool:
    return value is None or (math.isfinite(value) and value == math.floor(value) and abs(value) < 2**53)
