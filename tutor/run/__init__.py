"""Run: a manifest and columns of numbers. The noun that every room shares.

run = readers.open_run("19-break")
run["loss"], run.manifest.dtype, run.checkpoints, run.remarks

Readers make runs: `normalise` (imported by itself, with polars) turns any log's columns into a run's.
"""

from tutor.run.manifest import Batch, Group, Manifest, Schedule
from tutor.run.remark import Remark
from tutor.run.run import Aggregation, BadRunError, Checkpoint, Run
from tutor.run.scalars import known_float, to_float
from tutor.signals import PANELS

__all__ = [
    "PANELS",
    "Aggregation",
    "BadRunError",
    "Batch",
    "Checkpoint",
    "Group",
    "Manifest",
    "Remark",
    "Run",
    "Schedule",
    "known_float",
    "to_float",
]
