"""CompareScreen: two runs laid over each other, and in figures."""

from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor import tree as trees
from tutor.run import Run
from tutor.tree import Tree
from tutor.ui import bindings
from tutor.ui.screens.page import PlotPage
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.ui.widgets.title import Title


class CompareScreen(PlotPage):
    """`run` and `other`, measured at the same place.

    Args:
        run: the run that is walked.
        other: the run beside it.
        tree: whose questions give the numbers to measure by.
        at: the step under discussion, or None for the worst spike of the two.
        ended: whether the walk has ended: until then figures and configurations may be its answers.
    """

    BINDINGS = bindings.COMPARE
    HELP_NOTES = ("compare",)
    AUTO_FOCUS = "#table"

    def __init__(self, run: Run, other: Run, tree: Tree, at: int | None, *, ended: bool):
        super().__init__()
        called = self.app.called
        self.subject, self.other = (replace(one, name=called(one.path, one.name)) for one in (run, other))
        self._at, self._ended = at, ended
        self._numbers = {name: trees.numbers(name, tree) for name in ("spike", "recovery")}

    def body(self) -> ComposeResult:
        """The panel, and the table under it."""
        yield Title(f"{self.subject.name} · {self.other.name}")
        yield PanelTabs()
        yield Plot(self.subject, others=[self.other])
        with VerticalScroll(id="table", classes="pane"):
            yield Static()

    def relabel(self) -> None:
        """Draw in the app's language."""
        from tutor import compare

        table = self.query_one("#table")
        table.border_title = Content(self.say("ui.figures"))
        if self._ended:
            found = compare.compare(self.subject, self.other, self._at, **self._numbers)
            self._at = found.step
            table.query_one(Static).update(compare.render(found, self.app.lang))
        else:
            table.query_one(Static).update(Content(self.say("compare.at_the_end")))
        self.show_panel(self.query_one(Plot).panel)

    @property
    def mark(self) -> int | None:
        """The step under discussion, or the worst spike once it is found."""
        return self._at
