"""KeptScreen: a lesson that was just saved, as it stands in the notebook."""

from pathlib import Path

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static

from tutor.notebook import Lesson
from tutor.ui import bindings
from tutor.ui.screens.page import Page
from tutor.ui.widgets.title import Title
from tutor.words import plain


class KeptScreen(Page):
    """A lesson of the notebook at `path`. Gives True where the learner is done with it."""

    AUTO_FOCUS = "#kept"
    BINDINGS = bindings.KEPT
    DEFAULT_CSS = """
    KeptScreen #kept { padding: 0 2; height: 1fr; }
    KeptScreen #where { padding: 1 2; color: $success; }
    """

    def __init__(self, lesson: Lesson, path: Path) -> None:
        super().__init__()
        self._lesson, self._path = lesson, path

    def body(self) -> ComposeResult:
        """Where it is kept, and the lesson."""
        yield Title(self._lesson.run)
        yield Static(id="where")
        with VerticalScroll(id="kept"):
            yield Markdown(plain(self._lesson.body, lines=True), open_links=False)

    def relabel(self) -> None:
        """Where it is kept, in the app's language."""
        self.query_one("#where", Static).update(Content(self.say("postmortem.kept", path=str(self._path))))

    def action_done(self) -> None:
        """Leave the post-mortem, too: it is saved."""
        self.dismiss(True)
