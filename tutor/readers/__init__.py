"""Readers: one file per log format, each with `sources(path)` and `lacks(path)`; see `source.Reader`.

`open_run("runs/19-break")` finds a run by path or by name and reads it with the one reader that knows its
format. To add a format, write one file here: its `sources` recognises runs by their content.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tutor import catalog, paths
from tutor.readers.common import finding, several
from tutor.readers.common.beside import read_source
from tutor.readers.common.finding import left_out, sources
from tutor.readers.common.formats import asked, formats, want, wanted
from tutor.readers.source import NAMED, Reader, Source, head
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


_LOGS = {".log", ".txt", ".out", ".csv", ".tsv", ".dat", ".json", ".jsonl"}
"""How the names of files end that may be meant as a log."""


def available() -> dict[str, Path]:
    """Every run's path by name, the user's own before the shipped one of the same name."""
    return catalog.listing("runs", _named_runs)


def _named_runs(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        with contextlib.suppress(OSError, BadRunError):  # a folder of somebody else's hides no other run
            if found := finding.claims(path):
                inside = [source.path for source in found if finding.within(source, path)]
                yield from ((str(one.relative_to(folder)), one) for one in inside or [path])


def locate(name: str) -> Path:
    """The path of a run given by path (`runs/19-break`) or by name (`19-break`).

    Raises:
        BadRunError: there is none; the nearest name is offered.
    """
    if not name.strip():
        raise BadRunError("no run is named: is the variable in your command empty?")
    path = paths.named_by(name)
    with contextlib.suppress(OSError, ValueError):  # a name too long, or with a null in it
        if path.exists() or finding.one_of(path) or finding.claims(path):
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
    beside = {one.name: one for one in finding.inside(path.parent) if one.is_file()}
    near = catalog.nearest(path.name, beside)
    return {near: beside[near]} if near else {}


def _beside(path: Path) -> dict[str, Path]:
    """By name the runs in the file in which `path` would be one of them."""
    with contextlib.suppress(OSError, ValueError):
        return {
            source.path.name: source.path
            for source in finding.claims(path.parent)
            if finding.within(source, path.parent)
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
    if not near and (meant := wanted()):
        return f"{path} doesn't look like a log of the format {meant}"
    if not near and path.is_file() and b"\0" in head(path):
        return f"{path} holds no text: it is no log, or packed otherwise than by gzip"
    needs = "it needs rows of JSON or CSV, or printed lines, with a step and a loss in each"
    other = "; where it calls them otherwise, say how: --map step=WORD,loss=WORD"
    way_on = near[0] if near else needs + other if path.is_file() else needs
    return f"{path} is no run that tutor can read: {way_on}"


def _lacks(path: Path) -> list[str]:
    return [lack for reader in asked().values() if (lack := reader.lacks(path))]


def _lacking_in(folder: Path) -> list[str]:
    """What the files of a folder lack that may be meant as its log: those near a format first."""
    files = [path for path in finding.inside(folder) if path.is_file() and path.suffix in _LOGS]
    near = [f"{path.name} is in it, but {lacks[0]}" for path in files if (lacks := _lacks(path))]
    return near or [f"{path.name} is in it, but has no line with a step and a loss" for path in files]


def open_run(name: str) -> Run:
    """The run of that path or name, read. Raises BadRunError."""
    return read(locate(name))
