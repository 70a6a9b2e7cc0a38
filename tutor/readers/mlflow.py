"""MLflow's folders: `mlruns/<experiment>/<run>/metrics/<key>`, a line `timestamp value step` each.

Old files have no step, and a line counts as one; new ones have the data set's name and digest behind it. What
a value stands for, the names tell: see `common/trainers.py`. Source: mlflow/store/tracking/file_store.py
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tutor.readers.common.rows import by_step, run_of
from tutor.readers.source import Source
from tutor.run import Run

METRICS, META, STORE = "metrics", "meta.yaml", "mlruns"


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
        return run_of(by_step(_values(self.path / METRICS)), self.path, name=self.path.name)


def _values(metrics: Path) -> Iterator[tuple[object, str, object]]:
    """Step, name and value, in the order in which they were logged."""
    for file in sorted(path for path in metrics.rglob("*") if path.is_file()):
        key = file.relative_to(metrics).as_posix()
        with file.open(encoding="utf-8", errors="replace") as lines:
            for count, line in enumerate(lines):
                parts = line.split()
                if len(parts) >= 2:
                    yield parts[2] if len(parts) > 2 else count, key, parts[1]  # old files have no step


def sources(path: Path) -> list[Source]:
    """A run's folder, or those of a store."""
    if (path / METRICS).is_dir() and (path / META).is_file():
        return [Folder(path)]
    store = path / STORE if (path / STORE).is_dir() else path
    if store.name != STORE:
        return []
    return [Folder(found.parent) for found in sorted(store.glob(f"*/*/{METRICS}"))]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
