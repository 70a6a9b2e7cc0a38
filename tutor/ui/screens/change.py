"""ChangeScreen: a change to try, typed as settings."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys
from tutor.words import plain, say


class ChangeScreen(LeftOnce, ModalScreen[list[str] | None]):
    """Asks for settings, as name=value with spaces between; gives them, or None."""

    BINDINGS = bindings.NAME

    def compose(self) -> ComposeResult:
        """The field, and what is wrong with what stands in it."""
        with Vertical(classes="pane dialog") as pane:
            pane.border_title = Content(say("trial.change", self.app.lang))
            yield Input(placeholder="grad_clip=0.5 lr=5e-4", max_length=300, compact=True)
            yield Static(say("trial.change_note", self.app.lang), classes="note", markup=False)
        yield Keys()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the settings, or say what is wrong with them."""
        from tutor import settings

        given = event.value.replace(",", " ").split()
        try:
            settings.build(settings.parse(given))
        except ValueError as error:
            self.query_one(Static).update(Content(plain(str(error))))
            return
        self.dismiss(given or None)

    def action_close(self) -> None:
        """Try nothing."""
        self.dismiss(None)
