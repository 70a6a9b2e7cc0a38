"""Plot: one panel of the run at the size it is given, with zoom and pan."""

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.content import Content
from textual.widget import Widget

from tutor.run import PANELS, Run
from tutor.ui.typed import InTutor
from tutor.words import say


class Plot(InTutor, Widget):
    """Draws from the first `show` on: plotext is loaded only then.

    Attributes:
        subject: the run; nothing is drawn while it is None.
        panel: one of tutor.run.PANELS.
        mark: the step under discussion, or None.
        level: the rule's bound, or None.
        view: first and last step drawn.
        others: runs to lay over it.
    """

    def __init__(self, subject: Run | None, others: Sequence[Run] = ()):
        super().__init__()
        self.subject, self.others = subject, others
        self.panel = "loss"
        self.mark: int | None = None
        self.level: float | None = None
        self.view: tuple[int, int] | None = None
        self._drawn: tuple[tuple, Text] | None = None

    def show(
        self, panel: str, mark: int | None, level: float | None, view: tuple[int, int] | None = None
    ) -> None:
        """Draw `panel`; without a `view`, the one that fits the mark."""
        self.panel, self.mark, self.level, self.view = panel, mark, level, view
        if self.subject is None:
            return
        from tutor import plots

        if self.view is None:
            self.view = plots.default_view(self.subject, panel, mark)
        title = f"{PANELS.index(panel) + 1} {plots.panel_title(panel, self.app.lang)}"
        if self.has_steps:
            title += "  ·  " + say("walk.steps_shown", self.app.lang, first=self.view[0], last=self.view[1])
        self.border_title = Content(title)
        self.refresh()

    @property
    def has_steps(self) -> bool:
        """Whether the panel draws over steps; the others draw one step."""
        return self.panel not in ("tokens", "batch")

    def zoom(self, factor: float) -> None:
        """Show 1/`factor` of the view."""
        from tutor import plots

        if self.subject is not None and self.view:
            self._look_at(plots.zoom(self.view, factor, self.subject))

    def pan(self, share: float) -> None:
        """Move the view by a share of its width."""
        from tutor import plots

        if self.subject is not None and self.view:
            self._look_at(plots.pan(self.view, share, self.subject))

    def whole(self) -> None:
        """The whole run."""
        from tutor import plots

        if self.subject is not None:
            self._look_at(plots.whole(self.subject))

    def _look_at(self, view: tuple[int, int]) -> None:
        self.show(self.panel, self.mark, self.level, view)

    def render(self) -> Text:
        """The panel at this widget's size; drawn again only when something changed."""
        width, height = self.content_size
        if self.subject is None:
            return Text(say("walk.reading", self.app.lang), style="dim")
        if self.view is None or width < 10 or height < 3:
            return Text("")
        from tutor import plots

        app = self.app
        revisions = tuple(run.revision for run in (self.subject, *self.others))
        state = (
            revisions, self.panel, width, height, app.lang, self.view, self.mark, self.level,
            not app.no_color, app.current_theme.dark,
        )  # fmt: skip
        if self._drawn is None or self._drawn[0] != state:
            drawn = plots.draw(
                self.subject,
                self.panel,
                width,
                height,
                lang=app.lang,
                view=self.view,
                mark=self.mark,
                level=self.level,
                colour=not app.no_color,
                dark=app.current_theme.dark,
                others=self.others,
            )
            self._drawn = state, drawn
        return self._drawn[1]

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel zooms out, with shift pans right."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel zooms in, with shift pans left."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, sign: int) -> None:
        event.stop()
        event.prevent_default()
        if self.view is None or not self.has_steps:
            return
        if event.shift:
            self.pan(0.25 * sign)
        else:
            self.zoom(2.0**-sign)
