"""Several runs in one file: the name that makes the last part of each one's path, `export.csv/RUN-NAME`.

Those that were written one after another are called by their places, `log.csv/1`, where the log has no name
for each.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tutor.readers.common.beside import completed
from tutor.readers.source import Source
from tutor.run import BadRunError, Remark, Run

_PLACE = "one_of"
_LONGEST = 60  # characters of a run's name in its path: a file's name has 255 bytes at most

Named = tuple[object, str]
"""A run's id and its name."""


def labels(named: Iterable[Named]) -> Iterator[Named]:
    """Each run's id, and its name as the last part of a path; of one name, the later have their id in it."""
    taken: set[str] = set()
    for id, name in named:
        label = _fit(name) or _fit(str(id)) or "run"
        if label in taken:
            label = f"{label}-{_fit(str(id))[:8]}"
        while label in taken:
            label += "+"
        taken.add(label)
        yield id, label


def _fit(name: str) -> str:
    """What can stand in a path and be typed."""
    signs = (sign if sign.isprintable() and sign not in "/\\" else "_" for sign in name[:_LONGEST])
    return "".join(signs).strip(" .")


def in_turn(runs: Sequence[Run]) -> Run:
    """The last of the runs that were written to one log one after another, with those before it."""
    count = len(runs)
    if count == 1:
        return runs[0]
    first = runs[0].path / _labels(runs)[0]
    *before, last = (
        replace(run, remarks=(*run.remarks, _place(at, count, first))) for at, run in enumerate(runs, 1)
    )
    return replace(last, before=tuple(before))


def _place(at: int, count: int, first: Path) -> Remark:
    return Remark(_PLACE, {"place": at, "count": count, "first": str(first)})


def moved(run: Run, path: Path, name: str) -> Run:
    """The run, and those before it in its log, as if the log were at `path`: it was read elsewhere."""
    alone = (
        replace(one, before=(), remarks=tuple(said for said in one.remarks if said.key != _PLACE))
        for one in (*run.before, run)
    )
    return in_turn([replace(one, path=path, name=name) for one in alone])


def _labels(runs: Sequence[Run]) -> list[str]:
    """What each of the runs of a log is called there: as the log does, else by its place."""
    return [label for _, label in labels((at, run.part or str(at)) for at, run in enumerate(runs, 1))]


def each(run: Run) -> Sequence[Run]:
    """The runs of one log, the oldest first, each with its own path and name; itself, where it is alone."""
    if not run.before:
        return [run]
    runs = [*map(completed, run.before), replace(completed(run), before=())]
    named = zip(runs, _labels(runs), strict=True)
    return [replace(one, path=one.path / label, name=f"{one.name}/{label}") for one, label in named]


@dataclass(frozen=True)
class OneOf:
    """A run in such a log.

    Attributes:
        path: `log.csv/2` of the second.
        log: the whole log's source.
    """

    path: Path
    log: Source

    @property
    def format(self) -> str:
        """What the log was recognised as."""
        return self.log.format

    def describe(self, lang: str) -> str:
        """What the log says that it was meant to be."""
        return self.log.describe(lang)

    def read(self, since: Run | None = None) -> Run:  # noqa: ARG002
        """The run, of the log that is read whole. Raises BadRunError where it holds no such run."""
        runs = each(self.log.read())
        for run in runs:
            if run.path == self.path:
                return run
        there = (
            f"{len(runs)} runs, {runs[0].path.name} to {runs[-1].path.name}" if len(runs) > 1 else "one run"
        )
        raise BadRunError(f"{self.path} isn't there: {self.path.parent} holds {there}")
