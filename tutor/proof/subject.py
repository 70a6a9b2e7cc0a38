"""What a run is to be proven by: the card that its manifest or, where that is sealed, its truth names."""

from contextlib import suppress
from dataclasses import dataclass

from tutor import card as cards
from tutor.card import Card
from tutor.run import Run
from tutor.runfolder.truth import SealError, read_truth
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
        with suppress(SealError):
            truth = read_truth(run.path, manifest)
            name, role = truth.get("break"), truth.get("role")
    if not isinstance(name, str):
        return None
    try:
        return Subject(cards.find(name, checked=False), role == "break")
    except (ValueError, BadFileError):
        return None
