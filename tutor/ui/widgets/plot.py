"""Plot: one panel of the run at the size it is given, with zoom, pan and a cursor; two given room."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.widget import Widget

from tutor.run import PANELS, Run
from tutor.ui.typed import InTutor
from tutor.ui.widgets.drawing import Drawing
from tutor.ui.widgets.settled import Settled
from tutor.words import say

if TYPE_CHECKING:
    from tutor.plots import Board, Ruling

DOUBLE = 160
"""Columns of the terminal from which a second panel stands beside the first."""

ROOMY = 120
"""Columns of the panel itself, from which half of it is enough for each of the two."""


class Plot(InTutor, Settled, Widget):
    """Draws from the first `show` on: the plots, and polars with them, are loaded only then.

    Attributes:
        subject: the run; nothing is drawn while it is None.
        panel: one of tutor.run.PANELS.
        mark: the step under discussion, or None.
        level: the rule's bound, or None.
        view: first and last step drawn.
        ruling: what the rule looked at and decided by, or None.
        asked: the signal to which the axis is fitted, or "".
        cursor: the step that is read out, or None.
        others: runs to lay over it.
    """

    @dataclass
    class Pointed(Message):
        """A step was clicked."""

        step: int

    auto_links = reactive(False)  # there are none: to look for them takes as long as to draw

    def __init__(self, subject: Run | None, others: Sequence[Run] = ()):
        super().__init__()
        self.subject, self.others = subject, others
        self.panel = "loss"
        self.mark: int | None = None
        self.level: float | None = None
        self.view: tuple[int, int] | None = None
        self.ruling: Ruling | None = None
        self.asked = ""
        self.cursor: int | None = None
        self._boards: tuple[tuple, list[Board]] | None = None

    def show(
        self,
        panel: str,
        mark: int | None,
        level: float | None,
        view: tuple[int, int] | None = None,
        ruling: "Ruling | None" = None,
        asked: str = "",
    ) -> None:
        """Draw `panel`; without a `view`, the one that fits the mark."""
        self.panel, self.mark, self.level, self.view = panel, mark, level, view
        self.ruling, self.asked = ruling, asked
        if self.subject is None:
            return
        from tutor import plots

        if self.view is None:
            self.view = plots.default_view(self.subject, panel, mark)
        parts = [self._heading(panel)]
        if smooth := self._smooth:
            parts.append(say("walk.smoothed", self.app.lang, rows=smooth))
        if self.has_steps:  # last: where it is cut, the axis has them too
            parts.append(say("walk.steps_shown", self.app.lang, first=self.view[0], last=self.view[1]))
        self.border_title = Content("  ·  ".join(parts))
        self.refresh()

    def _heading(self, panel: str) -> str:
        from tutor import plots

        return f"{PANELS.index(panel) + 1} {plots.panel_title(panel, self.app.lang)}"

    @property
    def has_steps(self) -> bool:
        """Whether the panel draws over steps; the others draw one step."""
        return self.panel not in ("tokens", "batch")

    @property
    def can_smooth(self) -> bool:
        """Whether the panel draws curves that can be averaged over rows, and the run has enough of them."""
        from tutor import plots

        curves = self.panel not in ("tokens", "batch", "activations")
        return curves and self.subject is not None and len(plots.smoothing.offered(self.subject)) > 1

    @property
    def _smooth(self) -> int:
        """Over how many rows the curves are averaged."""
        from tutor import plots

        if not self.app.smooth or self.subject is None or not self.can_smooth:
            return 0
        return plots.smoothing.fitting(self.subject, self.app.smooth)

    @property
    def beside(self) -> str | None:
        """The panel that stands beside this one where there is room: the gradient beside the loss, the loss
        beside any other.
        """
        if self.app.size.width < DOUBLE or self.content_size.width < ROOMY:
            return None
        return "gradient" if self.panel == "loss" else "loss"

    def zoom(self, factor: float) -> None:
        """Show 1/`factor` of the view, about the cursor where it is in view."""
        from tutor import plots

        if self.subject is not None and self.view:
            seen = self.cursor is not None and self.view[0] <= self.cursor <= self.view[1]
            self.look_at(plots.zoom(self.view, factor, self.subject, self.cursor if seen else None))

    def pan(self, share: float) -> None:
        """Move the view by a share of its width."""
        from tutor import plots

        if self.subject is not None and self.view:
            self.look_at(plots.pan(self.view, share, self.subject))

    def whole(self) -> None:
        """The whole run."""
        from tutor import plots

        if self.subject is not None:
            self.look_at(plots.whole(self.subject))

    def look_at(self, view: tuple[int, int]) -> None:
        """Draw the same over other steps."""
        self.show(self.panel, self.mark, self.level, view, self.ruling, self.asked)

    def grow(self, run: Run, mark: int | None, level: float | None, ruling: "Ruling | None") -> None:
        """Draw the same over the run with the rows that came. A view that showed its end follows the end."""
        before, self.subject = self.subject, run
        if before is None or self.view is None:
            return
        from tutor import plots

        view = plots.followed(self.view, before, run, (mark, self.cursor))
        self.show(self.panel, mark, level, view, ruling, self.asked)

    def point(self, step: int | None) -> None:
        """Put the cursor at a logged step, and move the view as far as it takes to see it."""
        from tutor import plots

        self.cursor = step
        if step is None or self.subject is None or self.view is None or self.view[0] <= step <= self.view[1]:
            self.refresh()
        else:
            self.look_at(plots.holding(self.view, step, self.subject))

    def render(self) -> Text | Drawing:
        """The panel at this widget's size: curves are drawn again only when they changed."""
        width, height = self.content_size
        if self.subject is None:
            return Text(say("walk.reading", self.app.lang), style="dim")
        if self.view is None or width < 10 or height < 3:
            return Text("")
        boards = self._drawn(width, height)
        lines = boards[0].lines(self.cursor)
        if len(boards) > 1:
            assert self.beside, "there are two boards"
            head = Text(self._heading(self.beside), style="dim")
            rows = zip(lines, [head, *boards[1].lines(self.cursor)], strict=True)
            lines = [Text.assemble(left, "  ", right) for left, right in rows]
        return Drawing(lines, self.app.console)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected of the panel."""
        drawn = self.render()
        return selection.extract(drawn.plain), "\n"

    def place(self, at: Offset) -> Offset | None:
        """Where in its text that place of the screen is."""
        drawn, (x, y) = self.render(), at - self.content_region.offset
        return drawn.place(max(0, x), max(0, y)) if isinstance(drawn, Drawing) else None

    def _drawn(self, width: int, height: int) -> "list[Board]":
        """One board, or two of half the width: the second under a line with its name."""
        from tutor import plots

        app, subject = self.app, self.subject
        assert subject is not None
        revisions = tuple(run.revision for run in (subject, *self.others))
        read = self.cursor is not None and len(subject) > 0
        state = (
            revisions, self.panel, self.beside, width, height, app.lang, self.view, self.mark, self.level,
            self.ruling, self.asked, self._smooth, read, not app.no_color, app.current_theme.dark,
        )  # fmt: skip
        if self._boards is None or self._boards[0] != state:
            how: plots.How = {
                "lang": app.lang, "view": self.view, "mark": self.mark, "others": self.others,
                "smooth": self._smooth, "colour": not app.no_color, "dark": app.current_theme.dark,
            }  # fmt: skip
            ours = how | {"level": self.level, "ruling": self.ruling, "asked": self.asked}
            second = self.beside
            room = (width - 2) // 2 if second else width
            boards = [plots.Board(subject, self.panel, room, height, readout=read, **ours)]
            if second:
                rest = width - 2 - room
                boards.append(
                    plots.Board(subject, second, rest, height - 1, readout=read, values_only=True, **how)
                )
            self._boards = state, boards
        return self._boards[1]

    def on_click(self, event: events.Click) -> None:
        """The cursor goes where the mouse points."""
        place = event.get_content_offset(self)
        if place is None or self.view is None or self._boards is None or self.subject is None:
            return
        from tutor import plots

        board, column = self._boards[1][0], place.x
        if len(self._boards[1]) > 1 and column > (start := (self.content_size.width - 2) // 2 + 2):
            board, column = self._boards[1][1], column - start
        step = board.step_at(column)
        if step is not None:
            event.stop()
            self.post_message(self.Pointed(plots.cursor.nearest(self.subject, step)))

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
