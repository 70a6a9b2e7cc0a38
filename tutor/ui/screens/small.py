"""TooSmall: one clear line while the terminal is too small to draw on."""

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys
from tutor.words import say


class TooSmall(LeftOnce, ModalScreen):
    """Covers the app; taken away when the terminal has grown."""

    BINDINGS = bindings.TOO_SMALL

    def compose(self) -> ComposeResult:
        """The line, and the key that leaves the app."""
        yield Static(self._line(), markup=False)
        yield Keys()

    def on_resize(self) -> None:
        """Say how large it is now."""
        self.query_one(Static).update(self._line())

    def on_screen_resume(self) -> None:
        """Go, where what lay over it is gone and the terminal has grown meanwhile."""
        if not self.app.is_small(self.app.size):
            self.dismiss()

    def _line(self) -> str:
        width, height = self.app.size
        return say("ui.too_small", self.app.lang, width=width, height=height)
