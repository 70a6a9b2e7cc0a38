"""StepScreen: a step to type, for the cursor to go to."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.field import Field
from tutor.ui.widgets.footer import Keys
from tutor.words import say


class StepScreen(LeftOnce, ModalScreen[int | None]):
    """Asks for a step; gives it, or None.

    Args:
        first, last: those of the log, to say what can be typed.
    """

    BINDINGS = bindings.NAME

    def __init__(self, first: int, last: int):
        super().__init__()
        self._first, self._last = first, last

    def compose(self) -> ComposeResult:
        """The field, and the steps there are."""
        with Vertical(classes="pane dialog") as pane:
            pane.border_title = Content(say("panel.go_to", self.app.lang))
            yield Field(type="integer", max_length=15, compact=True)
            steps = say("walk.steps_shown", self.app.lang, first=self._first, last=self._last)
            yield Static(steps, classes="note", markup=False)
        yield Keys()

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Go there; nowhere where no number was typed."""
        self.dismiss(int(event.value) if event.value.isdecimal() else None)

    def action_close(self) -> None:
        """Stay."""
        self.dismiss(None)
