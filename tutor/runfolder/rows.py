"""Rows of JSON, one a line, as a table: whole or torn, with bare NaN, or with lines that are no JSON."""

import codecs
import contextlib
import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from tutor import signals
from tutor.run import BadRunError, Remark
from tutor.run.normalise import TYPES

_WHOLE = 32_000_000  # up to this many bytes every row is looked at for the columns' types
_SAMPLE = 4_000_000  # beyond it, so many at the beginning and at the end
_NAMED = 8  # columns named in a remark
_BARE = re.compile(rb"(?<=[:\[,\s])(-?(?:NaN|Infinity))(?=\s*[,}\]])")


def read_rows(path: Path, remarks: list[Remark]) -> tuple[pl.DataFrame, int]:
    """The log's rows, and how many bytes of it they take.

    Half a line at the end (a killed run) is passed over, and so is a line in between that is no JSON.

    Raises:
        BadRunError: it holds no row.
    """
    size = path.stat().st_size
    if size > _WHOLE and (frame := _large(path)) is not None:
        return frame, size
    data = whole_rows(path.read_bytes(), path, remarks)
    return parse_rows(data, path, remarks), len(data)


def whole_rows(data: bytes, path: Path, remarks: list[Remark]) -> bytes:
    """The bytes of a log without the torn line at its end. Raises BadRunError where nothing is left."""
    if data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        raise BadRunError(f"{path} is a JSON array, not a row a line: jq -c '.[]' makes one of the other")
    end = data.rfind(b"\n") + 1
    if data[end:].strip() and not is_row(data[end:]):  # a whole row may lack its line end
        remarks.append(Remark("torn_line"))
        data = data[:end]
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        raise BadRunError(f"{path} holds no whole row: the run ended before its first step; train it again")
    return data


def parse_rows(data: bytes, path: Path, remarks: list[Remark]) -> pl.DataFrame:
    """The table of whole rows. Raises BadRunError where no line is a row."""
    data = data.removeprefix(codecs.BOM_UTF8)
    data += b"" if data.endswith(b"\n") else b"\n"
    try:
        return pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        pass
    # Something isn't plain: bare NaN, a number that is text further on, or a line that is no JSON.
    rows = _BARE.sub(rb'"\1"', data).splitlines()
    whole = [row for row in rows if is_row(row)]
    if odd := [number for number, row in enumerate(rows, 1) if row.strip() and not is_row(row)]:
        remarks.append(Remark("odd_lines", {"count": len(odd), "first": odd[0]}))
    if not whole:
        raise BadRunError(f"{path} holds no row of JSON: is it a log?")
    with contextlib.suppress(pl.exceptions.PolarsError):
        return pl.read_ndjson(b"\n".join(whole), infer_schema_length=None)
    # A column of mixed kinds, or a number that no machine number holds: row by row, what fits.
    rows = [json.loads(row) for row in whole]
    given = {name: [row.get(name) for row in rows] for name in dict.fromkeys(n for row in rows for n in row)}
    frame = pl.DataFrame([_column(name, values) for name, values in given.items()])
    odd = [
        f"`{name}`"
        for name in given
        if frame[name].null_count() > sum(value is None for value in given[name])
    ]
    remarks.append(Remark("odd_values", {"columns": ", ".join(odd[:_NAMED])}))
    return frame


def _column(name: str, values: list[Any]) -> pl.Series:
    kind = TYPES[signals.kind_of(name)]
    if isinstance(kind, pl.List):
        convert = str if kind.inner == pl.String else _float
        values = [[convert(item) for item in value] if isinstance(value, list) else None for value in values]
    elif kind == pl.Float64:
        values = [_float(value) for value in values]
    else:
        fits = str if kind == pl.String else bool
        values = [value if isinstance(value, fits) else None for value in values]
    return pl.Series(name, values, dtype=kind)


def _float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def is_row(line: bytes) -> bool:
    """Whether the line is a JSON object."""
    try:
        return isinstance(json.loads(line.removeprefix(codecs.BOM_UTF8)), dict)
    except (ValueError, RecursionError):
        return False


def _large(path: Path) -> pl.DataFrame | None:
    """A large log read straight from the disk, or None where anything about it isn't plain."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, path.stat().st_size - _SAMPLE))
        tail = file.read()
    if head.startswith(codecs.BOM_UTF8) or not tail.endswith(b"\n"):
        return None
    sample = b"\n".join(head.split(b"\n")[:-1] + tail.split(b"\n")[1:])
    try:
        return pl.read_ndjson(path, schema=pl.read_ndjson(sample, infer_schema_length=None).schema)
    except pl.exceptions.PolarsError:
        return None
