"""Readers: one file per log format, each with `sniff(path) -> bool` and `read(path) -> Run`.

`open_run("runs/19-break")` finds a run by path or by name and reads it with the first reader that
knows the format. To add a format, write one file here.
"""

import contextlib
import importlib
import pkgutil
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from tutor import paths
from tutor.run import BadRunError, Run


def _formats() -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{module.name}")


def available() -> dict[str, Path]:
    """Every run's path by name, the user's own before the shipped one of the same name."""
    found: dict[str, Path] = {}
    for folder in paths.folders("runs"):
        for path in sorted(folder.iterdir()):
            with contextlib.suppress(OSError):  # a folder of somebody else's hides no other run
                if any(reader.sniff(path) for reader in _formats()):
                    found.setdefault(path.name, path)
    return found


def locate(name: str) -> Path:
    """The path of a run given by path (`runs/19-break`) or by name (`19-break`).

    Raises:
        BadRunError: there is none; the nearest name is offered.
    """
    path = paths.named_by(name)
    with contextlib.suppress(OSError, ValueError):  # a name too long, or with a null in it
        if path.exists():
            return path
    known = available()
    if path.name in known and path.parent.name in ("", "runs"):
        return known[path.name]
    near = get_close_matches(path.name, known, n=1, cutoff=0.4)
    if near:
        hint = f"did you mean {known[near[0]]}?"
    elif known:
        hint = f"there are: {', '.join(known)}"
    else:
        hint = "train one: tutor train --break no-clip"
    raise BadRunError(f"there is no run at {name}; {hint}")


def read(path: Path) -> Run:
    """The run at `path`.

    Raises:
        BadRunError: it can't be read, or no reader knows its format.
    """
    try:
        for reader in _formats():
            if reader.sniff(path):
                return reader.read(path)
    except OSError as error:
        raise BadRunError(f"{path} can't be read: {error.strerror}") from None
    if path.is_dir() and not any(path.iterdir()):
        raise BadRunError(f"{path} is empty: a run folder holds at least metrics.jsonl, a row a step")
    raise BadRunError(f"{path} is no run that tutor can read: it looks for a folder with metrics.jsonl in it")


def open_run(name: str) -> Run:
    """The run of that path or name, read. Raises BadRunError."""
    return read(locate(name))
