"""Request: everything that a panel needs to draw itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import polars as pl
from rich.text import Text

from tutor.plots.ink import Ink, centred
from tutor.plots.ruling import Ruling
from tutor.plots.view import View
from tutor.run import Run
from tutor.words import say


def to_list(value: Any) -> Any:
    """A cell of a list column as a list; any other as it is."""
    return value.to_list() if isinstance(value, pl.Series) else value


@dataclass(frozen=True)
class Request:
    """One panel to draw; see `tutor.plots.draw` for the fields."""

    run: Run
    panel: str
    width: int
    height: int
    lang: str
    view: View
    mark: int | None
    level: float | None
    level_label: str
    ink: Ink
    others: Sequence[Run] = ()
    ruling: Ruling | None = None
    smooth: int = 0
    asked: str = ""

    def sized(self, width: int, height: int) -> "Request":
        """The same request for another room."""
        return replace(self, width=width, height=height)

    def under(self, cursor: int | None) -> "Request":
        """The same request with the cursor's step to show, where there is a cursor."""
        return self if cursor is None else replace(self, mark=cursor)

    def say(self, key: str, **facts: object) -> str:
        """The plots' own words under `key`."""
        return say(f"plots.{key}", self.lang, **facts)

    def at(self, signal: str) -> tuple[int, Any] | None:
        """The signal at the marked step (at the last one in view without a mark), and the step it comes from.

        Where that row has none, the nearest row before it that has; None where there is none.
        """
        if not self.run.has(signal):
            return None
        row = self.run.row_at(self.view[1] if self.mark is None else self.mark)
        known = self.run[signal][: row + 1].is_not_null().arg_true()
        if not len(known):
            return None
        return int(self.run.steps[int(known[-1])]), to_list(self.run[signal][int(known[-1])])

    def before(self, signal: str, step: int, rows: int) -> list[Any]:
        """The signal in the last `rows` rows before `step`, where it was recorded."""
        if not self.run.has(signal):
            return []
        end = self.run.row_at(step)
        return [to_list(value) for value in self.run[signal][max(0, end - rows) : end] if value is not None]

    def any_rows(self) -> bool:
        """Whether a run has a row in view."""
        first, last = self.view
        return any(
            len(run) and first <= int(run.steps[run.row_at(last)]) <= last for run in (self.run, *self.others)
        )

    def missing(self, *signals: str) -> list[Text]:
        """The page that says what was not recorded, and how to log it."""
        lines = [Text(self.say("missing", signal=" / ".join(signals)), style=self.ink.text)]
        for signal in signals:
            advice = wrap(
                self.say("to_have_it", how=say(f"signals.{signal}.how", self.lang)), max(8, self.width - 2)
            )
            lines += [Text(line, style=self.ink.dim) for line in advice]
        return centred(lines, self.width, self.height)

    def empty(self) -> list[Text]:
        """The page that says that the log has no row in view."""
        first, last = self.view
        words = self.say("no_rows", first=first, last=last) if len(self.run) else self.say("no_log")
        return centred([Text(words, style=self.ink.text)], self.width, self.height)
