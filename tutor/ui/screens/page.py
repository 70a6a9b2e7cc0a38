"""Page: what every screen of tutor has: a title, the keys, and words that follow the language.

PlotPage adds a panel to switch, zoom and pan, and a cursor over it.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from tutor.run import PANELS
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.words import say

if TYPE_CHECKING:
    from tutor.plots import Ruling

MIDDLE, TALL = 28, 32
"""Rows from which a screen has room for more than what must be there, and room to spare."""


class Page(LeftOnce, Screen):
    """A screen whose body is `body()` and whose words are set by `relabel()`."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (MIDDLE, "-middle"), (TALL, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = ""
    HELP_NOTES: ClassVar[tuple[str, ...]] = ()
    """What the help screen says beside the keys, each a key of tutor/words/en/help.yaml."""

    @property
    def help_notes(self) -> tuple[str, ...]:
        """Those that hold now."""
        return self.HELP_NOTES

    def compose(self) -> ComposeResult:
        """The body between the title and the keys."""
        yield from self.body()
        yield Keys()

    def body(self) -> Iterable[Widget]:
        """The screen's own widgets; none unless it says otherwise."""
        return ()

    def on_mount(self) -> None:
        """Follow the language, and whether runs are called by their names."""
        self.watch(self.app, "lang", self._speak, init=False)
        self.watch(self.app, "hide_names", self._speak, init=False)
        self.relabel()

    def _speak(self) -> None:
        self.relabel()
        self.refresh_bindings()
        for widget in self.query("Title, Keys"):
            widget.refresh()

    def relabel(self) -> None:
        """Set every word on the screen in the app's language."""

    def say(self, key: str, **facts: Any) -> str:
        """The app's own words in its language."""
        return say(key, self.app.lang, **facts)

    def action_close(self) -> None:
        """Back to the screen below."""
        self.dismiss()


class PlotPage(Page):
    """A page with one Plot and the tabs of its panels."""

    @property
    def mark(self) -> int | None:
        """The step to mark; none unless the screen says otherwise."""
        return None

    @property
    def levels(self) -> Mapping[str, float | None]:
        """The bounds to draw, by panel; none unless the screen says otherwise."""
        return {}

    def on_mount(self) -> None:
        """Follow the smoothing too: it is one for all panels. Textual calls the page's own beside this."""
        self.watch(self.app, "smooth", self._draw_again, init=False)

    def _speak(self) -> None:
        super()._speak()
        self._draw_again()
        self.query_one(PanelTabs).refresh()

    def _draw_again(self) -> None:
        plot = self.query_one(Plot)
        if plot.view:
            plot.look_at(plot.view)

    def ruling(self, panel: str) -> "Ruling | None":
        """What a rule showed on `panel`; nothing unless the screen says otherwise."""

    def asked(self, panel: str) -> str:
        """The signal to which the axis of `panel` is fitted; "", to all, unless the screen says otherwise."""
        return ""

    def show_panel(self, panel: str) -> None:
        """Draw `panel` over the steps that are shown."""
        self.draw(panel, self.query_one(Plot).view)

    def draw(self, panel: str, view: tuple[int, int] | None) -> None:
        """Draw `panel` from the first to the last step of `view`; None fits the view to the mark."""
        plot, level = self.query_one(Plot), self.levels.get(panel)
        plot.show(panel, self.mark, level, view, self.ruling(panel), self.asked(panel))
        self.query_one(PanelTabs).show(panel)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Zoom and pan only what is drawn over steps; smooth only curves."""
        if action == "smooth":
            return self.query_one(Plot).can_smooth
        return self.query_one(Plot).has_steps if action in ("zoom", "pan", "whole") else True

    def action_panel(self, number: int) -> None:
        """Another panel."""
        self.show_panel(PANELS[number - 1])

    def action_zoom(self, factor: float) -> None:
        """Closer or farther."""
        self.query_one(Plot).zoom(factor)

    def action_pan(self, share: float) -> None:
        """Earlier or later."""
        self.query_one(Plot).pan(share)

    def action_whole(self) -> None:
        """The whole run."""
        self.query_one(Plot).whole()

    def action_smooth(self) -> None:
        """The curves averaged over more rows; after the most, as they were logged."""
        from tutor.plots import smoothing

        if subject := self.query_one(Plot).subject:
            self.app.smooth = smoothing.following(subject, self.app.smooth)

    def point(self, step: int) -> None:
        """The cursor to a logged step: every key and the mouse move it through here."""
        self.query_one(Plot).point(step)

    def action_cursor(self, by: int) -> None:
        """The cursor to the next logged step, or so many on; it begins at the mark."""
        from tutor.plots import cursor

        plot = self.query_one(Plot)
        if plot.subject is None or plot.view is None or not len(plot.subject):
            return
        begin = self.mark if plot.cursor is None else plot.cursor
        self.point(cursor.moved(plot.subject, plot.view, plot.panel, begin, by))

    def action_cursor_at_mark(self) -> None:
        """The cursor to the step under discussion."""
        if self.mark is not None:
            self.point(self.mark)

    def action_cursor_at_worst(self) -> None:
        """The cursor to the worst step in view."""
        from tutor.plots import cursor

        plot = self.query_one(Plot)
        if plot.subject is None or plot.view is None:
            return
        step = cursor.worst(plot.subject, plot.panel, plot.view)
        if step is not None:
            self.point(step)

    def action_cursor_to(self) -> None:
        """The cursor to a step that is typed."""
        from tutor.ui.screens.step import StepScreen

        run = self.query_one(Plot).subject
        if run is not None and len(run):
            self.app.push_screen(StepScreen(int(run.steps[0]), int(run.steps[-1])), self._point_to)

    def _point_to(self, step: int | None) -> None:
        from tutor.plots import cursor

        plot = self.query_one(Plot)
        if step is not None and plot.subject is not None:
            self.point(cursor.nearest(plot.subject, step))

    def on_plot_pointed(self, event: Plot.Pointed) -> None:
        """A step was clicked."""
        self.point(event.step)

    def on_panel_tabs_chosen(self, event: PanelTabs.Chosen) -> None:
        """A panel was clicked."""
        self.action_panel(event.number)
