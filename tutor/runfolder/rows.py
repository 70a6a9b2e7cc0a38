"""Rows of JSON, one a line, as a table: whole or torn, with bare NaN, or with lines that are no JSON."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from tutor import signals
from tutor.run import BadRunError, Remark, limits
from tutor.run.normalise import TYPES, names, odd_values

LOOKED_AT = 1000
"""Rows by which the number of columns is known."""

# Letters first: that is what makes them fast to find.
_BARE = {
    token: re.compile(rb"%b(?<=[:\[,\s]%b)(?=\s*[,}\]])" % (token, token))
    for token in (b"NaN", b"Infinity", b"-NaN", b"-Infinity")
}


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
    sample = sample_of(lines)
    if columns_of(sample, len(lines)) > limits.COLUMNS:
        remarks.append(Remark("too_many", {"most": limits.COLUMNS}))
        return _narrow(data, sample, path, remarks)
    if (frame := table(data, remarks)) is not None:
        return frame
    return parse_odd(enumerate(lines, 1), path, remarks)[0]


def parse_odd(
    lines: Iterable[tuple[int, bytes]], path: Path, remarks: list[Remark]
) -> tuple[pl.DataFrame, list[int]]:
    """The table of lines of which something isn't plain, and the numbers of those that are its rows.

    That is bare NaN, a number that is text further on, one that no machine number holds, or a line that is no
    JSON. Raises BadRunError where no line is a row.

    Args:
        lines: each with its number in the log, for the remarks.
    """
    whole = {number: _plain(line) for number, line in _whole(lines, path, remarks)}
    if (frame := table(b"\n".join(whole.values()), remarks)) is None:
        frame = _by_row(whole.values(), remarks)
    return frame, list(whole)


def _plain(line: bytes) -> bytes:
    """The row with every bare NaN and Infinity as text, unless one stands inside of a text."""
    quoted = _quoted(line)
    return quoted if quoted != line and is_row(quoted) else line


def _quoted(data: bytes) -> bytes:
    """The rows with every bare NaN and Infinity as text, which all JSON parsers read.

    A row that has one inside of a text is no JSON any more: the text ends there, and letters follow.
    """
    for token, bare in _BARE.items():
        if token in data:
            data = bare.sub(b'"%b"' % token, data)
    return data


def table(data: bytes, remarks: list[Remark]) -> pl.DataFrame | None:
    """The rows as polars reads them, bare NaN and Infinity as text; None where it can't."""
    bare = any(token in data for token in _BARE)
    for given in (_quoted(data), data) if bare else (data,):
        found: list[Remark] = []
        try:
            frame = pl.read_ndjson(given, schema=schema_of(given, found))
        except pl.exceptions.PolarsError:
            continue
        remarks += found
        return frame
    return None


def schema_of(data: bytes, remarks: list[Remark]) -> Mapping[str, pl.DataType]:
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


def sample_of(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Rows from the whole length of the log."""
    return [row for line in lines[:: max(1, len(lines) // LOOKED_AT)] if (row := _row(line))]


def columns_of(sample: Sequence[Mapping[str, Any]], rows: int) -> float:
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
        schema = schema_of(b"\n".join(json.dumps(row).encode() for row in picked), remarks)
        frame = pl.read_ndjson(data, schema={**known, **schema})
    except pl.exceptions.PolarsError:
        whole = _whole(enumerate(data.splitlines(), 1), path, remarks)
        frame = _by_row((line for _, line in whole), remarks, kept)
    return frame.select(column for column in frame if column.null_count() < len(frame))


def _whole(lines: Iterable[tuple[int, bytes]], path: Path, remarks: list[Remark]) -> list[tuple[int, bytes]]:
    """The numbered lines that are rows of JSON; remarks count the others."""
    whole: list[tuple[int, bytes]] = []
    broken: list[int] = []
    odd: list[int] = []
    for number, line in lines:
        if is_row(line):
            whole.append((number, line.removeprefix(codecs.BOM_UTF8)))  # joined logs have one inside
        elif line.strip():
            (broken if line.lstrip().startswith(b"{") else odd).append(number)
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
        convert = _text if kind.inner == pl.String else _float
        values = [[convert(item) for item in value] if isinstance(value, list) else None for value in values]
    elif kind == pl.Float64:
        values = [_float(value) for value in values]
    elif kind == pl.String:
        values = [_text(value) if isinstance(value, str) else None for value in values]
    else:
        values = [value if isinstance(value, bool) else None for value in values]
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


def _text(value: Any) -> str:
    """It as text without lone surrogates, which neither a column nor its name can have."""
    return str(value).encode("utf-8", "replace").decode()
