"""Where runs lie: what a path is a run of, what lies in a folder, and what is passed over there."""

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tutor.readers.common import formats, outputs, several
from tutor.readers.source import Joining, Reader, Source, Unclear
from tutor.run import BadRunError

_PROGRAMS = {".py", ".sh", ".c", ".cpp", ".cu", ".h", ".rs", ".go", ".js", ".html", ".tex"}
"""Files that quote logs and are none, whatever their lines look like."""
_TEXTS = {".md", ".txt"}
_NOTES = 20
"""Texts in a folder; of more of them each is rather a piece of data than somebody's notes."""
_DEEP = 5
"""Levels in which runs are looked for: `outputs/run/lightning_logs/version_0/metrics.csv` lies that deep."""


def sources(path: Path) -> list[Source]:
    """The runs at `path`: the one that it is or, where it is a folder of several, those in it.

    A folder that is no run of its own may be one inside it: that of a run's log, or of another tool's.

    Raises:
        BadRunError: two readers claim one file.
        OSError: `path` can't be opened.
    """
    for asked in formats.in_turn():
        if found := _at_or_in(path, asked):
            return found + _others(path, found, alone=False)
    return one_of(path)


def left_out(path: Path) -> dict[str, list[Path]]:
    """Of the files in a folder those that `sources` passes over, though they may be meant as logs, by why.

    Returns:
        "printed": what lies beside the one other log of the folder, most likely of the same run; "quoted":
        texts with rows of a log in them; "unread": what looks like a log by its name and is none that a
        reader knows.
    """
    if not path.is_dir():
        return {}
    found = sources(path)
    printed = [one.path for one in _others(path, found, alone=True)]
    if any(source.path == path for source in found):
        return {"printed": printed}
    known = {*printed, *outputs.holding(found)}
    runs_in = {one if one.is_dir() else one.parent for one in known} - {path}
    named = [one for one in _files(path, runs_in, _DEEP) if one not in known and outputs.meant(one)]
    quoted = [one for one in _texts(path, runs_in) if one not in known]
    # Where a folder is one run by its tool's log, a reader may know what lies beside that all the same.
    known = {one for one in named if any(_among(one, asked) for asked in formats.in_turn())}
    printed += [one for one in named if one in known]
    return {"printed": printed, "quoted": quoted, "unread": [one for one in named if one not in known]}


def _texts(path: Path, but: Collection[Path]) -> Iterator[Path]:
    """The texts in a folder, and in those right in it `but` in some, that hold rows of a log with names."""
    for folder in (path, *(inner for inner in inside(path) if inner not in but)):
        texts = [one for one in inside(folder) if one.suffix in _TEXTS and one.is_file()]
        for one in texts if len(texts) <= _NOTES else ():
            if any(_among(one, asked) for asked in formats.in_turn() if "unnamed" not in asked):
                yield one


def claims(path: Path) -> list[Source]:
    """The runs that the readers recognise at `path` itself."""
    return next((found for asked in formats.in_turn() if (found := _claimed(path, asked))), [])


def one_of(path: Path) -> list[Source]:
    """The run of that place, or name, among those that were written to one log: `log.csv/2`."""
    if not path.parent.is_file():
        return []
    return [several.OneOf(path, source) for source in claims(path.parent) if source.path == path.parent]


def within(source: Source, path: Path) -> bool:
    """Whether it is one of the runs in the file at `path`."""
    return source.path.parent == path and path.is_file()


def inside(folder: Path) -> list[Path]:
    """What lies in a folder, by name, but for programs, what is hidden, and what can't be opened."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        found = [
            path
            for path in sorted(folder.iterdir())
            if not path.name.startswith(".") and path.suffix not in _PROGRAMS
        ]
    return [path for path in found if os.access(path, os.R_OK)] if folder.is_dir() else []


def _files(folder: Path, but: Collection[Path], levels: int) -> Iterator[Path]:
    """The files in a folder, and in those in it, so many levels down, `but` for those in some folders."""
    for one in inside(folder):
        if one.is_file():
            yield one
        elif levels > 1 and one not in but and not one.is_symlink():
            yield from _files(one, but, levels - 1)


def _others(path: Path, found: Sequence[Source], *, alone: bool) -> list[Source]:
    return outputs.others(path, found, alone=alone, inside=inside, claimed=_later)


def _later(file: Path) -> list[Source]:
    """The runs in a file that is a log by its name, or may be one; none in JSON that a tool's own reader
    knows, as an earlier checkpoint's state of a run that a later one tells whole.
    """
    if known := _among(file, next(formats.in_turn())):
        return known if outputs.meant(file) else []
    for later in formats.LATER:
        names = set(later) if outputs.meant(file) else formats.BY_ENDING.get(file.suffix, set()) & set(later)
        asked = {name: reader for name, reader in formats.asked().items() if name in names}
        if asked and (found := _among(file, asked)):
            return found
    return []


def _at_or_in(path: Path, asked: Mapping[str, Reader]) -> list[Source]:
    """The runs at `path` that one of these readers recognises or, where it is none, of those in it."""
    return _claimed(path, asked) or _joined(_below(path, asked, _DEEP, {path.resolve()}))


def _below(folder: Path, asked: Mapping[str, Reader], levels: int, seen: set[Path]) -> Iterator[Source]:
    """The runs in a folder, and in those in it, so many levels down; none in what is a run itself.

    Nor in a folder that was `seen`: a link that leads there, or up again, holds the same runs.
    """
    for inner in sorted(inside(folder), key=Path.is_symlink):
        if inner.is_dir():
            if inner.resolve() in seen:
                continue
            seen.add(inner.resolve())
        found = _among(inner, asked)
        yield from found
        if levels > 1 and not found:
            yield from _below(inner, asked, levels - 1, seen)


def _among(path: Path, asked: Mapping[str, Reader]) -> list[Source]:
    """As `_claimed`, of what lies in a folder: what two claim says so when it is read."""
    try:
        return _claimed(path, asked)
    except BadRunError as error:
        return [Unclear(path, str(error))]


def _joined(found: Iterable[Source]) -> list[Source]:
    """The runs that files in folders make."""
    runs = list(found)
    for reader in formats.asked().values():
        runs = reader.joined(runs) if isinstance(reader, Joining) else runs
    return runs


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
