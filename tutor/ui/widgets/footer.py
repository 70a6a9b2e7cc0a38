"""Keys: the line at the bottom with what works now, drawn from the active bindings; a click does it.

What is always there: the way out, help and the menu; in a narrow terminal the menu gives way to the key that
goes back.
"""

from contextlib import suppress

from textual.content import Content
from textual.css.query import NoMatches
from textual.reactive import reactive
from textual.widget import Widget

from tutor.ui.bindings import Working, working
from tutor.ui.typed import InTutor
from tutor.ui.widgets.settled import Settled

GAP = "  "
MOST = 8
"""Keys on the line: more than that nobody reads."""

MENU = "ctrl+p"

HELP = ("question_mark", "f1", MENU)
"""Help, by the key that works where a ? is text, and the menu."""

BACK = "back"
"""The action that undoes the last answer."""

WAYS_OUT = ("leave", "close", "quit")
"""The actions that leave a screen, or the app."""


class Keys(InTutor, Settled, Widget):
    """One line of keys. What doesn't fit is left to the help screen, whose key is always shown."""

    ALLOW_SELECT = False
    auto_links = reactive(False)  # the keys keep their own colours
    _drawn: Content | None = None
    _next: Content | None = None
    _asked = False

    def on_mount(self) -> None:
        """Draw again when what works has changed: the news of it comes far more often."""
        self.screen.bindings_updated_signal.subscribe(self, self._heard)

    def _heard(self, _: object) -> None:
        """A key brings the same news several times over: the line is looked at once, after the last."""
        self._next = None
        if not self._asked and self._drawn is not None:  # else it is due to be drawn
            self._asked = True
            self.call_later(self._look_again)

    def _look_again(self) -> None:
        self._asked = False
        if self._drawn is None:
            return
        with suppress(NoMatches):  # a screen on its way out has lost some of its widgets
            if not self._drawn.is_same(line := self._line()):
                self._drawn, self._next = None, line
                self.refresh()

    def on_resize(self) -> None:
        """Another width has room for other keys."""
        self._next = None

    def render(self) -> Content:
        """The keys that fit, each a link."""
        self._drawn, self._next = self._next or self._line(), None
        return self._drawn

    def _line(self) -> Content:
        rows = working(self.screen.active_bindings, self.app.lang)
        out = [row for row in rows if row.action.removeprefix("app.").partition("(")[0] in WAYS_OUT]
        gives_way = self.screen.has_class("-narrow") and any(row.action == BACK for row in rows)
        always = out[:1] + [row for row in rows if row.key in HELP and not (gives_way and row.key == MENU)]
        others = [row for row in rows if row not in (*out, *always)]
        room = self.size.width - 1 + len(GAP) - sum(_width(row) for row in always)  # no gap after the last
        shown: list[Working] = []
        for row in others[: MOST - len(always)]:
            if _width(row) <= room:  # a long one gives way to the shorter ones after it
                room -= _width(row)
                shown.append(row)
        parts: list[tuple[str, str]] = []
        for keys, name, key, _ in sorted([*shown, *always], key=lambda row: row.key != "enter"):
            click = f" @click=app.simulate_key({key!r})"
            parts += [(keys, f"bold $accent{click}"), (f" {name}", f"$foreground-muted{click}"), (GAP, "")]
        return Content.assemble(" ", *parts[:-1])


def _width(row: Working) -> int:
    return len(row.keys) + 1 + len(row.name) + len(GAP)
