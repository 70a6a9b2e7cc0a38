"""Section: what every section of the post-mortem is. It posts its edits up, and is told what they made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from tutor.postmortem import SECTIONS, PostMortem, Problem
from tutor.run import Run
from tutor.ui import bindings
from tutor.words import plain, say

Edit = Callable[[PostMortem], PostMortem]


class Section(VerticalScroll, can_focus=False, inherit_bindings=False):
    """One section: its lead, its fields, and a line that says how it stands.

    Args:
        pm: the post-mortem as it is now.
        lang: the language of the labels.
        run: whose panels and rows can be looked at; None where it isn't at hand.
    """

    @dataclass
    class Edited(Message):
        """The learner changed something: `change` makes the new post-mortem.

        With `again` the section is to be drawn anew, with the field of the id `focus` at hand. What was taken
        out, `back` puts back in.
        """

        change: Edit
        again: bool = False
        focus: str = ""
        back: Edit | None = None

    BINDINGS = bindings.FIELDS

    part: str = ""

    def __init__(self, pm: PostMortem, lang: str, run: Run | None = None) -> None:
        super().__init__(classes="section")
        self.pm, self.lang, self.run = pm, lang, run

    def compose(self) -> ComposeResult:
        """Lead, fields, standing."""
        yield Static(Content(self.words(f"lead.{self.part}")), classes="lead")
        yield from self.fields()
        yield Static(classes="standing")

    def fields(self) -> ComposeResult:
        """The section's own widgets; none unless it says otherwise."""
        return ()

    @property
    def entry(self) -> Widget:
        """The field to begin at."""
        return (self.query("Input, TextArea, Cells") or self.query("Button")).first()

    def action_field(self, rows: int) -> None:
        """The field below the one at hand, or above; past the last, what is written there is shown.

        Textual's own keys would scroll the field that takes what is typed out of sight.
        """
        held = self.screen.focused
        if held not in (fields := [field for field in self.query("*") if field.focusable]):
            return
        here, way = held.region.offset, 1 if rows > 0 else -1
        ahead = {field: (field.region.y - here.y) * way for field in fields}
        near = max((by for by in ahead.values() if 0 < by <= abs(rows)), default=0)
        near = near or min((by for by in ahead.values() if by > 0), default=0)
        if near:
            row = [field for field in fields if ahead[field] == near]
            min(row, key=lambda field: abs(field.region.x - here.x)).focus()
        else:
            self.scroll_to(y=self.max_scroll_y if way > 0 else 0, animate=False)

    def action_field_page(self, pages: int) -> None:
        """The farthest field that is within a page."""
        self.action_field(pages * max(1, self.size.height - 1))

    def words(self, key: str, **facts: Any) -> str:
        """The post-mortem's words."""
        return say(f"postmortem.{key}", self.lang, **facts)

    def show(self, pm: PostMortem, problems: list[Problem]) -> None:
        """Take the new post-mortem and say how this section stands."""
        self.pm = pm
        mine = [f.sentence for f in problems if SECTIONS[f.section - 1] == self.part]
        standing = self.query_one(".standing", Static)
        standing.set_class(bool(mine), "open")
        if mine:
            more = f"  {self.words('state.more', count=len(mine) - 1)}" if len(mine) > 1 else ""
            standing.update(Content(f"✗ {mine[0]}{more}"))
        else:
            standing.update(Content(self.fine()))

    def fine(self) -> str:
        """What to say when nothing is missing."""
        return self.words(f"live.{self.part}")


def field(id: str, value: str, placeholder: str = "", classes: str = "") -> Input:
    """A field of one line. A learner's own control characters are drawn as signs.

    A "number" is selected on coming to it: what is typed takes its place.
    """
    return Input(
        plain(value),
        placeholder=placeholder,
        id=id,
        compact=True,
        select_on_focus=classes == "number",
        classes=f"field {classes}",
    )
