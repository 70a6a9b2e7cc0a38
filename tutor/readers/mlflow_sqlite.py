"""MLflow's database `mlflow.db`, its default store since 3.7: the runs of all its experiments.

A column of numbers there holds no NaN or Inf: NaN is a 0 with `is_nan`, Inf the largest number there is.
Source: mlflow/store/tracking/dbmodels/models.py
"""

import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tutor.readers.common import sqlite
from tutor.readers.common.rows import Row, by_step
from tutor.readers.source import Source
from tutor.run import Remark

_RUNS = {"run_uuid", "name", "lifecycle_stage", "start_time"}
_METRICS = {"key", "value", "timestamp", "step", "is_nan", "run_uuid"}
_PARAMS = {"key", "value", "run_uuid"}
_LARGEST = sys.float_info.max


def _runs(database: sqlite.Database) -> Iterable[sqlite.Named]:
    """Those that weren't deleted and have logged a metric: one that holds others in it has none."""
    if not (sqlite.columns(database, "runs") >= _RUNS and sqlite.columns(database, "metrics") >= _METRICS):
        return ()
    return database.execute(
        "SELECT run_uuid, coalesce(name, '') FROM runs WHERE lifecycle_stage IS NOT 'deleted' "
        "AND EXISTS (SELECT 1 FROM metrics WHERE metrics.run_uuid = runs.run_uuid) "
        "ORDER BY start_time, rowid"
    )


def _rows(database: sqlite.Database, run: object, remarks: list[Remark]) -> Iterator[Row]:  # noqa: ARG001
    sqlite.bounded(database, "metrics", "run_uuid", run)
    found = database.execute(
        "SELECT step, key, value, is_nan FROM metrics WHERE run_uuid = ? ORDER BY timestamp, rowid", (run,)
    )
    return by_step((step, str(key), _value(value, is_nan)) for step, key, value, is_nan in found)


def _value(value: object, is_nan: object) -> object:
    if is_nan:
        return math.nan
    if isinstance(value, float) and abs(value) == _LARGEST:
        return math.copysign(math.inf, value)
    return value


def _settings(database: sqlite.Database, run: object) -> Iterable[tuple[object, object]]:
    if not sqlite.columns(database, "params") >= _PARAMS:
        return ()
    return database.execute("SELECT key, value FROM params WHERE run_uuid = ?", (run,))


_KEPT = sqlite.Format("a run in a database of MLflow", _runs, _rows, _settings)


def sources(path: Path) -> list[Source]:
    """The runs of a database with MLflow's tables, or the one of them that the path names."""
    return [*sqlite.stored(path, _KEPT)]


def lacks(path: Path) -> str | None:
    """A database that can't be read."""
    return sqlite.refusal(path, _KEPT)
