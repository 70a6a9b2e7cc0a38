"""What a run is to be proven by: the card that its manifest or, where that is sealed, its truth names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutor import card as cards
from tutor.card import Card
from tutor.run import Run
from tutor.runfolder import TRUTH
from tutor.words import BadFileError


@dataclass(frozen=True)
class Subject:
    """A card, and whether the run has its break; a control, or a run with a fix, hasn't."""

    card: Card
    broken: bool


def subject_of(run: Run) -> Subject | None:
    """The card of the break that `run` has, or is a control of; None where it has none that can be read.

    Reads files. Of a sealed run it gives the break away: only after the leaf.
    """
    manifest = run.manifest
    name, role = manifest.break_name, manifest.role
    if manifest.sealed:
        truth = _truth(run.path)
        name, role = truth.get("break"), truth.get("role")
    if not isinstance(name, str):
        return None
    try:
        return Subject(cards.find(name, checked=False), role == "break")
    except (ValueError, BadFileError):
        return None


def _truth(folder: Path) -> Mapping[str, Any]:
    """What a sealed run's manifest keeps to itself; nothing where that can't be read."""
    try:
        found = json.loads((folder / TRUTH).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
