"""A panel exported from Weights & Biases: a column of steps, and `<run> - <metric>` with `__MIN` and `__MAX`.

The runs of a panel stand side by side: `export.csv/RUN-NAME` is one of them, `export.csv` all.
Source: https://docs.wandb.ai/guides/app/features/panels/line-plot
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.rows import run_of_table
from tutor.readers.common.several import labels
from tutor.readers.common.tables import cells, filled, header
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run

if TYPE_CHECKING:
    import polars as pl

_BETWEEN = " - "
_LOWEST, _HIGHEST = "__MIN", "__MAX"


@dataclass(frozen=True)
class Export:
    """A run in such a file.

    Attributes:
        path: the file, where it holds one run; else the run's name as if the file were a folder.
        run: its name in the header.
        file: the export.
    """

    path: Path
    run: str
    file: Path
    format: str = "a CSV exported from Weights & Biases"

    def describe(self, lang: str) -> str:  # noqa: ARG002
        """It names its metric and nothing that the run was meant to be."""
        return ""

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, read whole. Raises BadRunError where there is none that can be read."""
        remarks: list[Remark] = []
        rows = cells(self.file, remarks)
        step, *_ = rows.columns
        columns = ((metric, name) for run, metric, name in _columns(rows.columns) if run == self.run)
        own = {metric: name for metric, name in columns if metric != step}
        rows = _logged(rows, step, own)
        if rows.is_empty():
            raise BadRunError(f"{self.path} holds no row with numbers")
        return run_of_table(rows, self.path, name=self.run, file=self.file, remarks=remarks)


def _logged(rows: "pl.DataFrame", step: str, own: Mapping[str, str]) -> "pl.DataFrame":
    """The rows in which the run logged, its columns by the names of their metrics.

    Args:
        rows: those of all runs; each has cells where another one has none.
        step: the column that counts.
        own: the run's columns by their metrics.
    """
    import polars as pl  # only who reads a log pays for it

    logged = pl.repeat(False, rows.height, eager=True)
    for column in own.values():
        logged |= filled(rows[column])
    # Not by an expression: polars takes a name as `*` or `^a$` in one for a pattern.
    kept = [rows[step], *(rows[column].alias(metric) for metric, column in own.items())]
    return pl.DataFrame(kept).filter(logged)


def _columns(given: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Run, metric and name of each column of values: not of their lowest and highest."""
    for name in given[1:]:
        run, between, metric = name.rpartition(_BETWEEN)
        if between and not name.endswith((_LOWEST, _HIGHEST)):
            yield run, metric, name


def knows(named: Sequence[str]) -> bool:
    """Whether these are the columns of such a file."""
    return any(name.endswith(_LOWEST) for name in named) and _BETWEEN not in named[0]


def sources(path: Path) -> list[Source]:
    """The runs of a CSV whose columns come with their lowest value, or the one that the path names."""
    file = path if path.is_file() else path.parent
    given = header(file)
    if not knows(given):
        return []
    runs = list(dict.fromkeys(run for run, *_ in _columns(given)))
    if len(runs) == 1 and path == file:
        return [Export(file, runs[0], file)]
    found = [Export(file / label, str(run), file) for run, label in labels((run, run) for run in runs)]
    return [one for one in found if path in (file, one.path)]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
