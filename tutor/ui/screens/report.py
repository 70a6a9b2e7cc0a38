"""ReportScreen: an experiment at work, and what it says: the playbook, or a step taken again."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.ui import bindings
from tutor.ui.screens.watching import Watching
from tutor.ui.trials import Trial
from tutor.ui.widgets.title import Title
from tutor.words import plain

EVERY = 1.0  # seconds between looks at what it has said


class ReportScreen(Watching):
    """What the process of a trial says, as it comes. Gives whether to begin anew.

    Args:
        called: what to call the run.
        trial: the experiment.
    """

    BINDINGS = bindings.REPORT
    HELP_NOTES = ("report",)
    AUTO_FOCUS = "#report"

    def __init__(self, called: str, trial: Trial):
        super().__init__()
        self._called, self.trial = called, trial

    def body(self) -> ComposeResult:
        """The text, with room to scroll."""
        yield Title(self._called)
        with VerticalScroll(id="report", classes="pane"):
            yield Static()

    def on_mount(self) -> None:
        """Look again and again until it has ended."""
        self._timer = self.set_interval(EVERY, self._look)

    def relabel(self) -> None:
        """Draw in the app's language."""
        self.query_one("#report").border_title = Content(self.say(f"trial.{self.trial.kind}"))
        self._look()

    def _look(self) -> None:
        alive = self.trial.alive
        lines = [plain(self.trial.said(), lines=True)]
        if alive:
            lines += ["", self.say("trial.leave")]
        self.query_one("#report Static", Static).update(Content("\n".join(lines)))
        if not alive and hasattr(self, "_timer"):
            self._timer.stop()
        self.refresh_bindings()
