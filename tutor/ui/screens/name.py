"""NameScreen: whose notebook to use."""

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


class NameScreen(LeftOnce, ModalScreen[str | None]):
    """Asks for a learner's name; gives one that can be a folder's, or None."""

    BINDINGS = bindings.NAME

    def compose(self) -> ComposeResult:
        """The field, and what is wrong with what stands in it."""
        with Vertical(classes="pane dialog") as pane:
            pane.border_title = Content(say("ui.learner", self.app.lang))
            yield Field(self.app.learner, max_length=200, compact=True)
            yield Static(say("ui.learner_note", self.app.lang), classes="note", markup=False)
        yield Keys()

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Take the name, or say why not."""
        from tutor.learner import BadNameError, learner_name

        try:
            self.dismiss(learner_name(event.value))
        except BadNameError as error:
            self.query_one(Static).update(error.says(self.app.lang))

    def action_close(self) -> None:
        """Stay who we are."""
        self.dismiss(None)
