"""ChangeScreen: a change to try, typed as settings."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.field import Field
from tutor.ui.widgets.footer import Keys
from tutor.words import SaidError, plain, say

EXAMPLE = "grad_clip=0.5 lr=5e-4"


class ChangeScreen(LeftOnce, ModalScreen[list[str] | None]):
    """Asks for what is to be changed, as name=value with spaces between; gives it as options, or None.

    Args:
        kind: what it is for, "change", "fork" or "fact": a key of tutor/words/en/trial.yaml.
        options: the words as options of the command; raises ValueError with what is wrong with them.
        begun: what stands in the field.
        example: what could stand there.
    """

    BINDINGS = bindings.NAME

    def __init__(
        self,
        kind: str,
        options: Callable[[Sequence[str]], list[str]],
        begun: str = "",
        example: str = EXAMPLE,
    ):
        super().__init__()
        self._kind, self._options, self._begun, self._example = kind, options, begun, example

    def compose(self) -> ComposeResult:
        """The field, and what is wrong with what stands in it."""
        with Vertical(classes="pane dialog") as pane:
            pane.border_title = Content(say(f"trial.{self._kind}", self.app.lang))
            yield Field(
                self._begun,
                placeholder=self._example,
                max_length=300,
                compact=True,
                select_on_focus=False,
            )
            note = say(f"trial.{self._kind}_note", self.app.lang, example=self._example)
            yield Static(note, classes="note", markup=False)
        yield Keys()

    def on_input_submitted(self, event: Field.Submitted) -> None:
        """Take what is typed, or say what is wrong with it."""
        given = event.value.replace(",", " ").split()
        try:
            options = self._options(given)
        except ValueError as error:
            why = error.says(self.app.lang) if isinstance(error, SaidError) else str(error)
            self.query_one(Static).update(Content(plain(why)))
            return
        self.dismiss(options or None)

    def action_close(self) -> None:
        """Try nothing."""
        self.dismiss(None)
