"""The readers by the names of their formats, and which are asked of a log in which order."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import cast

from tutor import catalog
from tutor.readers.source import Reader

_PACKAGE = "tutor.readers"
"""Each module in it is a reader, but for `source`, what all of them are."""

_wanted: ContextVar[str | None] = ContextVar("wanted", default=None)


class _Formats(Mapping[str, Reader]):
    """The readers by name, each loaded when it is asked for: most logs are claimed by one of the first."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)

    def __getitem__(self, name: str) -> Reader:
        if name not in self._names:
            raise KeyError(name)
        return cast(Reader, importlib.import_module(f"{_PACKAGE}.{name}"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@functools.cache  # a folder of many runs asks for them twice a run
def formats() -> Mapping[str, Reader]:
    """The readers by the name of their format, as `--format` takes it."""
    modules = pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__)
    return _Formats(one.name for one in modules if one.name != "source" and not one.ispkg)


def want(name: str | None) -> None:
    """From now on, read every log as one of that format; as what it is, where None.

    Raises:
        ValueError: there is no such format.
    """
    if name is not None and name not in formats():
        raise ValueError(catalog.unknown("format", name, formats()))
    _wanted.set(name)


def wanted() -> str | None:
    """The format that every log is to be read as; None where each is read as what it is."""
    return _wanted.get()


BY_ENDING = {".txt": {"printed", "aligned"}, ".json": {"json_document"}}
"""Those that are asked for a file of a folder which is a log as often as not, by the ending of its name."""
LATER = (("json_document",), ("markdown", "printed"), ("aligned",), ("unnamed",))
"""Those that are asked where none that knows a tool's format claims a log: those that know one by the names
in it, then by its words alone, by a heading above its numbers, and then by its numbers alone."""


def asked() -> Mapping[str, Reader]:
    """The readers by name, or the one that is wanted."""
    name = wanted()
    return formats() if name is None else {name: formats()[name]}


def in_turn() -> Iterator[Mapping[str, Reader]]:
    """The readers, those that are asked later apart."""
    every = asked()
    yield {name: every[name] for name in every if not any(name in later for later in LATER)}
    for later in LATER:
        yield {name: every[name] for name in later if name in every}
