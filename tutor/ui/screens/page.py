"""Page: what every screen of tutor has: a title, the keys, and words that follow the language."""

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from tutor.ui.widgets.footer import Keys
from tutor.words import say

TALL = 32
"""Rows from which a screen has room to spare."""


class Page(Screen):
    """A screen whose body is `body()` and whose words are set by `relabel()`."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = ""

    def compose(self) -> ComposeResult:
        """The body between the title and the keys."""
        yield from self.body()
        yield Keys()

    def body(self) -> Iterable[Widget]:
        """The screen's own widgets."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Follow the language."""
        self.watch(self.app, "lang", self._speak, init=False)
        self.relabel()

    def _speak(self) -> None:
        self.relabel()
        self.refresh_bindings()
        for widget in self.query("Title, Keys"):
            widget.refresh()

    def relabel(self) -> None:
        """Set every word on the screen in the app's language."""

    def say(self, key: str, **facts) -> str:
        """The app's own words in its language."""
        return say(key, self.app.lang, **facts)

    def action_close(self) -> None:
        """Back to the screen below."""
        self.dismiss()
