"""Shelf: the runs there are, by their manifests alone, so that a long log isn't read to list it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutor import readers
from tutor.words import plain, say


@dataclass(frozen=True)
class Book:
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


def books(also: Iterable[Path] = ()) -> list[Book]:
    """Every run there is, by name; then those of `also` that are others and are still there."""
    paths = [path for _, path in sorted(readers.available().items())]
    here = {path.resolve() for path in paths}
    paths += [path for path in dict.fromkeys(also) if path.is_dir() and path.resolve() not in here]
    return [Book(path.name, path, _manifest(path)) for path in paths]


def siblings(name: str, found: list[Book]) -> list[Book]:
    """The runs that differ from `name` by the fault alone: the same break in another role."""
    own = next((book.manifest for book in found if book.name == name), {})
    if not own.get("break"):
        return []
    return [
        book
        for book in found
        if book.name != name
        and book.manifest.get("break") == own["break"]
        and book.manifest.get("role") != own.get("role")
    ]


def _manifest(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
