"""Verify: a run trained again with a fix, from the same seed and from its first step."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tutor import card as cards
from tutor import catalog
from tutor.lab.assembly import plan_of, planned
from tutor.lab.fork import Change, changed, experiment_on
from tutor.lab.loop import train
from tutor.lab.recipe import Recipe
from tutor.run import Run
from tutor.settings import scaled
from tutor.tree import Times
from tutor.verifying import by_hand
from tutor.walk import Walk


def named_fix(run: Run, name: str) -> Change:
    """The fix of that name on the card of the run's break.

    Raises:
        ValueError: the run is of no break, or its card has no such fix.
    """
    if not run.manifest.break_name:
        raise ValueError(f"{run.name} is a run of no break, so no card names a fix; give --set name=value")
    fixes = cards.find(run.manifest.break_name).fixes
    if name not in fixes:
        raise ValueError(catalog.unknown(f"fix on the card {run.manifest.break_name}", name, sorted(fixes)))
    return as_change(run, fixes[name].change)


def smallest_fix(walk: Walk) -> Change:
    """The first fix of the leaf that can be run; where the code is what has to be mended, that.

    Raises:
        ValueError: the walk ends at no flaw, or names nothing that can be run.
    """
    leaf = walk.leaf
    if leaf is None or leaf.verdict == "healthy":
        raise ValueError(
            f"a walk over {walk.run.name} finds nothing to mend; give --set name=value to try a change anyway"
        )
    for fix in leaf.fixes:
        if fix.change:
            return as_change(walk.run, fix.change)
    return as_change(walk.run, {})


def as_change(run: Run, change: Mapping[str, Any]) -> Change:
    """A fix as a leaf or a card gives it; without settings it is the code that is mended.

    Raises:
        ValueError: `tutor train` didn't begin the run, or it has no fault in its code to be taken out, or a
            setting can't be multiplied.
    """
    try:
        begun = plan_of(run.path)
    except ValueError as problem:
        raise ValueError(f"{problem}; {by_hand(run.path)}") from None
    if change:
        was = run.manifest.settings
        return Change(
            settings={
                name: scaled(was.get(name), value.times) if isinstance(value, Times) else value
                for name, value in change.items()
            }
        )
    faults = tuple(part.name for part in begun.faults)
    if not faults:
        raise ValueError(
            f"what mends {run.name} is no setting, and its code has no fault to take out; "
            "give --set name=value to try a change"
        )
    return Change(without=faults)


def mended(run: Path, change: Change) -> Recipe:
    """The recipe of the run with the change; raises ValueError where it can't be made."""
    was = plan_of(run)
    now = changed(was, change)
    if replace(now, role=was.role) == was:
        raise ValueError(f"that changes nothing: {run} was trained with {change} already")
    return planned(now)


def train_again(
    run: Path,
    recipe: Recipe,
    change: Change,
    out: Path,
    *,
    command: str,
    on_row: Callable[[dict], None] | None = None,
) -> int:
    """Train the run again as the recipe has it, into the new folder `out`; the steps that were done.

    Raises:
        ValueError: `out` exists.
        DiskFullError: the disk is full.
    """
    purpose = experiment_on(run, "fix", change, command)
    return train(recipe, out=out, purpose=purpose, on_row=on_row)
