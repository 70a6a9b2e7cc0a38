"""`tutor train`: what the command does, apart from its options.

Trains, shows the progress, and ends with the line that says how to walk the run.
"""

import os
import random
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tutor import terminal
from tutor.card import Card, Expect, Plan, Role, all_cards, resolve
from tutor.lab.assembly import assemble, elsewhere, recipe_of
from tutor.lab.checkpoint import saved
from tutor.lab.loop import resume as resume_run
from tutor.lab.loop import train
from tutor.lab.manifest import Purpose
from tutor.lab.progress import INTERRUPTED, free, progress, refused
from tutor.lab.recipe import Recipe
from tutor.parts import Part
from tutor.runfolder.writer import DiskFullError
from tutor.settings import Settings, command_words

AFTER = 100  # steps to train on after a trigger, to see what it did


def run_train(
    card: Card | None,
    changes: Mapping[str, Any],
    *,
    control: bool = False,
    faults: Sequence[Part] = (),
    sealed: bool = False,
    out: Path | None = None,
    resume: Path | None = None,
) -> int:
    """Train and record one run, or take `resume` up again; the exit code of the command.

    0 done, 1 the disk is full, 2 asked for something that can't be, 130 stopped by Ctrl-C.

    Args:
        card: the break, None for a run without one; sealed, one is then drawn from all cards.
        changes: settings over the card's.
        control: train the break's control.
        faults: faults over the card's.
        sealed: keep break and faults out of the folder's name and manifest, in its `truth.json`.
        out: the run's folder; a new one in `./runs` where none is given.
        resume: the run to take up again; everything else is then as it was begun.
    """
    try:
        if resume:
            folder, recipe = resume, _to_resume(resume)
            with progress(recipe.settings) as show:
                done = resume_run(folder, recipe, show)
        else:
            if sealed and card is None and not faults:
                card = random.choice(all_cards())
            plan = _plan(card, changes, control, faults)
            recipe = assemble(plan.settings, plan.trigger, plan.faults)
            folder = out or free("sealed" if sealed else _label(card, plan))
            purpose = Purpose(
                command=command_line(card, changes, folder, control=control, faults=faults, sealed=sealed),
                break_name=card.asked_as if card else None,
                role=plan.role,
                changes=changes,
                sealed=look_for(card, promised(card, plan.role)) if sealed else None,
            )
            for note in (too_short(recipe, sealed=sealed), busy(recipe.settings)):
                if note:
                    terminal.tell(note)
            with progress(recipe.settings) as show:
                done = train(recipe, out=folder, purpose=purpose, on_row=show)
    except KeyboardInterrupt:
        return refused("stopped", INTERRUPTED)
    except DiskFullError as error:
        return refused(error, 1)
    except ValueError as error:
        return refused(error, 2)
    shown, steps = shlex.quote(str(folder)), recipe.settings.steps
    if done < steps:
        more = f"go on: tutor train --resume {shown}" if saved(folder) else "no checkpoint was kept yet"
        terminal.tell(f"stopped after {done} steps; {more}")
    terminal.tell(f"walk it: tutor walk {shown}")
    return 0 if done == steps else INTERRUPTED


def command_line(
    card: Card | None,
    changes: Mapping[str, Any],
    out: Path,
    *,
    control: bool = False,
    faults: Sequence[Part] = (),
    sealed: bool = False,
) -> str:
    """The command that records the same run again."""
    words = ["tutor", "train"]
    if card:
        words += ["--break", card.asked_as]
    if control:
        words.append("--control")
    for fault in faults:
        words += ["--fault", str(fault)]
    if sealed:
        words.append("--sealed")
    return shlex.join([*words, *command_words(changes), "--out", str(out)])


def too_short(recipe: Recipe, *, sealed: bool = False) -> str | None:
    """A line to print where the run ends before the step of a trigger or a fault; None where it doesn't.

    Of a sealed run it names neither.
    """
    steps = recipe.settings.steps
    parts = [(part.name, part.parameters.get("step")) for part in (*recipe.trigger, *recipe.faults)]
    late = [(name, step) for name, step in parts if isinstance(step, int) and step >= steps]
    if not late:
        return None
    if sealed:
        return f"{steps} steps are too few for all that is hidden in this run to happen"
    what = ", ".join(f"{name} at step {step}" for name, step in late)
    enough = max(step for _, step in late) + AFTER
    return (
        f"this run ends at step {steps - 1}, before what it is to show ({what}): nothing will "
        f"happen; leave --steps out, or give {enough} or more"
    )


def _to_resume(run: Path) -> Recipe:
    """The recipe of a run to be taken up; on another device its rows wouldn't go on from those before.

    Raises:
        ValueError: it can't be taken up here.
    """
    if device := elsewhere(run):
        raise ValueError(
            f"{run} was trained on {device}, which isn't here: resume it where it is; "
            "tutor fork trains a copy of it on from a checkpoint here"
        )
    return recipe_of(run)


def busy(settings: Settings) -> str | None:
    """A line to print where training will wait for a core; None where it won't, or where nobody can tell.

    The threads of an operation wait for the slowest in a busy loop, so two of them beside other work train
    many times slower than one does.
    """
    if settings.device != "cpu" or settings.threads == 1:
        return None
    try:
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
    except (AttributeError, OSError):  # Windows has none, and a container may hide it
        return None
    if load <= cores - 1:
        return None
    return (
        f"the machine is busy (cores {cores}, load {load:.1f}): several threads then train far slower than "
        "one; if that work goes on, give --set threads=1 (sums then round differently)"
    )


def _plan(card: Card | None, changes: Mapping[str, Any], control: bool, faults: Sequence[Part]) -> Plan:
    """The card's plan with `faults` over it."""
    plan = resolve(card, control=control, changes=changes)
    if not faults:
        return plan
    if control:
        raise ValueError("--control is healthy: give --fault without it")
    role = "break" if plan.role == "plain" else plan.role
    return replace(plan, faults=(*plan.faults, *faults), role=role)


def look_for(card: Card | None, expect: Expect | None) -> dict[str, Any]:
    """What a sealed run's truth says of where to look: the card's ladder, its diagnosis, and the leaf."""
    told = card.model_dump(mode="json", include={"ladder", "diagnosis"}) if card else {}
    return told | ({"expect": expect.model_dump(mode="json")} if expect else {})


def promised(card: Card | None, role: Role) -> Expect | None:
    """Where a walk of a run in that role should end; None where nothing is promised."""
    if role == "break":
        return card.expect if card else None
    return None if role == "fix" else Expect(leaf=("healthy",))


def _label(card: Card | None, plan: Plan) -> str:
    """What to call a new run: no-clip, no-clip-control, plain, or the fault that it has."""
    if card is None:
        return plan.faults[0].name if plan.faults else "plain"
    return card.name if plan.role == "break" else f"{card.name}-{plan.role}"
