"""The runs there are, by their manifests alone, so that a long log isn't read to list it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutor import readers
from tutor.run import Run
from tutor.words import plain, say


@dataclass(frozen=True)
class RunEntry:
    """A run that can be opened."""

    name: str
    path: Path
    manifest: Mapping[str, Any]

    def describe(self, lang: str) -> str:
        """What it was meant to be, as far as its manifest says; nothing that a walk is to find."""
        settings = self.manifest.get("settings")
        settings = settings if isinstance(settings, dict) else {}
        words = [plain(str(self.manifest["dtype"]))] if self.manifest.get("dtype") else []
        for key in ("steps", "seed"):
            if isinstance(value := settings.get(key), int):
                words.append(say(f"walk.{key}", lang, **{key: value}))
        return " · ".join(words)


def available(also: Iterable[Path] = ()) -> list[RunEntry]:
    """Every run there is, by name; then those of `also` that are others and are still there."""
    paths = [path for _, path in sorted(readers.available().items())]
    here = {path.resolve() for path in paths}
    paths += [path for path in dict.fromkeys(also) if path.is_dir() and path.resolve() not in here]
    return [RunEntry(path.name, path, _manifest(path)) for path in paths]


def siblings(name: str, entries: Sequence[RunEntry]) -> list[RunEntry]:
    """The runs that differ from `name` by the fault alone: the same break in another role."""
    own = next((entry.manifest for entry in entries if entry.name == name), {})
    if not own.get("break"):
        return []
    return [
        entry
        for entry in entries
        if entry.name != name
        and entry.manifest.get("break") == own["break"]
        and entry.manifest.get("role") != own.get("role")
    ]


def beside(run: Run) -> list[RunEntry]:
    """What `run` may be laid beside: its siblings, or where it has none every other run."""
    entries = available()
    others = [entry for entry in entries if entry.path.resolve() != run.path.resolve()]
    return siblings(run.name, entries) or others


def _manifest(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
