"""Watching: a run that still trains, walked again as its log grows, with nobody at the screen.

    watch = Watch(Growing(path), partial(Report, tree=tree, find=find))
    for event in watch.look(): ...

A verdict that only trembles is not to be told again and again. One that hangs by a hair, or that the last
rows alone show, has to hold for two looks, and one that was told before for twice as many as the last time it
came: 2, 4, 8 looks at which rows had come. So of n looks at most about log2 n tell the same verdict.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from tutor.following.growing import Growing, State
from tutor.report import Report
from tutor.run import Run

Kind = Literal["verdict", "silent", "rows", "trouble", "readable", "end"]

Found = tuple[str, str, str]
"""What tells one verdict from another: the verdict, the tree and where it ended."""


@dataclass(frozen=True)
class Event:
    """Something to be told of a run that is watched.

    Attributes:
        kind: "verdict": it is another one than was told last; "silent": presumed dead; "rows": they come
            again; "trouble": the log can't be read; "readable": it can again; "end": the last step is logged.
        state: how the run stands.
        report: the last one; None before a second row.
        first: of a verdict, whether it is the run's first.
        new_flaw: of a verdict, whether it is a flaw that wasn't told before.
        withdrawn: of a verdict that is no flaw, the flaw that was told last; else None.
    """

    kind: Kind
    state: State
    report: Report | None
    first: bool = False
    new_flaw: bool = False
    withdrawn: Report | None = None


class Watch:
    """A run that is watched.

    Args:
        growing: the run.
        walked: what a walk that nobody watches makes of it.

    Attributes:
        report: the last one; None before a second row.
        ended: whether the run has.
    """

    def __init__(self, growing: Growing, walked: Callable[[Run], Report]) -> None:
        self.growing, self._walked = growing, walked
        self.report: Report | None = None
        self.ended = False
        self._state: State | None = None
        self._told: Found | None = None
        self._flaw: Report | None = None  # that was told last
        self._times: Counter[Found] = Counter()
        self._held: Counter[Found] = Counter()

    def look(self) -> list[Event]:
        """Look at the log, and say what is to be told."""
        before, self._state = self._state, self.growing.look()
        return list(self._events(self._state, before))

    def _events(self, state: State, before: State | None) -> Iterator[Event]:
        if before is not None and before.silent and not state.silent:
            yield Event("rows", state, self.report)
        trouble = before.trouble if before is not None else None
        if state.trouble != trouble:
            yield Event("trouble" if state.trouble else "readable", state, self.report)
        run = state.run
        if run is not None and len(run) > 1 and (self.report is None or run is not self.report.run):
            self.report = self._walked(run)
            if self._settled(self.report, last=state.ended):
                yield self._verdict(state, self.report)
        if state.silent and not (before is not None and before.silent):
            # No row comes any more to bear it out.
            if self.report is not None and _found(self.report) != self._told:
                yield self._verdict(state, self.report)
            yield Event("silent", state, self.report)
        if state.ended and not self.ended:
            self.ended = True
            yield Event("end", state, self.report)

    def _settled(self, report: Report, *, last: bool) -> bool:
        """Whether the verdict is another than was told, and has held for long enough; at the end, at once."""
        found = _found(report)
        self._held = Counter({found: self._held[found] + 1})
        close = report.fresh or any(look.close for look in report.looks)
        needed = (2 if close else 1) * 2 ** self._times[found]
        return found != self._told and (last or self._held[found] >= needed)

    def _verdict(self, state: State, report: Report) -> Event:
        found, first = _found(report), self._told is None
        new_flaw = report.verdict == "flaw" and not self._times[found]
        withdrawn = self._flaw if report.verdict != "flaw" else None
        self._told, self._flaw = found, report if report.verdict == "flaw" else None
        self._times[found] += 1
        return Event("verdict", state, report, first, new_flaw, withdrawn)


def _found(report: Report) -> Found:
    return report.verdict, report.walk.tree.tree, report.walk.at
