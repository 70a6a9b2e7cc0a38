"""tutor's own run folder: `manifest.json`, `metrics.jsonl`, `sentences.txt`, `checkpoints/`.

The log is read whole rows only: half a line at the end (a killed run) is passed over, and so is a line
in the middle that is no JSON, with a remark. Non-finite numbers are the strings "NaN", "Infinity" and
"-Infinity" (as in proto3 JSON); bare NaN and Infinity, as Python writes them, are understood too.
"""

import codecs
import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tutor import signals
from tutor.run import BadRunError, Run

FORMAT = 1
_WHOLE = 32_000_000  # up to this many bytes every row is looked at for the columns' types
_SAMPLE = 4_000_000  # beyond it, so many at the beginning and at the end
_RESUMED = 100  # more turns back than so many are no resuming: several writers, or a shuffled log
_NAMED = 8  # columns named in a remark
_BARE = re.compile(rb"(?<=[:\[,\s])(-?(?:NaN|Infinity))(?=\s*[,}\]])")
_MANIFEST = {  # what other rooms read of it
    "name": str,
    "command": str,
    "dtype": str,
    "device": str,
    "break": str,
    "role": str,
    "seed": int,
    "vocab_size": int,
    "settings": {},
    "batch": {"rows": int, "tokens_per_row": int, "accumulation": int},
    "schedule": {"warmup_steps": int | float, "schedule_steps": int | float},
    "groups": [{"name": str, "weight_decay": int | float}],
    "token_loss_edges": [int | float],
}
_TYPES = {
    "number": pl.Float64,
    "flag": pl.Boolean,
    "text": pl.String,
    "numbers": pl.List(pl.Float64),
    "texts": pl.List(pl.String),
}


def sniff(path: Path) -> bool:
    """A folder with `metrics.jsonl` in it, or that file itself."""
    return (
        (path / "metrics.jsonl").is_file()
        or (path / "manifest.json").is_file()
        or path.name == "metrics.jsonl"
    )


def read(path: Path) -> Run:
    """The run in the folder at `path`. Raises BadRunError."""
    folder = path.parent if path.name == "metrics.jsonl" else path
    remarks: list[str] = []
    manifest = _manifest(folder, remarks)
    frame = _frame(folder / "metrics.jsonl", remarks)
    return Run(
        path=folder,
        name=str(manifest.get("name") or folder.resolve().name),
        manifest=manifest,
        frame=frame,
        checkpoints=_checkpoints(folder, frame, manifest),
        kept=_kept(folder),
        sentences=_sentences(folder),
        remarks=tuple(remarks),
    )


def _manifest(folder: Path, remarks: list[str]) -> Mapping[str, Any]:
    path = folder / "manifest.json"
    if not path.is_file():
        remarks.append("manifest.json is missing: what the run was meant to be isn't known")
        return {}
    way_out = "restore it, or move it away to read the log alone"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise BadRunError(f"{path} is no JSON in UTF-8: {way_out}") from None
    if not isinstance(manifest, dict):
        raise BadRunError(f"{path} holds no keys: {way_out}")
    version = manifest.get("format") or FORMAT
    if not isinstance(version, int) or version > FORMAT:
        raise BadRunError(
            f"{path} is of format {version}, this tutor reads up to {FORMAT}: upgrade tutor to read it"
        )
    odd = [key for key, kind in _MANIFEST.items() if key in manifest and not _is(manifest[key], kind)]
    if odd:
        remarks.append(f"manifest.json: {', '.join(odd)} can't be understood: passed over")
    return {key: value for key, value in manifest.items() if key not in odd}


def _is(value: Any, kind: Any) -> bool:
    """Whether a value of the manifest is of its kind; None says that it isn't known."""
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(_is(value.get(key), inner) for key, inner in kind.items())
    if isinstance(kind, list):
        return isinstance(value, list) and all(_is(item, kind[0]) for item in value)
    return value is None or (isinstance(value, kind) and not isinstance(value, bool))


def _frame(path: Path, remarks: list[str]) -> pl.DataFrame:
    if not path.is_file():
        raise BadRunError(f"{path} is missing: the run was never logged; train it again")
    frame = _large(path) if path.stat().st_size > _WHOLE else None
    if frame is None:
        frame = _rows(path, remarks)
    if "step" not in frame.columns:
        remarks.append(f"rows have no `step`, only {_names(frame)}: they are counted from 0")
        frame = frame.with_row_index("step")
    if not (frame["step"].dtype.is_numeric() or frame["step"].dtype == pl.String):
        raise BadRunError(f"{path}: no row has a whole number as its step")
    if frame["step"].dtype.is_float() and (frame["step"] != frame["step"].floor()).any():
        remarks.append("steps aren't whole numbers: rounded down")
    frame = frame.with_columns(pl.col("step").cast(pl.Int64, strict=False)).drop_nulls("step")
    if not frame.height:
        raise BadRunError(f"{path}: no row has a whole number as its step")
    frame = _ascending(frame, remarks)
    columns = [_typed(frame[name]) for name in frame.columns if name != "step"]
    typed = pl.DataFrame([frame["step"], *(column for column in columns if column is not None)])
    if "loss" not in typed.columns or not typed["loss"].is_not_null().any():
        remarks.append(f"no row has a number as its `loss`: call so what holds it, of {_names(frame)}")
    return typed


def _ascending(frame: pl.DataFrame, remarks: list[str]) -> pl.DataFrame:
    """The rows in the order of their steps, one for each.

    A run that was resumed goes back to a step that it had logged: what it had logged from there on is of
    the branch that it gave up. Rows of one step are one, the later value of each column over the earlier:
    trainers log evaluation in a row of its own.
    """
    steps = frame["step"]
    change = steps.diff().fill_null(1)
    if change.min() > 0:
        return frame
    keep = pl.repeat(True, frame.height, eager=True)
    rows = pl.int_range(frame.height, eager=True)
    back_at = (change < 0).arg_true()
    if len(back_at) <= _RESUMED:
        for row in back_at:
            if (steps[:row] == steps[row]).any():
                keep &= (rows >= row) | (steps < steps[row])
    if given_up := frame.height - int(keep.sum()):
        remarks.append(f"the run was resumed: {given_up} rows that it had logged beyond are passed over")
        frame = frame.filter(keep)
    elif change.min() < 0:
        remarks.append("steps run backwards: sorted")
    if frame["step"].n_unique() < frame.height:
        remarks.append("steps repeat: their rows are taken as one, the later value of each column kept")
        latest = pl.exclude("step").drop_nulls().last()
        return frame.group_by("step", maintain_order=True).agg(latest).sort("step")
    return frame.sort("step")


def _names(frame: pl.DataFrame) -> str:
    """The names of the columns, as many as fit a line."""
    names = [f"`{name}`" for name in frame.columns if name != "step"] or ["nothing else"]
    return ", ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")


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


def _rows(path: Path, remarks: list[str]) -> pl.DataFrame:
    data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if data.lstrip().startswith(b"["):
        raise BadRunError(f"{path} is a JSON array, not a row a line: jq -c '.[]' makes one of the other")
    end = data.rfind(b"\n") + 1
    if data[end:].strip():
        # A whole last row may lack its line end; half a row is no JSON.
        if _is_row(data[end:]):
            data += b"\n"
        else:
            remarks.append("the last line is cut short: the run was killed while writing it")
            data = data[:end]
    if not data.strip():
        raise BadRunError(f"{path} holds no whole row: the run ended before its first step; train it again")
    return _parse(data, path, remarks)


def _parse(data: bytes, path: Path, remarks: list[str]) -> pl.DataFrame:
    try:
        return pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        pass
    # Something isn't plain: bare NaN, a number that is text further on, or a line that is no JSON.
    rows = _BARE.sub(rb'"\1"', data).splitlines()
    whole = [row for row in rows if _is_row(row)]
    if odd := [number for number, row in enumerate(rows, 1) if row.strip() and not _is_row(row)]:
        remarks.append(f"lines that are no JSON row, passed over: {len(odd)} (the first is line {odd[0]})")
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
    remarks.append(f"values that don't fit their column are passed over: {', '.join(odd[:_NAMED])}")
    return frame


def _column(name: str, values: list[Any]) -> pl.Series:
    kind = _TYPES[signals.kind_of(name)]
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


def _is_row(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _typed(column: pl.Series) -> pl.Series | None:
    """The column in the type its name calls for (see tutor.signals), or None.

    Numbers that came as text ("NaN") are numbers again; text that is no number becomes null.
    """
    wanted = _TYPES[signals.kind_of(column.name)]
    if column.dtype == wanted:
        return column
    if isinstance(column.dtype, pl.Struct) or isinstance(column.dtype, pl.List) != isinstance(
        wanted, pl.List
    ):
        return None
    try:
        return column.cast(wanted, strict=False)
    except pl.exceptions.PolarsError:
        return None


def _checkpoints(folder: Path, frame: pl.DataFrame, manifest: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Steps of the checkpoints on disk and of those the log says were saved; None where neither can say."""
    logged = frame["checkpoint"].drop_nulls().to_list() if "checkpoint" in frame.columns else []
    configured = "checkpoint_every" in (manifest.get("settings") or {})
    if not (logged or configured or (folder / "checkpoints").is_dir()):
        return None
    return tuple(sorted({*_kept(folder), *_steps(logged)}))


def _kept(folder: Path) -> tuple[int, ...]:
    """Steps of the checkpoints on disk; one that was being written when the run was killed is none."""
    found = (folder / "checkpoints").glob("step-*")
    return tuple(sorted(_steps(path.stem for path in found if path.suffix != ".part")))


def _steps(names: Iterable[str]) -> set[int]:
    return {int(found[1]) for name in names if (found := re.search(r"(\d+)", name))}


def _sentences(folder: Path) -> tuple[str, ...]:
    try:
        return tuple((folder / "sentences.txt").read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()
