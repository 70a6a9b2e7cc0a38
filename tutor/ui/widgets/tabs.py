"""PanelTabs: the nine panels on one line, to click on."""

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from tutor.run import PANELS
from tutor.ui.typed import InTutor
from tutor.ui.widgets.settled import Settled
from tutor.words import say


class PanelTabs(InTutor, Settled, Widget):
    """The panels by number and name; by a brief name, then by number alone, where these don't fit."""

    auto_links = reactive(False)  # the names keep their own colours

    @dataclass
    class Chosen(Message):
        """A panel was clicked. `number` counts from 1."""

        number: int

    def __init__(self) -> None:
        super().__init__()
        self._panel = PANELS[0]

    def show(self, panel: str) -> None:
        """Mark `panel` as the one shown."""
        self._panel = panel
        self.refresh()

    def render(self) -> Content:
        """One link for each panel."""
        names, whole = self._names("tabs"), True
        if not self._fits(names):
            names = self._names("brief")
            whole = self._fits(names)
        parts: list[tuple[str, str]] = []
        for number, (panel, name) in enumerate(zip(PANELS, names, strict=True), 1):
            now = panel == self._panel
            style = "bold $accent" if now else "$foreground-muted"
            text = f"{number} {name}" if whole or now else str(number)
            parts.append((f"[{text}]" if now else f" {text} ", f"{style} @click=choose({number})"))
        return Content.assemble(*parts)

    def _names(self, kind: str) -> list[str]:
        return [say(f"panel.{kind}.{panel}", self.app.lang) for panel in PANELS]

    def _fits(self, names: list[str]) -> bool:
        return sum(len(f"[1 {name}]") for name in names) <= self.content_size.width

    def action_choose(self, number: int) -> None:
        """A click."""
        self.post_message(self.Chosen(number))
