"""`tutor check RUN --follow`: a line when the verdict changes, and the command that is to be told of it."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from tutor import paths, readers, terminal
from tutor.cli import ending, options
from tutor.following import telling
from tutor.following.growing import SILENT_AFTER, Growing, time_of
from tutor.following.pace import EVERY, Pace
from tutor.following.watching import Event, Watch
from tutor.report import ENDS, STANDARD_INPUT, Report
from tutor.reported.keys import FORMAT
from tutor.run import BadRunError
from tutor.tree import Tree
from tutor.walk import Find
from tutor.words import plain, say

_UNDER = " " * 10
"""Under a line's words, behind its time."""


def check(
    runs: list[str],
    tree: Tree,
    find: Find | None,
    *,
    lang: str,
    as_json: bool,
    on: tuple[str, str] | None,
    silent_after: float | None,
    wait: Callable[[float], object] = time.sleep,
) -> int:
    """Follow a run until it has ended, or until Ctrl-C; the exit code of its last verdict."""
    if len(runs) != 1:
        options.fail("--follow follows one run; for several, start one for each")
    if runs[0] == STANDARD_INPUT:
        options.fail("--follow follows a file: write standard input to one (tee LOG), and follow that")
    asked, command = _asked(on)
    path = _place(runs[0])
    growing = Growing(path, SILENT_AFTER if silent_after is None else silent_after)
    watch, pace = Watch(growing, partial(Report, tree=tree, find=find)), Pace()
    said = _Said(path, lang, as_json=as_json)
    with suppress(KeyboardInterrupt):
        while True:
            with pace.working():
                events = watch.look()
            for event in events:
                said.tell(event)
                if command and (occasion := telling.occasion(event, asked)):
                    _run(command, occasion, said.data(event), said.told(event))
            if watch.ended:
                return _code(watch.report)
            wait(max(EVERY, pace.left))
    said.leave(watch.report)
    return _code(watch.report)


def _place(name: str) -> Path:
    """Where the run is, or will be: what is to be followed may be started before the training."""
    try:
        return readers.locate(name)
    except BadRunError as error:
        path = paths.named_by(name)
        if not name.strip() or not path.parent.is_dir():
            options.fail(error)
        return path


def _asked(on: tuple[str, str] | None) -> tuple[frozenset[str], str | None]:
    """On what a command is to be run, and the command."""
    if on is None:
        return frozenset(), None
    try:
        return telling.wanted(on[0]), on[1]
    except ValueError as error:
        options.fail(error)


def _run(command: str, occasion: str, found: Mapping[str, Any], sentence: str) -> None:
    """Run the command; where it fails, say so and go on."""
    if why := telling.tell(command, occasion, found, sentence):
        terminal.refuse(f"the command for {occasion} failed: {why}")


def _code(report: Report | None) -> int:
    return ending.of_verdicts([report.verdict if report is not None else None])


class _Said:
    """What is printed: a line for each event, in words or as JSON."""

    def __init__(self, path: Path, lang: str, *, as_json: bool) -> None:
        self._path, self._lang, self._as_json = path, lang, as_json
        self._last = ""

    def tell(self, event: Event) -> None:
        """Print the event."""
        if self._as_json:
            terminal.tell_json(self.data(event), indent=None)
            return
        self._line(self._words(event))
        for line in event.report.to_do(self._lang) if event.kind == "verdict" and event.report else ():
            terminal.tell(f"{_UNDER}{line}")

    def leave(self, report: Report | None) -> None:
        """Print the last verdict, of a run that is left before its end, unless it is the last line anyway."""
        if report is not None and not self._as_json and self._last != self._verdict(report):
            self._line(self._verdict(report))

    def _line(self, words: str) -> None:
        self._last = words
        terminal.tell(f"{datetime.now():%H:%M:%S}  {words}")

    def data(self, event: Event) -> dict[str, Any]:
        """The event for programs: as `tutor check --json` has a run, with what happened to it and when."""
        found = event.report.data(self._lang) if event.report is not None else {}
        when = datetime.now().astimezone().isoformat(timespec="seconds")
        trouble = event.state.trouble.says(self._lang) if event.state.trouble is not None else None
        return {
            "format": FORMAT,
            "run": str(self._path),
            "event": event.kind,
            "time": when,
            "last_step": event.state.step,
            "trouble": trouble,
            "withdrawn": event.withdrawn.headline(self._lang)[0] if event.withdrawn is not None else None,
            **found,
        }

    def told(self, event: Event) -> str:
        """What a command is told of the event: that a run is silent, or has ended, before what was found."""
        found = self.sentence(event.report, event.withdrawn)
        if event.kind in ("silent", "end"):
            return "; ".join(filter(None, [self._words(event), found]))
        return found

    def sentence(self, report: Report | None, withdrawn: Report | None = None) -> str:
        """What was found, in a sentence or two, and what no longer is; "" before there is anything."""
        found = ": ".join(filter(None, report.headline(self._lang))) if report is not None else ""
        if withdrawn is None:
            return found
        return f"{found}; {say('follow.withdrawn', self._lang, flaw=withdrawn.headline(self._lang)[0])}"

    def _words(self, event: Event) -> str:
        state, lang = event.state, self._lang
        if event.kind == "verdict":
            assert event.report, "a verdict is a report's"
            return self._verdict(event.report, event.withdrawn)
        if event.kind in ("trouble", "readable"):
            return plain(state.trouble.says(lang)) if state.trouble else say("follow.readable", lang)
        facts = {"step": state.step, "since": time_of(state.written)}
        key = {"silent": "silent", "rows": "rows_again", "end": "ended"}[event.kind]
        return say(f"follow.{key}", lang, **facts)

    def _verdict(self, report: Report, withdrawn: Report | None = None) -> str:
        mark, _ = ENDS[report.verdict]
        step = say("follow.at", self._lang, step=int(report.run.steps[-1]))
        told = f"{step}  {mark} {self.sentence(report, withdrawn)}"
        if report.verdict == "undecided":  # where it stands says nothing: at no flaw
            return told
        return f"{told}  ({report.walk.tree.tree} {report.walk.at})"
