"""Readers: one file per log format, each with `sources(path)` and `lacks(path)`; see `source.Reader`.

`open_run("runs/19-break")` finds a run by path or by name and reads it with the one reader that knows its
format. To add a format, write one file here: its `sources` recognises runs by their content.
"""

import contextlib
import functools
import importlib
import os
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import cast

from tutor import catalog, paths
from tutor.readers.common import outputs, several
from tutor.readers.common.beside import completed
from tutor.readers.source import NAMED, Joining, Reader, Source, Unclear, head
from tutor.run import BadRunError, Run

__all__ = [
    "Reader",
    "Source",
    "available",
    "every",
    "formats",
    "left_out",
    "listed",
    "locate",
    "open_run",
    "read",
    "read_source",
    "runs_of",
    "sources",
    "want",
]


_PROGRAMS = {".py", ".sh", ".c", ".cpp", ".cu", ".h", ".rs", ".go", ".js", ".html", ".tex"}
"""Files that quote logs and are none, whatever their lines look like."""
_LOGS = {".log", ".txt", ".out", ".csv", ".tsv", ".dat", ".json", ".jsonl"}
"""How the names of files end that may be meant as a log."""

_DEEP = 3
"""Levels of folders in which runs are looked for: `lightning_logs/version_0/metrics.csv` lies that deep."""

_wanted: ContextVar[str | None] = ContextVar("wanted", default=None)


class _Formats(Mapping[str, Reader]):
    """The readers by name, each loaded when it is asked for: most logs are claimed by one of the first."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)

    def __getitem__(self, name: str) -> Reader:
        if name not in self._names:
            raise KeyError(name)
        return cast(Reader, importlib.import_module(f"{__name__}.{name}"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@functools.cache  # a folder of many runs asks for them twice a run
def formats() -> Mapping[str, Reader]:
    """The readers by the name of their format, as `--format` takes it."""
    modules = pkgutil.iter_modules(__path__)
    return _Formats(one.name for one in modules if one.name != "source" and not one.ispkg)


def want(name: str | None) -> None:
    """From now on, read every log as one of that format; as what it is, where None.

    Raises:
        ValueError: there is no such format.
    """
    if name is not None and name not in formats():
        raise ValueError(catalog.unknown("format", name, formats()))
    _wanted.set(name)


_BY_ENDING = {".txt": {"printed", "aligned"}, ".json": {"json_document"}}
"""Those that are asked for a file of a folder which is a log as often as not, by the ending of its name."""
_LATER = (("json_document",), ("markdown", "printed"), ("aligned",), ("unnamed",))
"""Those that are asked where none that knows a tool's format claims a log: those that know one by the names
in it, then by its words alone, by a heading above its numbers, and then by its numbers alone."""


def _readers() -> Mapping[str, Reader]:
    wanted = _wanted.get()
    return formats() if wanted is None else {wanted: formats()[wanted]}


def _in_turn() -> Iterator[Mapping[str, Reader]]:
    """The readers, those that are asked later apart."""
    every = _readers()
    yield {name: every[name] for name in every if not any(name in later for later in _LATER)}
    for later in _LATER:
        yield {name: every[name] for name in later if name in every}


def available() -> dict[str, Path]:
    """Every run's path by name, the user's own before the shipped one of the same name."""
    return catalog.listing("runs", _named_runs)


def _named_runs(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        with contextlib.suppress(OSError, BadRunError):  # a folder of somebody else's hides no other run
            if found := _claims(path):
                inside = [source.path for source in found if _within(source, path)]
                yield from ((str(one.relative_to(folder)), one) for one in inside or [path])


def _within(source: Source, path: Path) -> bool:
    """Whether it is one of the runs in the file at `path`."""
    return source.path.parent == path and path.is_file()


def sources(path: Path) -> list[Source]:
    """The runs at `path`: the one that it is or, where it is a folder of several, those in it.

    A folder that is no run of its own may be one inside it: that of a run's log, or of another tool's.

    Raises:
        BadRunError: two readers claim one file.
        OSError: `path` can't be opened.
    """
    for asked in _in_turn():
        if found := _at_or_in(path, asked):
            return found + _others(path, found, alone=False)
    return _one_of(path)


def left_out(path: Path) -> tuple[list[Path], list[Path]]:
    """Of the files in a folder those that `sources` passes over, though they may be meant as logs.

    Returns:
        What lies beside the one other log of the folder, most likely of the same run; and what looks like a
        log by its name and is none that a reader knows.
    """
    if not path.is_dir():
        return [], []
    found = sources(path)
    printed = [one.path for one in _others(path, found, alone=True)]
    if any(source.path == path for source in found):
        return printed, []
    known = {*printed, *(source.path for source in found)}
    inside = {parent for one in known for parent in one.parents}
    others = (one for one in _inside(path) if one.is_file() and one not in known and one not in inside)
    named = [one for one in others if outputs.meant(one)]
    # Where a folder is one run by its tool's log, a reader may know what lies beside that all the same.
    known = {one for one in named if any(_among(one, asked) for asked in _in_turn())}
    return printed + [one for one in named if one in known], [one for one in named if one not in known]


def _others(path: Path, found: Sequence[Source], *, alone: bool) -> list[Source]:
    how = {"inside": _inside, "claimed": _later, "read": read_source}
    return outputs.others(path, found, alone=alone, **how)


def _later(file: Path) -> list[Source]:
    """The runs in a file that is a log by its name, or may be one; none in JSON that a tool's own reader
    knows, as an earlier checkpoint's state of a run that a later one tells whole.
    """
    if known := _among(file, next(_in_turn())):
        return known if outputs.meant(file) else []
    for later in _LATER:
        names = set(later) if outputs.meant(file) else _BY_ENDING.get(file.suffix, set()) & set(later)
        asked = {name: reader for name, reader in _readers().items() if name in names}
        if asked and (found := _among(file, asked)):
            return found
    return []


def _one_of(path: Path) -> list[Source]:
    """The run of that place, or name, among those that were written to one log: `log.csv/2`."""
    if not path.parent.is_file():
        return []
    return [several.OneOf(path, source) for source in _claims(path.parent) if source.path == path.parent]


def _at_or_in(path: Path, asked: Mapping[str, Reader]) -> list[Source]:
    """The runs at `path` that one of these readers recognises or, where it is none, of those in it."""
    return _claimed(path, asked) or _joined(_below(path, asked, _DEEP))


def _below(folder: Path, asked: Mapping[str, Reader], levels: int) -> Iterator[Source]:
    """The runs in a folder, and in those in it, so many levels down; none in what is a run itself."""
    for inner in _inside(folder):
        found = _among(inner, asked)
        yield from found
        if levels > 1 and not found:
            yield from _below(inner, asked, levels - 1)


def _among(path: Path, asked: Mapping[str, Reader]) -> list[Source]:
    """As `_claimed`, of what lies in a folder: what two claim says so when it is read."""
    try:
        return _claimed(path, asked)
    except BadRunError as error:
        return [Unclear(path, str(error))]


def _joined(found: Iterable[Source]) -> list[Source]:
    """The runs that files in folders make."""
    runs = list(found)
    for reader in _readers().values():
        runs = reader.joined(runs) if isinstance(reader, Joining) else runs
    return runs


def _inside(folder: Path) -> list[Path]:
    """What lies in a folder, by name, but for programs, what is hidden, and what can't be opened."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        found = [
            path
            for path in sorted(folder.iterdir())
            if not path.name.startswith(".") and path.suffix not in _PROGRAMS
        ]
    return [path for path in found if os.access(path, os.R_OK)] if folder.is_dir() else []


def _claims(path: Path) -> list[Source]:
    """The runs that the readers recognise at `path` itself."""
    return next((found for asked in _in_turn() if (found := _claimed(path, asked))), [])


def _claimed(path: Path, asked: Mapping[str, Reader]) -> list[Source]:
    """The runs at `path` itself that one of these readers recognises."""
    found: dict[Path, tuple[str, Source]] = {}
    for name, reader in asked.items():
        for source in reader.sources(path):
            first, other = found.setdefault(source.path, (name, source))
            if other is not source:
                raise BadRunError(
                    f"{source.path} could be {other.format} and {source.format}: say which, "
                    f"with --format {first} or --format {name}"
                )
    return [source for _, source in found.values()]


def locate(name: str) -> Path:
    """The path of a run given by path (`runs/19-break`) or by name (`19-break`).

    Raises:
        BadRunError: there is none; the nearest name is offered.
    """
    if not name.strip():
        raise BadRunError("no run is named: is the variable in your command empty?")
    path = paths.named_by(name)
    with contextlib.suppress(OSError, ValueError):  # a name too long, or with a null in it
        if path.exists() or _claims(path) or _one_of(path):
            return path
    known = available()
    if str(path) in known:
        return known[str(path)]
    if path.name in known and path.parent.name in ("", "runs"):
        return known[path.name]
    known = _beside(path) or _files_beside(path) | known
    if near := catalog.nearest(path.name, known):
        hint = f"did you mean {known[near]}?"
    elif len(path.parts) > 1 or path.suffix:  # the path of a file of their own: none of our names helps
        there = path.parent.is_dir()
        hint = "no file or folder is called that" if there else f"there is no folder {path.parent}"
    elif known:
        hint = f"there are: {', '.join(known)}"
    else:
        hint = "train one: tutor train --break no-clip"
    raise BadRunError(f"there is no run at {name}; {hint}")


def _files_beside(path: Path) -> dict[str, Path]:
    """By name the files in the folder in which `path` would be, where one is called nearly so."""
    beside = {one.name: one for one in _inside(path.parent) if one.is_file()}
    near = catalog.nearest(path.name, beside)
    return {near: beside[near]} if near else {}


def _beside(path: Path) -> dict[str, Path]:
    """By name the runs in the file in which `path` would be one of them."""
    with contextlib.suppress(OSError, ValueError):
        return {
            source.path.name: source.path for source in _claims(path.parent) if _within(source, path.parent)
        }
    return {}


def read(path: Path, since: Run | None = None) -> Run:
    """The run at `path`; given what was read of it before, what has come since.

    Raises:
        BadRunError: it can't be read, no reader knows its format, or there are several.
    """
    found = _found(path)
    found = [source for source in found if source.path == path] or found  # rather than what lies deeper
    if len(found) > 1:
        named = ", ".join(str(source.path) for source in found[:NAMED]) + (", ..." if found[NAMED:] else "")
        raise BadRunError(
            f"{path} holds {len(found)} runs, open one of them: {named}; tutor check takes all at once"
        )
    return read_source(found[0], since)


def every(name: str) -> list[Source]:
    """The runs of that path or name: one, or all that lie in a folder of several. Raises BadRunError."""
    return _found(locate(name))


def read_source(source: Source, since: Run | None = None) -> Run:
    """The source's run; see `read`. Raises BadRunError where it can't be read."""
    try:
        return completed(source.read(since))
    except OSError as error:
        raise BadRunError(f"{source.path} can't be read: {error.strerror}") from None


def runs_of(source: Source) -> Sequence[Run]:
    """The source's run or, of a log to which several were written one after another, each.

    Raises:
        BadRunError: it can't be read.
    """
    return several.each(read_source(source))


_QUICK = 20_000_000
"""Bytes of a log that is read to see whether several runs were written to it, when they are to be listed."""


def listed(path: Path) -> list[Source]:
    """As `sources`, with the runs apart that were written to one log one after another, if it is no long one.

    Raises:
        BadRunError: two readers claim one file, or it can't be read.
        OSError: `path` can't be opened.
    """
    found = sources(path)
    if len(found) != 1 or not path.is_file() or found[0].path != path or path.stat().st_size > _QUICK:
        return found
    runs = several.each(read_source(found[0]))
    return [several.OneOf(run.path, found[0]) for run in runs] if len(runs) > 1 else found


def _found(path: Path) -> list[Source]:
    """The runs at `path`, at least one. Raises BadRunError where no reader knows any of what is there."""
    try:
        if found := sources(path):
            return found
        raise BadRunError(_unknown(path))
    except OSError as error:
        raise BadRunError(f"{path} can't be read: {error.strerror}") from None


def _unknown(path: Path) -> str:
    """Why no reader knows what is at `path`, with a way on."""
    if path.is_dir() and not any(path.iterdir()):
        return f"{path} is empty: a run folder holds at least metrics.jsonl, a row a step"
    if path.is_file() and not path.stat().st_size:
        return f"{path} is empty: nothing was logged yet"
    near = _lacks(path)
    if path.is_dir() and not near:
        near = _lacking_in(path) or [
            "it looks for a folder with metrics.jsonl in it, or a file with a row a step, JSON or CSV"
        ]
    if not near and (wanted := _wanted.get()):
        return f"{path} doesn't look like a log of the format {wanted}"
    if not near and path.is_file() and b"\0" in head(path):
        return f"{path} holds no text: it is no log, or packed otherwise than by gzip"
    needs = "it needs rows of JSON or CSV, or printed lines, with a step and a loss in each"
    other = "; where it calls them otherwise, say how: --map step=WORD,loss=WORD"
    way_on = near[0] if near else needs + other if path.is_file() else needs
    return f"{path} is no run that tutor can read: {way_on}"


def _lacks(path: Path) -> list[str]:
    return [lack for reader in _readers().values() if (lack := reader.lacks(path))]


def _lacking_in(folder: Path) -> list[str]:
    """What the files of a folder lack that may be meant as its log: those near a format first."""
    files = [path for path in _inside(folder) if path.is_file() and path.suffix in _LOGS]
    near = [f"{path.name} is in it, but {lacks[0]}" for path in files if (lacks := _lacks(path))]
    return near or [f"{path.name} is in it, but has no line with a step and a loss" for path in files]


def open_run(name: str) -> Run:
    """The run of that path or name, read. Raises BadRunError."""
    return read(locate(name))
