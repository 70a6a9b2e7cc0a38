"""NoteScreen: a few lines to read over the screen below."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys
from tutor.words import say


class NoteScreen(LeftOnce, ModalScreen[bool]):
    """Lines under a title. Gives False.

    Args:
        title: a key of tutor/words.
        lines: safe to draw.
    """

    BINDINGS = bindings.NOTE

    def __init__(self, title: str, lines: Sequence[str]):
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        """The lines, which scroll when there are many."""
        with VerticalScroll(classes="pane dialog") as pane:
            pane.border_title = Content(say(self._title, self.app.lang))
            yield Static(Content("\n").join(Content(f"· {line}") for line in self._lines), classes="lines")
        yield Keys()

    def action_close(self) -> None:
        """Back to the screen below."""
        self.dismiss(False)
