"""A CSV in long form: a row for each value, with the metric's name, its step and the value.

So MLflow exports the chart of a metric, `Run,Run ID,metric,step,timestamp,value`, and notebooks melt a table.
The runs of a chart stand one below the other: `export.csv/RUN-NAME` is one of them, `export.csv` all.
Source: mlflow/server/js/src/experiment-tracking/components/MetricsPlotPanel.tsx (`convertMetricsToCsv`)
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.bystep import by_step
from tutor.readers.common.rows import run_of_frame
from tutor.readers.common.several import Named, labels
from tutor.readers.common.tables import cells, filled, names_in, tidy
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run, names, vocabulary

if TYPE_CHECKING:
    import polars as pl

_METRIC = ("metric", "metric_name", "metrics", "key", "tag", "variable", "name")
_VALUE = ("value", "metric_value")
_RUN = ("run_id", "run_uuid", "run", "run_name")
_LABEL = ("run_name", "run", "run_id")
_LOSSES = {*vocabulary.KNOWN["loss"], *vocabulary.KNOWN["val_loss"]}


@dataclass(frozen=True)
class Values:
    """A run in such a file.

    Attributes:
        path: the file, where it holds one run; else the run's name as if the file were a folder.
        file: the CSV.
        run: what its rows have in the column that tells runs apart; None where there is none.
    """

    path: Path
    file: Path
    run: str | None = None
    format: str = "a CSV with a row for each value"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """It names its metrics and nothing that the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. Raises BadRunError where its header is torn."""
        import polars as pl  # only who reads a log pays for it

        from tutor.run.normalise import odd_values

        remarks: list[Remark] = []
        rows = tidy(cells(self.file, remarks))
        if self.run is not None:
            rows = rows.filter(_texts(rows[_first(rows.columns, _RUN)]) == self.run)
        step, metric, value = (
            _first(rows.columns, one) for one in (vocabulary.KNOWN["step"], _METRIC, _VALUE)
        )
        if not (step and metric and value):
            raise BadRunError(f"{self.file} is no CSV that can be read: its header is torn")
        numbers = {one: rows[one].cast(pl.Float64, strict=False) for one in (step, value)}
        if odd := [one for one, cast in numbers.items() if (cast.is_null() & filled(rows[one])).any()]:
            remarks.append(odd_values(odd))
        values = {"step": numbers[step], "name": _texts(rows[metric]), "value": numbers[value]}
        by_name = by_step(pl.DataFrame(values))
        if step not in by_name.columns:  # whether it counts epochs, its own name tells
            by_name = by_name.rename({"step": step})
        return run_of_frame(by_name, self.path, file=self.file, remarks=remarks)


def _texts(column: "pl.Series") -> "pl.Series":
    """The cells as they are written: a run may be called `1`."""
    import polars as pl  # only who reads a log pays for it

    if not column.dtype.is_numeric():
        return column
    whole = (column == column.floor()).all()
    return column.cast(pl.Int64 if whole else pl.Float64, strict=False).cast(pl.String)


def _first(named: Iterable[str], wanted: Sequence[str]) -> str:
    """The column that has the first of these names, however it is spelled; "" where there is none."""
    spelled = {names.spelled(name): name for name in named}
    return next((spelled[one] for one in wanted if one in spelled), "")


def knows(named: Sequence[str]) -> bool:
    """Whether these are the columns of such a file."""
    has_all = all(_first(named, one) for one in (vocabulary.KNOWN["step"], _METRIC, _VALUE))
    return has_all and not any(names.spelled(name) in _LOSSES for name in named)


def sources(path: Path) -> list[Source]:
    """The runs of a CSV with such columns, or the one that the path names."""
    file = path if path.is_file() else path.parent
    named = names_in(file)
    if not knows(named):
        return []
    runs = _runs(file, file.stat().st_mtime_ns) if _first(named, _RUN) else []
    if not runs[1:]:
        return [Values(file, file)] if path == file else []
    found = [Values(file / label, file, str(run)) for run, label in labels(runs)]
    return [one for one in found if path in (file, one.path)]


@lru_cache(maxsize=8)  # a file of many runs is asked for each of them
def _runs(file: Path, changed: Hashable) -> list[Named]:  # noqa: ARG001 (one that changed is read anew)
    """The runs of the file: what tells each apart, and its name."""
    rows = tidy(cells(file, []))
    run, label = (_first(rows.columns, one) for one in (_RUN, _LABEL))
    if not run:  # the heading is torn
        return []
    pairs = rows.select(_texts(rows[run]).alias("run"), _texts(rows[label]).alias("label")).drop_nulls()
    return list(pairs.unique("run", maintain_order=True).iter_rows())


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """A CSV without a step is told by the reader of any."""
    return None
