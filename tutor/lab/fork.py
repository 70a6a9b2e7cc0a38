"""Fork: what if? A run taken up before one of its steps with something changed.

Its rows up to the fork are those of the run, bit for bit; from there on only the change differs.
"""

import copy
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from tutor import catalog
from tutor.card import Plan, Role
from tutor.lab import checkpoint
from tutor.lab.assembly import plan_of, planned, told_of
from tutor.lab.loop import go_on, restored
from tutor.lab.manifest import Purpose, manifest_of, truth_of
from tutor.lab.rewind import Rewound, rewind
from tutor.lab.trainer import Trainer
from tutor.parts import Part
from tutor.runfolder.writer import DiskFullError, Record, first_lines
from tutor.settings import Settings, assignments, build

TOLD = ("command", "break", "role", "changes", "trigger", "faults", "actions")
"""What a run's truth says of every run; the rest is where to look, of a sealed one."""


@dataclass(frozen=True)
class Change:
    """What is changed at a fork.

    Attributes:
        settings: over those of the run.
        actions: what is done about its data.
        without: names of faults and triggers that are taken out.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    actions: tuple[Part, ...] = ()
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In a few words, for the lineage."""
        parts = assignments(self.settings)
        parts += [str(one) for one in self.actions] + [f"without {name}" for name in self.without]
        return ", ".join(parts) or "nothing changed"


def typed(change: Change, base: Settings) -> Change:
    """The change with each setting as settings hold it: 0.003 where 3e-3 was typed.

    Raises:
        ValueError: a setting that there isn't or that is out of bounds.
    """
    built = build(change.settings, base)
    return replace(change, settings={name: getattr(built, name) for name in change.settings})


def changed(plan: Plan, change: Change) -> Plan:
    """The plan with the change.

    Raises:
        ValueError: a setting that there isn't or that is out of bounds, a fault that the run hasn't.
    """
    held = [part.name for part in (*plan.faults, *plan.trigger)]
    for name in change.without:
        if name not in held:
            raise ValueError(
                catalog.unknown("fault in this run", name, held)
                if held
                else f"there is no fault to take out: this run was trained without any, so not with {name!r}"
            )
    return replace(
        plan,
        settings=build(change.settings, plan.settings),
        trigger=tuple(part for part in plan.trigger if part.name not in change.without),
        faults=tuple(part for part in plan.faults if part.name not in change.without),
        actions=(*plan.actions, *change.actions),
    )


def experiment_on(run: Path, role: Role, change: Change, command: str, at: int | None = None) -> Purpose:
    """What a run is trained for that is the run `run` with a change, from step `at` on where it is a fork.

    Raises:
        ValueError: the run's manifest can't be read.
    """
    manifest, told = told_of(run)
    sealed = {name: value for name, value in told.items() if name not in TOLD}
    restart = () if at is None else ({"at": at, "run": str(run), "action": str(change)},)
    return Purpose(
        command=command,
        break_name=told.get("break"),
        role=role,
        changes={**(told.get("changes") or {}), **change.settings},
        sealed=sealed if manifest.get("sealed") else None,
        opens=manifest.get("opens"),
        lineage=(*manifest.get("lineage", ()), *restart),
        of=str(run),
    )


def fork(
    run: Path,
    at: int,
    change: Change,
    out: Path,
    *,
    command: str,
    on_row: Callable[[dict], None] | None = None,
    rewound: Rewound | None = None,
) -> int:
    """Fork `run` before step `at` into the new folder `out`; the number of steps that are done then.

    Args:
        run: its folder.
        at: 0 or a step with a checkpoint; any step where `rewound` holds the state before it.
        change: what is different from there on.
        out: the fork's folder; it mustn't exist.
        command: that makes it again.
        on_row: called with each row that was trained.
        rewound: the states that were reached by training steps of the run again.

    Raises:
        ValueError: the change can't be made, or the state doesn't fit what it makes.
        DiskFullError: the disk is full.
    """
    Record.refuse_taken(out)
    recipe = planned(changed(plan_of(run), change))
    rewound = rewound or rewind(run, planned(plan_of(run)), [at])
    before = _fitting(rewound.states[at], change, recipe.settings.dtype)
    trainer = Trainer(recipe)
    # An optimizer keeps the tensors that it is given: the state may be wanted for another fork.
    counted = restored(trainer, copy.deepcopy(before), checkpoint.path_of(run, at), begun=at > 0)
    purpose = experiment_on(run, "fork", change, command, at)

    def create() -> Record:
        described = manifest_of(trainer, out.name, purpose)
        truth = truth_of(trainer, purpose) if purpose.sealed is not None else None
        record = Record.create(out, described, recipe.corpus.texts, truth)
        try:
            record.copy(first_lines(run, rewound.base))
            record.append([row for row in rewound.rows if row["step"] < at])
            if at:
                checkpoint.save(out, at, dict(before))
        except (OSError, DiskFullError) as error:
            record.close()
            shutil.rmtree(out, ignore_errors=True)  # made here, and without its first rows it is no fork
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise DiskFullError(f"{out} can't be written: {reason}; nothing of it is kept") from None
        return record

    return go_on(trainer, create, at, counted, on_row)


def _fitting(state: Mapping[str, Any], change: Change, dtype: str) -> Mapping[str, Any]:
    """The state, with a fresh loss scale where the change is one of dtype: there is none to go on with."""
    if "dtype" not in change.settings:
        return state
    fresh = torch.amp.GradScaler("cpu", enabled=dtype == "fp16").state_dict()
    return {**state, "scaler": fresh}
