"""Assembly: the recipe of a run, from plain data."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tutor import plainfile
from tutor.card import Plan
from tutor.lab import faults as registry
from tutor.lab.recipe import Recipe, devices, healthy
from tutor.parts import Part, read
from tutor.runfolder import MANIFEST, TRUTH
from tutor.settings import Settings, build

LARGEST = 8 * plainfile.MEGABYTE  # bytes of a manifest


def assemble(
    settings: Settings,
    trigger: Sequence[Part] = (),
    faults: Sequence[Part] = (),
    actions: Sequence[Part] = (),
) -> Recipe:
    """The recipe for `settings`, with the trigger, the faults and then the actions applied in order.

    Raises:
        ValueError: a part that isn't registered, a parameter that doesn't fit, or a device that isn't there;
            in one line.
    """
    return registry.apply(healthy(settings), trigger, faults, actions)


def planned(plan: Plan) -> Recipe:
    """The recipe for a plan; raises ValueError as `assemble` does."""
    return assemble(plan.settings, plan.trigger, plan.faults, plan.actions)


def recipe_of(run: Path) -> Recipe:
    """The recipe that the folder `run` was begun with; of a sealed run too, by its `truth.json`.

    Raises:
        ValueError: see `plan_of`.
    """
    plan = plan_of(run)
    try:
        return planned(plan)
    except ValueError as error:
        raise ValueError(f"{run} can't be trained on: {error}") from None


def told_of(run: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The manifest of the folder `run`, and what was done to it on purpose: of a sealed run its truth.

    Raises:
        ValueError: there is none that can be read.
    """
    try:
        manifest = _json(run / MANIFEST)
        told = _json(run / TRUTH) if manifest.get("sealed") else manifest
        if not isinstance(told, dict):
            raise TypeError
    except (OSError, TypeError, ValueError, AttributeError, RecursionError):
        raise ValueError(f"{run} isn't a run that tutor train began") from None
    return manifest, told


def plan_of(run: Path) -> Plan:
    """What the folder `run` was begun as, in plain data; of a sealed run too, by its `truth.json`.

    Where its device isn't here, it is planned for one that is: see `elsewhere`.

    Raises:
        ValueError: `run` isn't the folder of such a run, or is one of tutor 0.1.0, whose trigger was a
            setting; in one line.
    """
    manifest, told = told_of(run)
    try:
        parts = {key: list(told.get(key, ())) for key in ("trigger", "faults", "actions")}
        settings = dict(manifest["settings"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{run} isn't a run that tutor train began") from None
    if "boilerplate_step" in settings:
        raise ValueError(
            f"{run} was begun by an early tutor that kept its trigger among the settings: it can be walked "
            "and compared, but not resumed; train it anew with --out"
        )
    try:
        trigger, faults, actions = (tuple(map(read, parts[key])) for key in parts)
        if elsewhere(run):
            settings["device"] = devices()[0]
        return Plan(build(settings), trigger, faults, "fork" if actions else "plain", actions)
    except ValueError as error:
        raise ValueError(f"{run} can't be trained on: {error}") from None


def elsewhere(run: Path) -> str | None:
    """The device that the folder `run` was trained on, where that isn't here; None where it is.

    Raises:
        ValueError: see `told_of`.
    """
    manifest, _ = told_of(run)
    settings = manifest.get("settings")
    device = settings.get("device") if isinstance(settings, dict) else None
    return device if device in ("cuda", "mps") and device not in devices() else None


def _json(path: Path) -> Any:
    return json.loads(plainfile.read(path, LARGEST))
