"""Request: everything that a panel needs to draw itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from tutor.plots.ink import Ink, centred
from tutor.plots.view import View
from tutor.run import Run
from tutor.words import say


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

    def sized(self, width: int, height: int) -> "Request":
        """The same request for another room."""
        return replace(self, width=width, height=height)

    def say(self, key: str, **facts: object) -> str:
        """The plots' own words under `key`."""
        return say(f"plots.{key}", self.lang, **facts)

    def missing(self, *signals: str) -> list[Text]:
        """The page that says what was not recorded, and how to log it."""
        lines = [Text(self.say("missing", signal=" / ".join(signals)), style=self.ink.text)]
        for signal in signals:
            lines.append(Text(self.say(f"how.{signal}"), style=self.ink.dim))
        return centred(lines, self.width, self.height)

    def empty(self) -> list[Text]:
        """The page that says that the log has no row in view."""
        first, last = self.view
        words = self.say("no_rows", first=first, last=last) if len(self.run) else self.say("no_log")
        return centred([Text(words, style=self.ink.text)], self.width, self.height)
