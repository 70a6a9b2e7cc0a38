"""Run: a manifest and columns of numbers. The noun that every room shares.

run = readers.open_run("19-break")
run["loss"], run.manifest.dtype, run.checkpoints, run.remarks

Readers make runs: `normalise` (imported by itself, with polars) turns any log's columns into a run's.
"""

from tutor.run.cost import Cost, cost_of
from tutor.run.manifest import Batch, Group, Manifest, Restart, Schedule
from tutor.run.remark import Remark
from tutor.run.run import Aggregation, BadRunError, Checkpoint, Chosen, Counts, Run, once
from tutor.run.scalars import as_number, known_float, to_float
from tutor.signals import PANELS

__all__ = [
    "PANELS",
    "Aggregation",
    "BadRunError",
    "Batch",
    "Checkpoint",
    "Chosen",
    "Cost",
    "Counts",
    "Group",
    "Manifest",
    "Remark",
    "Restart",
    "Run",
    "Schedule",
    "as_number",
    "cost_of",
    "known_float",
    "once",
    "to_float",
]
