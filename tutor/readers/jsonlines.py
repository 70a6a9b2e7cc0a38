"""Rows of JSON by other names: LLaMA-Factory's `trainer_log.jsonl`, MAE's `log.txt`, and others'."""

import json
from dataclasses import dataclass
from pathlib import Path

from tutor.readers.common.rows import run_of_table
from tutor.readers.source import Source, first_line
from tutor.run import Remark, Run, names


@dataclass(frozen=True)
class Rows:
    """A run in a file of such rows."""

    path: Path
    format: str = "rows of JSON"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """The rows say nothing of what the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        from tutor.runfolder.log import read_rows  # polars: only who reads a log pays for it

        remarks: list[Remark] = []
        frame, _ = read_rows(self.path, remarks)
        return run_of_table(frame, self.path, name=self.path.name, remarks=remarks)


def sources(path: Path) -> list[Source]:
    """A file whose first row names a step and a loss otherwise than tutor."""
    if not path.is_file():
        return []
    line = first_line(path)
    if not line.startswith(b"{"):
        return []
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(row, dict) or "step" in row:
        return []
    known = set(names.mapping((str(key) for key in row), path).values())
    return [Rows(path)] if "step" in known and known & {"loss", "val_loss"} else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A row of JSON without a step is told by the reader of folders."""
    return None
