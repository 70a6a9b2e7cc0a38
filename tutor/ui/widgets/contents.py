"""Contents: the seven sections of the post-mortem, each with how it stands; a click or an arrow chooses."""

from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from tutor.postmortem import SECTIONS
from tutor.ui import bindings
from tutor.words import say

ROOM_FOR_NAMES = 110
"""Columns from which one line has room for every section's name."""


class Contents(Widget, can_focus=True):
    """The seven sections with how each stands: a column, or one line where the terminal is narrow."""

    auto_links = reactive(False)
    BINDINGS = bindings.CONTENTS

    @dataclass
    class Chosen(Message):
        """A section was chosen. `number` counts from 1; `stay` leaves the focus here."""

        number: int
        stay: bool = False

    def __init__(self) -> None:
        super().__init__()
        self._states: list[str] = []
        self._now, self._lang = 1, "en"

    def show(self, states: list[str], now: int, lang: str) -> None:
        """Draw `states` (words) with section `now` marked."""
        self._states, self._now, self._lang = states, now, lang
        self.refresh(layout=True)

    def render(self) -> Content:
        """A link for each section."""
        column = not (self.screen.has_class("-narrow") or self.screen.has_class("-beside"))
        names = [say(f"postmortem.short.{name}", self._lang) for name in SECTIONS]
        parts: list[tuple[str, str]] = []
        for number, (name, state) in enumerate(zip(names, self._states, strict=False), 1):
            now = number == self._now
            link = f" @click=choose({number})"
            style = ("bold $accent" if now else "$foreground") + link
            muted = ("$success" if state.startswith("✓") else "$foreground-muted") + link
            if column:
                lead = "▸" if now else " "
                gap = " " * max(1, self.content_size.width - len(name) - len(state) - 4)
                parts += [(f"{lead}{number} {name}", style), (gap, ""), (f"{state}\n", muted)]
            elif now:
                parts += [(f"[{number} {name} ", style), (state, muted), ("]", style)]
            elif self.content_size.width >= ROOM_FOR_NAMES:
                parts.append((f" {number} {name}{' ✓' if state.startswith('✓') else ''} ", muted))
            else:
                parts.append((f" {number}{'✓' if state.startswith('✓') else '·'} ", muted))
        return Content.assemble(*parts)

    def action_choose(self, number: int) -> None:
        """A click."""
        self.post_message(self.Chosen(number))

    def action_move(self, by: int) -> None:
        """An arrow: look at another section and stay here."""
        self.post_message(self.Chosen((self._now - 1 + by) % len(SECTIONS) + 1, stay=True))

    def action_enter(self) -> None:
        """Into the section."""
        self.post_message(self.Chosen(self._now))
