"""PanelScreen: one panel in full size, with zoom, pan and the step under discussion to move."""

from collections.abc import Mapping

from textual.app import ComposeResult

from tutor.run import Run
from tutor.ui import bindings
from tutor.ui.screens.page import PlotPage
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.ui.widgets.title import Title, described


class PanelScreen(PlotPage):
    """A panel of `run`.

    Args:
        run: the run.
        panel: the panel to open on.
        mark: the step under discussion, or None.
        levels: the bound to draw, by panel.
        view: first and last step, or None for the one that fits the mark.
    """

    BINDINGS = bindings.PANEL
    HELP_NOTES = ("panel",)

    def __init__(
        self,
        run: Run,
        panel: str,
        mark: int | None,
        levels: Mapping[str, float | None] | None = None,
        view: tuple[int, int] | None = None,
    ):
        super().__init__()
        self.subject = run
        self._opened_on, self._mark, self._levels = (panel, view), mark, levels or {}

    def body(self) -> ComposeResult:
        """The panel under its tabs."""
        run = self.subject
        yield Title(self.app.called(run.path, run.name), described(run, self.app.lang))
        yield PanelTabs()
        yield Plot(self.subject)

    def relabel(self) -> None:
        """Draw in the app's language."""
        plot = self.query_one(Plot)
        if plot.view is None:
            self.draw(*self._opened_on)
        else:
            self.show_panel(plot.panel)

    @property
    def mark(self) -> int | None:
        """The step under discussion."""
        return self._mark

    @property
    def levels(self) -> Mapping[str, float | None]:
        """The bounds, by panel."""
        return self._levels

    def action_mark(self, by: int) -> None:
        """Mark the next logged step, or the one before."""
        run, plot = self.subject, self.query_one(Plot)
        assert plot.view, "a panel that is shown has a view"
        first, last = plot.view
        if self._mark is None and plot.has_steps:
            row = (run.row_at(first) + run.row_at(last)) // 2
        elif self._mark is None:  # without a mark the last row is drawn
            row = max(len(run) - 1 + min(by, 0), 0)
        else:
            row = min(max(run.row_at(self._mark) + by, 0), len(run) - 1)
        self._mark = int(run.steps[row])
        self.draw(plot.panel, plot.view if first <= self._mark <= last else None)
