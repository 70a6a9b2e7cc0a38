"""RunList: the runs to pick from, a line each: its curve, how its walk stands, the score and the date."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
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
SHORTEST_NAME = 12
"""Cells that a long name keeps beside a state that needs the room."""
STATE = 24
"""Cells that a state gets before what a run was meant to be does; before a name, a third of the room."""
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
    """Lines in columns as wide as what they hold. Where there is little room, long names give way to the
    state, by which a run is picked.
    """

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
    said = widest([row.state for row in rows])

    def left() -> int:
        return room - sum(width + BETWEEN for width in (name, CURVE, about, score, date) if width)

    name -= _given(name - SHORTEST_NAME, min(said, max(STATE, room // 3)) - left())
    about -= _given(about, min(said, STATE) - left())
    state = max(0, left())
    return [
        Content("")
        .join(
            [
                _cell(called, name, "bold"),
                _cell(row.curve, CURVE, "$primary"),
                _cell(row.about, about, "$foreground-muted"),
                _cell(row.state, state, row.style),
                _cell(row.score, score, ""),
                _cell(row.date, date, "$foreground-muted"),
            ]
        )
        .rstrip()
        for row, called in zip(rows, _shortened([row.name for row in rows], name), strict=True)
    ]


def _given(spare: int, wanted: int) -> int:
    """How many of `spare` cells go to a column that wants so many."""
    return max(0, min(spare, wanted))


def _shortened(names: Sequence[str], width: int) -> list[str]:
    """The names in `width` cells each: cut at their ends or in their middles: so that more of them differ."""
    ways = ([_cut(name, width, tail) for name in names] for tail in (0, (width - 1) // 2))
    return max(ways, key=lambda shown: len(set(shown)))


def _cut(name: str, width: int, tail: int) -> str:
    """A name in `width` cells, of which up to `tail` are its last ones."""
    if cell_len(name) <= width:
        return name
    end = ""
    for sign in reversed(name):
        if cell_len(sign + end) > tail:
            break
        end = sign + end
    return f"{set_cell_size(name, max(0, width - 1 - cell_len(end))).rstrip()}…{end}"


def _cell(text: str, width: int, style: str) -> Content:
    """The text in a column of that width, with the gap that follows it; nothing where there is no column."""
    if not width:
        return Content("")
    return Content.styled(text, style).truncate(width, ellipsis=True, pad=True) + " " * BETWEEN
