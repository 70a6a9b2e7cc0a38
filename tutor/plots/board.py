"""Board: one panel at one size, with its curves drawn once; moving the cursor over it costs no curve."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from rich.text import Text

from tutor.plots import batch, layers, lines, readout, tokens, weights
from tutor.plots.ink import ink, page
from tutor.plots.request import Request
from tutor.plots.ruling import Ruling
from tutor.plots.view import View, whole
from tutor.run import Run

_PANELS = {
    "loss": lines.draw,
    "lr": lines.draw,
    "gradient": lines.draw,
    "activations": layers.draw,
    "parameters": weights.draw,
    "optimizer": lines.draw,
    "tokens": tokens.draw,
    "batch": batch.draw,
    "throughput": lines.draw,
}


class How(TypedDict, total=False):
    """How a panel is drawn.

    Attributes:
        lang: "en" or "es".
        view: first and last step to show; the whole run by default.
        mark: the step under discussion.
        level: the rule's threshold, in the panel's unit.
        level_label: what the threshold is.
        ruling: what the rule looked at and decided by.
        colour: whether the terminal has colours.
        dark: whether its background is dark.
        others: runs to lay over this one, each by its name.
        smooth: over how many rows the curves are averaged; 0 draws them as they were logged.
        asked: the signal that a question asks about, to which the axis is fitted; "": to all that is drawn.
    """

    lang: str
    view: View | None
    mark: int | None
    level: float | None
    level_label: str
    ruling: Ruling | None
    colour: bool
    dark: bool
    others: Sequence[Run]
    smooth: int
    asked: str


class Board:
    """The panel as exactly `height` lines of exactly `width` cells.

    Args:
        run: the run.
        panel: one of `tutor.run.PANELS`.
        width: in cells, at least 1.
        height: in lines, at least 1.
        readout: whether the lowest lines say what was logged at the cursor.
        values_only: whether they say no more than the curves' values, as beside another board.
        how: see `How`.
    """

    def __init__(
        self,
        run: Run,
        panel: str,
        width: int,
        height: int,
        *,
        readout: bool = False,
        values_only: bool = False,
        **how: Unpack[How],
    ):
        others = how.get("others", ())
        self._request = Request(
            run,
            panel,
            width,
            height,
            how.get("lang", "en"),
            how.get("view") or _all(run, others),
            how.get("mark"),
            how.get("level"),
            how.get("level_label", ""),
            ink(how.get("colour", True), how.get("dark", True)),
            others,
            how.get("ruling"),
            how.get("smooth", 0),
            how.get("asked", ""),
        )
        self._reading = _reading(self._request) if readout else 0
        self._values_only = values_only
        self._drawn = _PANELS[panel](self._request.sized(width, height - self._reading))

    def lines(self, cursor: int | None) -> list[Text]:
        """The picture with the cursor at that step; None: without one."""
        width, height = self._request.width, self._request.height
        said = readout.draw(self._request, cursor, self._reading, values_only=self._values_only)
        drawn = page(self._drawn.lines(cursor), width, height - self._reading)
        return [*drawn, *page(said, width, self._reading)]

    def text(self, cursor: int | None) -> Text:
        """The same as one text."""
        return Text("\n", no_wrap=True, end="").join(self.lines(cursor))

    def step_at(self, column: int) -> int | None:
        """The step that stands at a column of the picture; None where none does."""
        return self._drawn.step_at(column)


def _reading(request: Request) -> int:
    return readout.rows(request) if len(request.run) else 0


def _all(run: Run, others: Sequence[Run]) -> View:
    views = [whole(one) for one in (run, *others) if len(one)] or [whole(run)]
    return min(first for first, _ in views), max(last for _, last in views)
