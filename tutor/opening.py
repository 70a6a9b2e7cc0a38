"""Opening: in which tree a walk over a run begins, where nobody names one."""

import json
from contextlib import suppress
from pathlib import Path

from tutor import paths
from tutor.runfolder import MANIFEST
from tutor.words import BadFileError, Document
from tutor.words.prose import graph_of

FIRST = "phase-18"
"""The first of the trees; its leaves lead on to the others."""

IN_FLIGHT = "phase-19"
"""The tree about the course of a run. The first one asks what other trainers seldom log; it is walked
beside this one, and what is found there is shown.
"""


def opening(run: Path) -> str:
    """The tree that the lesson of the run at `run`, its folder or its log, is about.

    A run without a manifest, or of which only a part is quoted, begins in the tree about its course, any
    other in the first. A sealed one says itself where it begins.

    The first question waits for this, so it reads no more than the manifest and the graph of its card.
    """
    with suppress(OSError, ValueError, RecursionError, KeyError, TypeError, BadFileError):
        folder = run if run.is_dir() else run.parent
        if not (folder / MANIFEST).exists():
            return IN_FLIGHT
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8-sig"))
        if manifest.get("sealed") and isinstance(opens := manifest.get("opens"), str):
            return opens
        if manifest.get("excerpt"):
            return IN_FLIGHT
        return str(Document(_card(manifest["break"])).data["expect"]["tree"])
    return FIRST


def _card(break_name: str) -> Path:
    """The graph of the card that a manifest names: by its name, or by its file.

    Looked for by its name, not among all cards there are: a list of runs asks this of each of them.
    """
    if Path(break_name).name == break_name:
        for folder in paths.folders("trees"):
            card = folder / "breaks" / f"{break_name}.yaml"
            if card.is_file() and graph_of(card) == card:
                return card
    return paths.named_by(break_name)
