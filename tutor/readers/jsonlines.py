"""Rows of JSON by other names: MAE's and DeiT's `log.txt`, and others'.

What a value stands for is each tool's own: MAE's and DeiT's `train_loss` is the mean over an epoch.
"""

import codecs
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tutor.readers.common.rows import run_of_table
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source, head
from tutor.run import Aggregation, Remark, Run, names
from tutor.runfolder import METRICS, PACKED

LLAMA_FACTORYS = "trainer_log.jsonl"
_TOLD = {"step", "loss", "val_loss"}
_RETURNS = 3  # rows of the same names, which a text that quotes one hasn't


@dataclass(frozen=True)
class Rows:
    """A run in a file of such rows; `aggregations` as `run_of_table` takes them."""

    path: Path
    format: str = "rows of JSON"
    aggregations: Mapping[str, Aggregation] | None = None

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The rows say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        from tutor.runfolder.log import read_rows, with_nan  # polars: only who reads a log pays for it

        remarks: list[Remark] = []
        frame, _ = read_rows(self.path, remarks)
        if self.aggregations is None or self.aggregations["loss"].shows_nan:
            frame = with_nan(frame, self.path, remarks)
        return run_of_table(
            frame, self.path, name=self.path.name, remarks=remarks, aggregations=self.aggregations
        )


def first_row(path: Path) -> dict[str, object] | None:
    """The first line of a file as a row of JSON or, below other lines, the first row whose names return.

    None where it is none, or holds a whole table.
    """
    begin = head(path).removeprefix(codecs.BOM_UTF8).lstrip() if path.is_file() else b""
    lines = [line for line in begin.splitlines() if line.strip() != b"{}"]  # MMDetection's of no settings
    if not lines or lines[0].startswith(b"{"):
        return _row(lines[0]) if lines else None
    if sum(line.startswith(b"{") for line in lines) < _RETURNS:
        return None
    rows = [row for line in lines if (row := _row(line)) and {"step", "loss"} <= {*names.known(row).values()}]
    counts = Counter(map(tuple, rows))
    return next((row for row in rows if counts[tuple(row)] >= _RETURNS), None)


def _row(line: bytes) -> dict[str, object] | None:
    """A line as a row of JSON; None where it is none, or holds a whole table."""
    if not line.startswith(b"{"):
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and not _table(row) else None


def of_llama_factory(path: Path) -> bool:
    """Whether a file is LLaMA-Factory's: its rows count `current_steps` of `total_steps`."""
    return {"current_steps", "total_steps"} <= (first_row(path) or {}).keys()


def _table(row: Mapping[str, object]) -> bool:
    """Whether an object holds a list or an object for each of its names, or for the step and the losses: a
    table by columns, on one line.
    """
    if not row or all(isinstance(value, list | dict) for value in row.values()):
        return bool(row)
    known = names.known(map(names.plainly, row))
    told = [value for name, value in row.items() if known.get(names.plainly(name)) in _TOLD]
    return bool(told) and all(isinstance(value, list | dict) for value in told)


def sources(path: Path) -> list[Source]:
    """A file whose first row names a step and a loss otherwise than tutor, but for one called as its log."""
    row = first_row(path)
    if row is None or "step" in row or path.name in (METRICS, PACKED) or of_llama_factory(path):
        return []
    mapping = names.mapping(row, path)
    known = set(mapping.values())
    if not ("step" in known and known & {"loss", "val_loss"}):
        return []
    return [Rows(path, aggregations={"loss": WINDOW} if mapping.get("epoch") == "step" else None)]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A row of JSON without a step is told by the reader of folders."""
    return None
