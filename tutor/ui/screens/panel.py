"""PanelScreen: one panel in full size, with zoom, pan and the cursor."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from tutor.run import Run
from tutor.ui import bindings
from tutor.ui.news import Grown
from tutor.ui.screens.page import PlotPage
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.ui.widgets.title import Title, described

if TYPE_CHECKING:
    from tutor.plots import Ruling


class PanelScreen(PlotPage):
    """A panel of `run`. Gives back where its cursor stands.

    Args:
        run: the run.
        panel: the panel to open on.
        mark: the step under discussion, or None.
        levels: the bound to draw, by panel.
        view: first and last step, or None for the one that fits the mark.
        cursor: where the cursor stands, or None.
        ruling: by panel, what a rule showed there.
        asked: by panel, the signal to which its axis is fitted.
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
        cursor: int | None = None,
        ruling: "Callable[[str], Ruling | None] | None" = None,
        asked: "Callable[[str], str] | None" = None,
    ):
        super().__init__()
        self.subject = run
        self._opened_on, self._mark, self._levels = (panel, view), mark, levels or {}
        self._cursor, self._evidence, self._asked = cursor, ruling, asked

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
            plot.cursor = self._cursor
            self.draw(*self._opened_on)
        else:
            self.show_panel(plot.panel)

    def on_grown(self, event: Grown) -> None:
        """Draw the rows that came."""
        run, plot = event.news.state.run, self.query_one(Plot)
        if run is None or run is self.subject or run.path != self.subject.path:
            return
        self.subject = run
        self.query_one(Title).middle = described(run, self.app.lang)
        self.query_one(Title).refresh()
        plot.grow(run, self.mark, self.levels.get(plot.panel), self.ruling(plot.panel))

    @property
    def mark(self) -> int | None:
        """The step under discussion."""
        return self._mark

    @property
    def levels(self) -> Mapping[str, float | None]:
        """The bounds, by panel."""
        return self._levels

    def ruling(self, panel: str) -> "Ruling | None":
        """What a rule showed on `panel`."""
        return self._evidence(panel) if self._evidence else None

    def asked(self, panel: str) -> str:
        """The signal to which the axis of `panel` is fitted."""
        return self._asked(panel) if self._asked else ""

    def action_close(self) -> None:
        """Back to the screen below, whose cursor goes where this one stands."""
        self.dismiss(self.query_one(Plot).cursor)
