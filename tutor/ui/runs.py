"""The runs there are, by their manifests alone, so that a long log isn't read to list it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from glob import escape
from pathlib import Path

from tutor import readers
from tutor.opening import opening
from tutor.run import BadRunError, Manifest, Run
from tutor.runfolder import MANIFEST
from tutor.runfolder.manifest import read_manifest
from tutor.words import LANGUAGES, BadFileError

ROLES = ("control", "break", "fix")
"""What a run can be beside the others of its break."""


@dataclass(frozen=True)
class RunEntry:
    """A run that can be opened.

    Attributes:
        descriptions: what it was meant to be, by language; nothing that a walk is to find.
        tree: the name of the tree in which a walk over it begins.
        sealed: whether what was put into it is kept from who walks it.
    """

    name: str
    path: Path
    descriptions: Mapping[str, str]
    tree: str
    sealed: bool = False

    def describe(self, lang: str) -> str:
        """What it was meant to be, as far as its manifest says."""
        return self.descriptions.get(lang, "")


def available(also: Iterable[Path] = ()) -> list[RunEntry]:
    """Every run there is, one's own first; then those of `also` that are others and are still there."""
    paths = [*readers.available().values()]
    here = {path.resolve() for path in paths}
    paths += [path for path in dict.fromkeys(also) if path.resolve() not in here]
    return [entry for path in paths for entry in _entries(path)]


def inside(place: Path) -> list[RunEntry]:
    """The runs in a file or a folder of several, each by its path from there."""
    with suppress(OSError, BadRunError):
        return [_entry(source, _from(place, source.path)) for source in readers.listed(place)]
    return []


def _from(place: Path, path: Path) -> str:
    return str(path.relative_to(place)) if path.is_relative_to(place) and path != place else path.name


def _entries(path: Path) -> Sequence[RunEntry]:
    """The run at `path`, where a reader recognises one."""
    with suppress(OSError, BadRunError):
        manifest = path / MANIFEST
        if manifest.is_file():
            about = manifest.stat()
            return _as_it_stands(path, frozenset(path.iterdir()), (about.st_mtime_ns, about.st_size))
        return _looked_up(path)
    return ()


@lru_cache(maxsize=4096)
def _as_it_stands(path: Path, _files: frozenset[Path], _manifest: tuple[int, int]) -> Sequence[RunEntry]:
    """The run in a folder with these files, whose manifest is as it was: a key that lists the runs would else
    wait for all of them to be read again.
    """
    return _looked_up(path)


def _looked_up(path: Path) -> Sequence[RunEntry]:
    return [_entry(source, path.name, path) for source in readers.sources(path)[:1]]


def _entry(source: readers.Source, name: str, path: Path | None = None) -> RunEntry:
    """The source's entry; `path` is where it was found, where that isn't the source's own."""
    path = path or source.path
    about = {lang: source.describe(lang) for lang in LANGUAGES}
    return RunEntry(name, path, about, opening(path), _manifest(path).sealed)


def siblings(run: Run, entries: Sequence[RunEntry]) -> list[RunEntry]:
    """The control, the break and the fixes of the same break as `run`, other than in its own role.

    All else is the same: the trigger, and every setting but those that mend the break.
    """
    own = run.manifest
    if own.break_name is None or own.role not in ROLES:
        return []
    from tutor import card  # a run of no break needs none

    try:
        mending = card.find(own.break_name).mending
    except (ValueError, BadFileError, OSError):  # the card is gone
        mending = frozenset()
    return [entry for entry in entries if _are_siblings(own, _manifest(entry.path), mending)]


def _are_siblings(own: Manifest, other: Manifest, mending: frozenset[str]) -> bool:
    return (
        other.break_name == own.break_name
        and other.role in ROLES
        and other.role != own.role
        and other.trigger == own.trigger
        and _without(mending, other.settings) == _without(mending, own.settings)
    )


def _without(names: frozenset[str], settings: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in settings.items() if name not in names}


def beside(run: Run) -> list[RunEntry]:
    """What `run` may be laid beside: its siblings, or where it has none every other run of tutor's own.

    A run of another trainer is comparable to none of these: its neighbours are the logs in its folder, of
    another trainer too, and those called as it is in the folders beside that.
    """
    known = available() if run.manifest.tutor else [*inside(run.path.parent), *_next_door(run.path)]
    others = dict[Path, RunEntry]()
    for entry in known:
        if bool(_manifest(entry.path).tutor) == bool(run.manifest.tutor):
            others.setdefault(entry.path.resolve(), entry)
    others.pop(run.path.resolve(), None)
    alike = list(others.values())
    return siblings(run, alike) or alike


def _next_door(log: Path) -> list[RunEntry]:
    """The runs in the folders beside that of a log, in files of its name: `version_1/metrics.csv`."""
    found: list[RunEntry] = []
    with suppress(OSError):
        for file in sorted(log.resolve().parent.parent.glob(f"*/{escape(log.name)}")):
            with suppress(BadRunError):
                name = f"{file.parent.name}/{file.name}"
                found += [_entry(source, name, file) for source in readers.sources(file)[:1]]
    return found


def _manifest(path: Path) -> Manifest:
    """The manifest beside a run's log; an empty one where there is none, or it can't be read."""
    try:
        manifest, _ = read_manifest(path)
    except (BadRunError, OSError):
        return Manifest()
    return manifest
