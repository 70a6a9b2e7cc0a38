"""Preferences: what a learner has set in the app and finds again, in learners/<name>/preferences.json.

Read before the first screen is drawn, so nothing heavy is imported here.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tutor import paths, plainfile
from tutor.words import LANGUAGES

NAME = "preferences.json"
LARGEST = plainfile.MEGABYTE  # bytes of the file


@dataclass(frozen=True)
class Preferences:
    """What a learner has set.

    Attributes:
        theme: the colours of the screens.
        lang: the language chosen in the app; "" where none was: then the environment's holds.
    """

    theme: Literal["dark", "light"] = "dark"
    lang: str = ""


def read(learner: str) -> Preferences:
    """The preferences of `learner`; the usual ones for what is missing or can't be read."""
    try:
        kept = json.loads(plainfile.read(_path(learner), LARGEST))
    except (OSError, ValueError, RecursionError):
        return Preferences()
    if not isinstance(kept, dict):
        return Preferences()
    theme = "light" if kept.get("theme") == "light" else "dark"
    lang = next((known for known in LANGUAGES if known == kept.get("lang")), "")
    return Preferences(theme, lang)


def write(learner: str, preferences: Preferences) -> None:
    """Keep `preferences`; what else is in the file stays.

    Raises:
        NotebookError: they can't be written.
    """
    from tutor.notebook.files import locked, replace

    path = _path(learner)
    with locked(path.parent):
        kept: object = None
        with suppress(FileNotFoundError, ValueError, RecursionError):
            kept = json.loads(plainfile.read(path, LARGEST))
        others = kept if isinstance(kept, dict) else {}
        replace(path, json.dumps(others | asdict(preferences), indent=2).encode() + b"\n")


def _path(learner: str) -> Path:
    return paths.learners() / learner / NAME
