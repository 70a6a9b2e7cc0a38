"""A campaign's unit: one run folder, trained now unless it is whole and still what it is to be."""

import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tutor.card import Plan
from tutor.lab.assembly import assemble
from tutor.lab.loop import train
from tutor.lab.manifest import Purpose
from tutor.runfolder import MANIFEST
from tutor.runfolder.writer import rows_in

STOPPED = "stopped; the same command goes on from here"


@dataclass(frozen=True)
class Job:
    """One run to be trained, in a process of its own.

    Attributes:
        plan: what it is to be.
        break_name: how `--break` names its card; None for a run of no break.
        out: its folder.
    """

    plan: Plan
    break_name: str | None
    out: Path


def run_once(job: Job) -> None:
    """Train the job's run unless its folder holds it already, whole.

    Raises:
        SystemExit: it was interrupted.
        DiskFullError: the disk is full.
        ValueError: a fault or a trigger can't be applied to it.
    """
    settings = job.plan.settings
    if rows_in(job.out) >= settings.steps and _is(job):
        return
    shutil.rmtree(job.out, ignore_errors=True)
    recipe = assemble(settings, job.plan.trigger, job.plan.faults)
    purpose = Purpose(break_name=job.break_name, role=job.plan.role)
    if train(recipe, out=job.out, purpose=purpose) < settings.steps:
        raise SystemExit(STOPPED)


def _is(job: Job) -> bool:
    """Whether the run in the job's folder was trained as planned: its card may have changed since."""
    with suppress(OSError, ValueError, RecursionError):
        manifest = json.loads((job.out / MANIFEST).read_text(encoding="utf-8"))
        planned = {
            "settings": job.plan.settings.model_dump(mode="json"),
            "trigger": [part.data() for part in job.plan.trigger],
            "faults": [part.data() for part in job.plan.faults],
        }
        # Numbers are compared as JSON holds them: 1.0 in a card is 1 in a manifest.
        return all(manifest.get(key) == json.loads(json.dumps(value)) for key, value in planned.items())
    return False
