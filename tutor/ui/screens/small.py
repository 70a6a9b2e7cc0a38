"""TooSmall: one clear line while the terminal is too small to draw on."""

from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static

from tutor.ui.typed import InTutor
from tutor.words import say


class TooSmall(InTutor, ModalScreen):
    """Covers the app; taken away when the terminal has grown."""

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static(self._line(), markup=False)

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

    def check_action(self, action: str, parameters: tuple) -> bool:
        """Nothing works until there is room, but leaving."""
        return action in ("leave", "quit")

    def key_q(self) -> None:
        """Leave the app."""
        self.app.exit()
