"""Menu: all that can be done, to search in: Textual's command palette, with its way out at the bottom."""

from textual.app import ComposeResult
from textual.command import CommandPalette

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys


class Menu(LeftOnce, CommandPalette):
    """The command palette of the app."""

    BINDINGS = bindings.MENU

    def compose(self) -> ComposeResult:
        """The search, over the keys."""
        yield from super().compose()
        yield Keys()

    def action_close(self) -> None:
        """Back to the screen below."""
        self._action_escape()
