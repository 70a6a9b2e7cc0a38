"""Page: what every screen of tutor has: a title, the keys, and words that follow the language.

PlotPage adds a panel to switch, zoom and pan.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from tutor.run import PANELS
from tutor.ui.typed import InTutor
from tutor.ui.widgets.footer import Keys
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.tabs import PanelTabs
from tutor.words import say

MIDDLE, TALL = 28, 32
"""Rows from which a screen has room for more than what must be there, and room to spare."""


class Page(InTutor, Screen):
    """A screen whose body is `body()` and whose words are set by `relabel()`."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (MIDDLE, "-middle"), (TALL, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = ""
    HELP_NOTES: ClassVar[tuple[str, ...]] = ()
    """What the help screen says beside the keys, each a key of tutor/words/en/help.yaml."""

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

    def _speak(self) -> None:
        super()._speak()
        plot = self.query_one(Plot)
        plot.show(plot.panel, plot.mark, plot.level, plot.view)
        self.query_one(PanelTabs).refresh()

    def show_panel(self, panel: str) -> None:
        """Draw `panel` over the steps that are shown."""
        self.draw(panel, self.query_one(Plot).view)

    def draw(self, panel: str, view: tuple[int, int] | None) -> None:
        """Draw `panel` from the first to the last step of `view`; None fits the view to the mark."""
        self.query_one(Plot).show(panel, self.mark, self.levels.get(panel), view)
        self.query_one(PanelTabs).show(panel)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Zoom and pan only what is drawn over steps."""
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

    def on_panel_tabs_chosen(self, event: PanelTabs.Chosen) -> None:
        """A panel was clicked."""
        self.action_panel(event.number)
