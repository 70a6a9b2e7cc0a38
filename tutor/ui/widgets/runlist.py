"""RunList: the runs to pick from, a line each: its curve, how its walk stands, the score and the date."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.widgets.option_list import Option

from tutor.ui.widgets.options import Options

CURVE = 16
"""Cells of a run's curve."""
WIDE = 100
"""Cells from which a line also says what the run was meant to be."""
LONGEST_NAME = 24
"""Cells of a name, or a third of the room where that is more."""
BETWEEN = 2


@dataclass(frozen=True)
class RunRow:
    """One run's line.

    Attributes:
        name: the run's.
        about: what it was meant to be.
        curve: its loss in `CURVE` signs; "" until it is read.
        state: how its walk stands; what the log said, once it was walked to the end.
        style: the state's style.
        score: how the predictions fared, or "".
        date: when the walk ended, or "".
    """

    name: str
    about: str
    curve: str
    state: str
    style: str
    score: str
    date: str


class RunList(Options):
    """Lines in columns as wide as what they hold; the state gives way where there is little room."""

    _rows: Sequence[RunRow] = ()

    def show(self, rows: Sequence[RunRow]) -> None:
        """Draw the rows. What is highlighted stays so while there are as many as before."""
        self._rows = rows
        if self.option_count != len(rows):
            self.clear_options()
            self.add_options([Option("") for _ in rows])
        self._draw()

    def on_resize(self, _event: events.Resize) -> None:
        """Divide the room anew."""
        self._draw()

    def _draw(self) -> None:
        room = self.scrollable_content_region.width
        for number, line in enumerate(lines(self._rows, room)):
            self.replace_option_prompt_at_index(number, line)


def lines(rows: Sequence[RunRow], room: int) -> list[Content]:
    """The rows as lines of `room` cells."""

    def widest(texts: Sequence[str]) -> int:
        return max((Content(text).cell_length for text in texts), default=0)

    name = min(widest([row.name for row in rows]), max(LONGEST_NAME, room // 3))
    about = widest([row.about for row in rows]) if room >= WIDE else 0
    score, date = widest([row.score for row in rows]), widest([row.date for row in rows])
    taken = sum(width + BETWEEN for width in (name, CURVE, about, score, date) if width)
    state = max(0, room - taken)
    return [
        Content("")
        .join(
            [
                _cell(row.name, name, "bold"),
                _cell(row.curve, CURVE, "$primary"),
                _cell(row.about, about, "$foreground-muted"),
                _cell(row.state, state, row.style),
                _cell(row.score, score, ""),
                _cell(row.date, date, "$foreground-muted"),
            ]
        )
        .rstrip()
        for row in rows
    ]


def _cell(text: str, width: int, style: str) -> Content:
    """The text in a column of that width, with the gap that follows it; nothing where there is no column."""
    if not width:
        return Content("")
    return Content.styled(text, style).truncate(width, ellipsis=True, pad=True) + " " * BETWEEN
