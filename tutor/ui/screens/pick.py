"""PickScreen: a short list to pick one thing from."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets.option_list import Option

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys
from tutor.ui.widgets.options import Options
from tutor.words import plain, say


class PickScreen(LeftOnce, ModalScreen[str | None]):
    """A list over the screen below; gives the id picked, or None.

    Args:
        title: a key of tutor/words.
        rows: an id and a line for each.
    """

    BINDINGS = bindings.PICK

    def __init__(self, title: str, rows: Sequence[tuple[str, str]]):
        super().__init__()
        self._title, self._rows = title, rows

    def compose(self) -> ComposeResult:
        """The list."""
        with Vertical(classes="pane dialog") as pane:
            pane.border_title = Content(say(self._title, self.app.lang))
            yield Options(*(Option(Content(plain(line)), id=id) for id, line in self._rows), markup=False)
        yield Keys()

    def on_option_list_option_selected(self, event: Options.OptionSelected) -> None:
        """Picked."""
        self.dismiss(event.option.id)

    def action_close(self) -> None:
        """Pick nothing."""
        self.dismiss(None)
