"""Growing: a log that is still written, read again where it has changed, and what is the matter with it.

    growing = Growing(path)
    state = growing.look()      again and again, at the pace of `pace.Pace`

A run folder of ours is read on from where it was read before, any other log anew. What was read is kept,
whatever becomes of the log, until another training is written in its place.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from tutor import readers
from tutor.run import BadRunError, Run
from tutor.run.planned import Planned, planned
from tutor.runfolder import CHECKPOINTS, ENDED, log_in
from tutor.runfolder.ended import noted_end
from tutor.words import say

SILENT_AFTER = 10.0
"""Minutes without a row after which a run is presumed dead, where nobody says otherwise."""

_MOST = 1000  # files of a folder whose times are looked at


@dataclass(frozen=True)
class Trouble:
    """What is the matter with a log; its words are in `words/<language>/follow.yaml`."""

    key: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def says(self, lang: str) -> str:
        """The line to show."""
        return say(f"follow.{self.key}", lang, **self.facts)


@dataclass(frozen=True)
class State:
    """How a run stands that is followed.

    Attributes:
        run: as far as it was read; None before its first row.
        written: when its log was last written, in seconds since the epoch.
        silent: whether that is so long ago that the run is presumed dead: none is before its first row.
        trouble: why its log can't be read as it stands; None where it can.
        noted: the step of its last row, as the loop that recorded it has noted; None where none did.
    """

    run: Run | None
    written: float
    silent: bool = False
    trouble: Trouble | None = None
    noted: int | None = None

    @property
    def ended(self) -> bool:
        """Whether it has come to the last of the steps that it was to have, or was closed at its last."""
        if self.step is None:
            return False
        return self.step == self.noted or (self._planned is not None and self.step >= self._planned.last)

    @property
    def step(self) -> int | None:
        """Of the last row."""
        return int(self.run.steps[-1]) if self.run is not None and len(self.run) else None

    @property
    def steps(self) -> int | None:
        """How many the run was to have, where that is known."""
        return self._planned.steps if self._planned is not None else None

    @cached_property
    def _planned(self) -> Planned | None:
        return planned(self.run) if self.run is not None else None


class Growing:
    """The log at `path`.

    Args:
        path: of a run, as `readers.read` takes it.
        silent_after: minutes without a row after which the run is presumed dead.
        clock: seconds since the epoch.
        read: reads the run at a path, given what was read before.
    """

    def __init__(
        self,
        path: Path,
        silent_after: float = SILENT_AFTER,
        *,
        clock: Callable[[], float] = time.time,
        read: Callable[[Path, Run | None], Run] = readers.read,
    ) -> None:
        self.path = path
        self._silent_after, self._clock, self._read = 60 * silent_after, clock, read
        self._run: Run | None = None
        self._since: Run | None = None
        self._seen: _Files | None = None
        self._logs: frozenset[Path] = frozenset()
        self._failed = 0
        self._trouble: Trouble | None = None
        self._written = clock()

    def look(self) -> State:
        """Read the log if it has changed, and say how it stands."""
        files = _files(self.path)
        # What fails once may have been read in the middle of a write: it gets another try.
        if files != self._seen or self._failed == 1:
            self._seen = files
            self._take(files)
        state = State(self._run, self._written, trouble=self._trouble, noted=noted_end(self.path))
        waited = self._clock() - self._written
        began = state.step is not None  # before the first row it may wait in a queue for hours
        return replace(state, silent=began and not state.ended and waited >= self._silent_after)

    def _take(self, files: "_Files") -> None:
        """Read the log, and keep what is no less than was read before."""
        try:
            run = self._read(self.path, self._since)
        except BadRunError as error:
            self._failed += 1
            self._since = None
            if self._run is None:
                there = self.path.exists()
                self._trouble = Trouble("waiting", {"why": str(error)}) if there else Trouble("absent")
            elif self._failed > 1:
                there = any(log.is_file() for log in self._logs)
                self._trouble = Trouble("unreadable", {"why": str(error)}) if there else Trouble("gone")
            return
        self._failed = 0
        before = self._run
        if before is not None and _shorter(run, before) and not _another(run, before):
            self._since, self._trouble = None, Trouble("shorter")
            return
        self._trouble, self._logs = None, files.paths
        rows_came = before is None or not run.frame.equals(before.frame)
        if rows_came:
            self._written = min(files.written or self._clock(), self._clock())
        if before is None or rows_came or run.revision != before.revision:
            self._run = run
        self._since = self._run


def time_of(at: float) -> str:
    """A time, in seconds since the epoch, as a clock on the wall shows it; with its date on another day."""
    when = datetime.fromtimestamp(at)
    return f"{when:%H:%M}" if when.date() == datetime.now().date() else f"{when:%Y-%m-%d %H:%M}"


def _shorter(run: Run, before: Run) -> bool:
    """Whether the log has lost rows: it was cut, or is being written anew."""
    if not len(before):
        return False
    return len(run) < len(before) or int(run.steps[-1]) < int(before.steps[-1])


def _another(run: Run, before: Run) -> bool:
    """Whether a log that has lost rows holds another training: its losses aren't those at the same steps.

    Its last row may be half written.
    """
    if not (run.has("loss") and before.has("loss")):
        return False
    both = run.frame[:-1].select("step", "loss").join(before.frame.select("step", "loss"), on="step")
    return not both["loss"].equals(both["loss_right"])


@dataclass(frozen=True)
class _Files:
    """The files of a run as they stand.

    Attributes:
        known: of each its path, which file that is, its size, and when it was written.
    """

    known: frozenset[tuple[str, int, int, int]]

    @property
    def paths(self) -> frozenset[Path]:
        """Of the files."""
        return frozenset(Path(path) for path, *_ in self.known)

    @property
    def written(self) -> float | None:
        """When the last of them was written, in seconds since the epoch; None where there are none."""
        return max((at / 1e9 for _, _, _, at in self.known), default=None)


def _files(path: Path) -> _Files:
    """The files that change where a row comes."""
    known = set()
    for one in _places(path):
        with suppress(OSError):
            at = one.stat()
            known.add((str(one), at.st_ino, at.st_size, at.st_mtime_ns))
    return _Files(frozenset(known))


def _places(path: Path) -> Iterator[Path]:
    """A run folder's log and the folder of its checkpoints, a file, a database with its writes that wait, or
    what lies in another tool's folder.
    """
    if path.is_dir():
        if (log := log_in(path)).is_file():
            yield from (log, path / CHECKPOINTS, path / ENDED)
        else:
            found = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
            yield from islice(found, _MOST)
        return
    file = path if path.is_file() else path.parent  # of one of the runs in a database
    if file.is_file():
        yield from (file, file.with_name(f"{file.name}-wal"))
