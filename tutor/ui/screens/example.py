"""ExampleScreen: the worked example that the method came with, beside a run of the same fault."""

from rich.table import Table
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor import readers
from tutor import tree as trees
from tutor import walk as walks
from tutor.begun import begun
from tutor.paths import shipped
from tutor.postmortem.example import Row, rows
from tutor.ui import bindings
from tutor.ui.screens.page import Page
from tutor.ui.widgets.title import Title
from tutor.walk import AtLeaf

RUN, TREE = "19-break", "phase-19"
"""The run of the example's fault, and the tree that its post-mortem comes from."""


class ExampleScreen(Page):
    """The example's figures beside our run's, measured when the screen opens."""

    AUTO_FOCUS = "#example"
    BINDINGS = bindings.EXAMPLE
    DEFAULT_CSS = """
    ExampleScreen #example { padding: 1 2; height: 1fr; }
    ExampleScreen Static { height: auto; margin: 0 0 1 0; }
    """

    def body(self) -> ComposeResult:
        """What it is, and the table."""
        yield Title(middle=self.say("postmortem.example.title"))
        with VerticalScroll(id="example"):
            yield Static(id="lead")
            yield Static(id="figures")

    def relabel(self) -> None:
        """Draw in the app's language."""
        self.query_one("#lead", Static).update(Content(self.say("postmortem.example.lead")))
        self._fill()

    @work(exclusive=True)
    async def _fill(self) -> None:
        try:
            found = await self.app.files.read(self._measured)
        except (OSError, ValueError):
            found = None  # a copy of tutor without its runs
        if not self.stands:
            return
        ours = "example.ours" if found else "example.none"
        table = Table(
            "",
            self.say("postmortem.example.theirs"),
            self.say(f"postmortem.{ours}", run=RUN),
            box=None,
            pad_edge=False,
            padding=(0, 1),
        )
        for row in found or []:
            table.add_row(*map(Text, row))
        self.query_one("#figures", Static).update(table)

    def _measured(self) -> list[Row] | None:
        run = readers.read(shipped() / "runs" / RUN)
        walk, _ = walks.unattended(run, trees.find(TREE))
        return rows(begun(walk, self.app.lang), run, self.app.lang) if isinstance(walk, AtLeaf) else None
