"""Rows of JSON, one a line, as a table: whole or torn, with bare NaN, or with lines that are no JSON."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from tutor import plainfile, signals
from tutor.run import BadRunError, Remark, limits
from tutor.run.normalise import TYPES, names, odd_values

_WHOLE = 32_000_000  # up to this many bytes every row is looked at for the columns' types
_SAMPLE = 4_000_000  # beyond it, so many at the beginning and at the end
_LOOKED_AT = 1000  # rows by which the number of columns is known
_BARE = re.compile(rb"(?<=[:\[,\s])(-?(?:NaN|Infinity))(?=\s*[,}\]])")


def read_rows(path: Path, remarks: list[Remark]) -> tuple[pl.DataFrame, int]:
    """The log's rows, and how many bytes of it they take.

    Half a line at the end (a killed run) is passed over, and so is a line in between that is no JSON.

    Raises:
        BadRunError: it holds no row.
        OSError: it is packed and can't be unpacked.
    """
    size = path.stat().st_size
    if path.suffix == ".gz":
        data = whole_rows(plainfile.unpacked(path, limits.PACKED), path, remarks)
        return parse_rows(data, path, remarks), size
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
    lines = data.splitlines()
    sample = _sample(lines)
    if _columns(sample, len(lines)) > limits.COLUMNS:
        remarks.append(Remark("too_many", {"most": limits.COLUMNS}))
        return _narrow(data, sample, path, remarks)
    if (frame := _table(data, remarks)) is not None:
        return frame
    # Something isn't plain: bare NaN, a number that is text further on, or a line that is no JSON.
    whole = _whole(_BARE.sub(rb'"\1"', data).splitlines(), path, remarks)
    if (frame := _table(b"\n".join(whole), remarks)) is not None:
        return frame
    return _by_row(whole, remarks)


def _table(data: bytes, remarks: list[Remark]) -> pl.DataFrame | None:
    """The rows as polars reads them, or None where it can't."""
    try:
        return pl.read_ndjson(data, schema=_schema(data, remarks))
    except pl.exceptions.PolarsError:
        return None


def _schema(data: bytes, remarks: list[Remark]) -> Mapping[str, pl.DataType]:
    """The columns of the rows, but for those nested too deep: polars takes seconds over them."""
    found = pl.scan_ndjson(data, infer_schema_length=None).collect_schema()
    deep = [name for name, kind in found.items() if _deep(kind)]
    if deep:
        remarks.append(Remark("too_deep", {"levels": limits.DEPTH, "columns": names(deep)}))
    return {name: kind for name, kind in found.items() if name not in deep}


def _deep(kind: pl.DataType, levels: int = limits.DEPTH) -> bool:
    if isinstance(kind, pl.List):
        return not levels or _deep(cast(pl.DataType, kind.inner), levels - 1)
    if isinstance(kind, pl.Struct):
        return not levels or any(_deep(cast(pl.DataType, field.dtype), levels - 1) for field in kind.fields)
    return False


def _sample(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Rows from the whole length of the log."""
    return [row for line in lines[:: max(1, len(lines) // _LOOKED_AT)] if (row := _row(line))]


def _columns(sample: Sequence[Mapping[str, Any]], rows: int) -> float:
    """About how many columns `rows` rows have, by a sample of them.

    A column that a single row of the sample has stands for as many as the sample is smaller than the log
    (Good and Turing's estimate of what wasn't seen).
    """
    counts = Counter(name for row in sample for name in row)
    once = sum(count == 1 for count in counts.values())
    return len(counts) + once * (rows / max(1, len(sample)) - 1)


def _narrow(
    data: bytes, sample: Sequence[Mapping[str, Any]], path: Path, remarks: list[Remark]
) -> pl.DataFrame:
    """Of rows with too many columns, tutor's signals and the columns that return in the sample."""
    counts = Counter(name for row in sample for name in row)
    often = [name for name, count in counts.most_common(limits.COLUMNS) if count > 1]
    known = {signal.name: TYPES[signal.kind] for signal in signals.SIGNALS}
    kept = dict.fromkeys(("step", *known, *often))
    picked = ({name: row[name] for name in kept if name in row} for row in sample)
    try:
        schema = _schema(b"\n".join(json.dumps(row).encode() for row in picked), remarks)
        frame = pl.read_ndjson(data, schema={**known, **schema})
    except pl.exceptions.PolarsError:
        frame = _by_row(_whole(data.splitlines(), path, remarks), remarks, kept)
    return frame.select(column for column in frame if column.null_count() < len(frame))


def _whole(lines: Iterable[bytes], path: Path, remarks: list[Remark]) -> list[bytes]:
    """The lines that are rows of JSON; remarks count the others."""
    given = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    whole = [line for _, line in given if is_row(line)]
    if len(whole) < len(given):
        others = [(number, line) for number, line in given if not is_row(line)]
        broken = [number for number, line in others if line.lstrip().startswith(b"{")]
        odd = [number for number, line in others if not line.lstrip().startswith(b"{")]
        if broken:
            remarks.append(Remark("broken_rows", {"count": len(broken), "first": broken[0]}, unseen=True))
        if odd:
            remarks.append(Remark("odd_lines", {"count": len(odd), "first": odd[0]}))
    if not whole:
        raise BadRunError(f"{path} holds no row of JSON: is it a log?")
    return whole


def _by_row(
    whole: Iterable[bytes], remarks: list[Remark], kept: Container[str] | None = None
) -> pl.DataFrame:
    """Columns of mixed kinds, or with a number that no machine number holds: row by row, what fits.

    Args:
        kept: these columns alone, where it isn't None.
    """
    rows = [json.loads(line) for line in whole]
    found = dict.fromkeys(name for row in rows for name in row if kept is None or name in kept)
    given = {name: [row.get(name) for row in rows] for name in found}
    columns = {name: _column(_text(name), values) for name, values in given.items()}
    odd = [n for n in given if columns[n].null_count() > sum(value is None for value in given[n])]
    if odd:
        remarks.append(odd_values(odd))
    # A lone surrogate can't stand in a column's name, and what stands for it may be there already.
    return pl.DataFrame(list({column.name: column for column in columns.values()}.values()))


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
    return _row(line) is not None


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _text(name: str) -> str:
    """The name without lone surrogates, which no column's can have."""
    return name.encode("utf-8", "replace").decode()


def _large(path: Path) -> pl.DataFrame | None:
    """A large log read straight from the disk, or None where anything about it isn't plain."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, path.stat().st_size - _SAMPLE))
        tail = file.read()
    if head.startswith(codecs.BOM_UTF8) or not tail.endswith(b"\n"):
        return None
    sample = head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
    try:
        lines = sample.splitlines()
        if _columns(_sample(lines), len(lines)) > limits.COLUMNS:
            return None
        remarks: list[Remark] = []
        schema = _schema(sample, remarks)
        return None if remarks else pl.read_ndjson(path, schema=schema)
    except pl.exceptions.PolarsError:
        return None
