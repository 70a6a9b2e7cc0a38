"""MLflow's folders: `mlruns/<experiment>/<run>/metrics/<key>`, a line `timestamp value step` each.

Old files have no step, and a line counts as one; new ones have the data set's name and digest behind it. What
a value stands for, the names tell: see `common/trainers.py`. Source: mlflow/store/tracking/file_store.py
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.bystep import by_step
from tutor.readers.common.guessed import renamed, says_losses, unsaid
from tutor.readers.common.placing import held_out
from tutor.readers.common.rows import run_of_frame
from tutor.readers.source import Source, head
from tutor.run import Run

if TYPE_CHECKING:
    import polars as pl

METRICS, META, STORE = "metrics", "meta.yaml", "mlruns"
_METRIC = re.compile(rb"(?:[0-9]{13} [-+.0-9a-zA-Z]+ [0-9]+(?: \S+ \S+)?\r?\n)+")
"""Milliseconds since 1970, a value and a step, and nothing else on a line."""
_LINE = r"^\s*\S+\s+(?<value>\S+)(?:\s+(?<step>\S+))?"


@dataclass(frozen=True)
class Folder:
    """A run in a folder of MLflow's file store."""

    path: Path
    format: str = "a run of MLflow"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """Its parameters have no names in common with other runs'."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        return run_of_frame(_rows(self.path / METRICS), self.path, name=self.path.name)


@dataclass(frozen=True)
class Metric:
    """One metric of such a run, in a file that lies there or was taken from there."""

    path: Path
    signal: str
    format: str = "a metric of MLflow"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """A metric alone says nothing of the run."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole."""
        rows = by_step(_lines(self.path, self.path.name))
        taken = unsaid({self.signal: self.path.name}, self.path, rows.columns)
        return run_of_frame(renamed(rows, taken), self.path, name=self.path.name)


def _rows(metrics: Path) -> "pl.DataFrame":
    """A row a step, of the lines of all files."""
    import polars as pl  # only who reads a log pays for it

    files = sorted(path for path in metrics.rglob("*") if path.is_file())
    tables = [_lines(file, file.relative_to(metrics).as_posix()) for file in files]
    return by_step(pl.concat(tables)) if tables else pl.DataFrame()


def _lines(file: Path, name: str) -> "pl.DataFrame":
    """Step, name and value of each line of a file, in the order in which they were logged."""
    import polars as pl  # only who reads a log pays for it

    texts = pl.Series("text", file.read_bytes().decode("utf-8", "replace").splitlines(), dtype=pl.String)
    fields = texts.to_frame().select(pl.col("text").str.extract_groups(_LINE)).unnest("text")
    number = pl.all().cast(pl.Float64, strict=False)
    numbers = fields.with_row_index("line").select(number)
    step = pl.when(fields["step"].is_null()).then("line").otherwise("step")  # old files have no step
    return numbers.select(step.alias("step"), pl.lit(name).alias("name"), "value")


def sources(path: Path) -> list[Source]:
    """A run's folder, or those of a store; or a file with one metric, if its name says that it is a loss."""
    if path.is_file():
        name = path.name.partition(".")[0]
        signal = "val_loss" if held_out(name) else "loss"
        return [Metric(path, signal)] if says_losses(name) and _METRIC.match(head(path)) else []
    if (path / METRICS).is_dir() and (path / META).is_file():
        return [Folder(path)]
    store = path / STORE if (path / STORE).is_dir() else path
    if store.name != STORE:
        return []
    return [Folder(found.parent) for found in sorted(store.glob(f"*/*/{METRICS}"))]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
