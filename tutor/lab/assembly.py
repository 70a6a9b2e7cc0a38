"""Assembly: the recipe of a run, from plain data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tutor import plainfile
from tutor.lab import faults as registry
from tutor.lab.recipe import Recipe, healthy
from tutor.parts import Part, read
from tutor.runfolder import MANIFEST, TRUTH
from tutor.settings import Settings, build

LARGEST = 8 * plainfile.MEGABYTE  # bytes of a manifest


def assemble(settings: Settings, trigger: Sequence[Part] = (), faults: Sequence[Part] = ()) -> Recipe:
    """The recipe for `settings`, with the trigger and then the faults applied in order.

    Raises:
        ValueError: a trigger or a fault that isn't registered, a parameter that doesn't fit, or a device
            that isn't there; in one line.
    """
    return registry.apply(healthy(settings), trigger, faults)


def recipe_of(run: Path) -> Recipe:
    """The recipe that the folder `run` was begun with; of a sealed run too, by its `truth.json`.

    Raises:
        ValueError: `run` isn't the folder of such a run, or is one of tutor 0.1.0, whose trigger was a
            setting; in one line.
    """
    try:
        manifest = _json(run / MANIFEST)
        told = _json(run / TRUTH) if manifest.get("sealed") else manifest
        parts = {key: list(told.get(key, ())) for key in ("trigger", "faults")}
        settings = dict(manifest["settings"])
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise ValueError(f"{run} isn't a run that tutor train began") from None
    if "boilerplate_step" in settings:
        raise ValueError(
            f"{run} was begun by an early tutor that kept its trigger among the settings: it can be walked "
            "and compared, but not resumed; train it anew with --out"
        )
    try:
        trigger, faults = (tuple(map(read, parts[key])) for key in ("trigger", "faults"))
        return assemble(build(settings), trigger, faults)
    except ValueError as error:
        raise ValueError(f"{run} can't be trained on: {error}") from None


def _json(path: Path) -> Any:
    return json.loads(plainfile.read(path, LARGEST))
