"""Runs on a cluster, through submitit: for those who have outgrown one machine. An extra: `.[cluster]`."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

HOURS = 4
"""The longest that one run may take."""


def outcomes(
    function: Callable[[Item], Result], items: Sequence[Item], at_once: int, cluster: str, logs: Path
) -> Iterator[tuple[Item, Result | str]]:
    """`function` of each item, with it, as they get done; for a job that failed, why.

    Args:
        function: at the top of a module.
        items: what can be sent to another process.
        at_once: how many jobs.
        cluster: as submitit calls it: "slurm", or "local" for processes on this machine.
        logs: the folder for submitit's files; the machines share it.

    Raises:
        ModuleNotFoundError: submitit isn't installed.
    """
    import submitit
    from submitit.core.utils import FailedJobError, UncompletedJobError

    executor = submitit.AutoExecutor(folder=logs, cluster=cluster)
    executor.update_parameters(
        timeout_min=60 * HOURS, cpus_per_task=1, slurm_array_parallelism=at_once, name="tutor-atlas"
    )
    jobs = executor.map_array(function, items)
    waiting = dict(zip(jobs, items, strict=True))
    try:
        for job in submitit.helpers.as_completed(jobs):
            item = waiting.pop(job)
            try:
                found = job.result()
            except FailedJobError as error:
                yield item, _reason(str(error))
            except UncompletedJobError as error:
                yield item, str(error)
            else:
                yield item, found
    finally:
        for job in waiting:
            job.cancel()


def _reason(told: str) -> str:
    """The last line of the traceback that submitit sets between rules."""
    parts = told.split("-" * 22)
    return (parts[1] if len(parts) > 1 else told).strip().splitlines()[-1]
