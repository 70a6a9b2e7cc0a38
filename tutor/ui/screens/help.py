"""HelpScreen: what works now on the screen below, from its own bindings."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.screens.page import Page
from tutor.ui.widgets.footer import Keys
from tutor.words import say


class HelpScreen(LeftOnce, ModalScreen[None]):
    """The keys of `screen` that work now, and beside them, in a few lines, what to do there."""

    BINDINGS = bindings.HELP

    def __init__(self, screen: Screen, lang: str):
        super().__init__()
        self._rows = bindings.working(screen.active_bindings, lang, hidden=True)
        self._notes: tuple[str, ...] = screen.help_notes if isinstance(screen, Page) else ()

    def compose(self) -> ComposeResult:
        """The table and the lines."""
        lang = self.app.lang
        widest = max((len(row.keys) for row in self._rows), default=0)
        rows = [
            Content.assemble((row.keys.rjust(widest), "bold $accent"), (f"   {row.name}", ""))
            for row in self._rows
        ]
        with VerticalScroll(classes="pane dialog") as pane:
            pane.border_title = Content(say("help.title", lang))
            with Horizontal():
                yield Static(Content("\n").join(rows), id="help-keys")
                with Vertical():
                    for note in self._notes:
                        yield Static(say(f"help.{note}", lang), classes="note", markup=False)
        yield Keys()

    def action_close(self) -> None:
        """Back to the screen below."""
        self.dismiss()
