"""Trees and cards written for a test: one mapping with every sentence by language, split into their files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

NOTHING = object()


def write(path: Path, data: Mapping[str, Any], languages: tuple[str, ...] = ("en", "es")) -> Path:
    """The graph at `path`, and the prose in a file per language beside it.

    A mapping whose keys are languages, all or some, is a sentence.
    """
    path.write_text(_yaml(graph(data, languages)), encoding="utf-8")
    for lang in languages:
        text = _yaml(prose(data, lang, languages))
        prose_path(path, lang).write_text(text, encoding="utf-8")
    return path


def prose_path(path: Path, lang: str) -> Path:
    """The file with the prose of the graph at `path` in a language."""
    return path.with_name(f"{path.stem}.{lang}{path.suffix}")


def graph(data: Any, languages: tuple[str, ...]) -> Any:
    """All but the sentences; NOTHING where there is nothing else."""
    if _is_sentence(data, languages):
        return NOTHING
    if isinstance(data, Mapping):
        kept = {
            key: below for key, value in data.items() if (below := graph(value, languages)) is not NOTHING
        }
        return kept if kept or not data else {} if "words" in data else NOTHING
    if isinstance(data, list | tuple):
        kept = [graph(value, languages) for value in data]
        return NOTHING if NOTHING in kept else kept
    return data


def prose(data: Any, lang: str, languages: tuple[str, ...]) -> Any:
    """The sentences in one language; NOTHING where there are none."""
    if _is_sentence(data, languages):
        return data.get(lang, NOTHING)
    if isinstance(data, Mapping):
        below = {key: prose(value, lang, languages) for key, value in data.items()}
        return {key: value for key, value in below.items() if value is not NOTHING} or NOTHING
    if isinstance(data, list | tuple):
        below = [prose(value, lang, languages) for value in data]
        return [value for value in below if value is not NOTHING] or NOTHING
    return NOTHING


def _is_sentence(data: Any, languages: tuple[str, ...]) -> bool:
    return isinstance(data, Mapping) and bool(data) and set(data) <= set(languages)


def _yaml(data: Any) -> str:
    return yaml.safe_dump({} if data is NOTHING else data, sort_keys=False, allow_unicode=True, width=1000)
