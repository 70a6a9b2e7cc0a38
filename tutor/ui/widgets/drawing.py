"""Drawing: lines of text that are drawn already, as Textual paints them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.cells import set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.css.styles import RulesMap
from textual.geometry import Offset
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual


class Drawing(Visual):
    """Lines of just the width and number that there is room for.

    Textual would take a text apart, wrap it and put it together again, which takes longer than drawing it.
    """

    def __init__(self, lines: Sequence[Text], console: Console) -> None:
        self._lines, self._console = lines, console

    @property
    def plain(self) -> str:
        """The text, for who copies it."""
        return "\n".join(line.plain for line in self._lines)

    def place(self, x: int, y: int) -> Offset:
        """Where in the text the cell is: a selection begins and ends there.

        Textual has every part of every line carry its place, which makes a style of each: painting them
        took longer than drawing.
        """
        line = self._lines[y].plain if y < len(self._lines) else ""
        return Offset(min(len(set_cell_size(line, x)), len(line)), y)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """The widest line."""
        return max((line.cell_len for line in self._lines), default=0)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """One row for each line."""
        return len(self._lines)

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """The lines in the widget's own colours, with what is selected marked."""
        base = style.rich_style
        known: dict[str | RichStyle, RichStyle] = {}
        strips = [Strip(self._segments(y, base, known)) for y in range(len(self._lines[:height]))]
        if options.selection is None or options.selection_style is None:
            return strips
        marked = options.selection_style.rich_style
        for y, strip in enumerate(strips):
            if (span := options.selection.get_span(y)) is not None:
                begin, end = span[0], strip.cell_length if span[1] == -1 else span[1]
                parts = strip.crop(0, begin), strip.crop(begin, end).apply_style(marked), strip.crop(end)
                strips[y] = Strip.join(parts)
        return strips

    def _segments(
        self, y: int, base: RichStyle, known: dict[str | RichStyle, RichStyle]
    ) -> Iterator[Segment]:
        """The parts of a line, each in its style; `known` are the styles met so far."""
        line = self._lines[y]
        if line.style:
            line = Text.assemble(line)  # as a part like the others
        for text, style in _parts(line, self._console):
            if style not in known:
                known[style] = base + self._console.get_style(style)
            yield Segment(text, known[style])


def _parts(line: Text, console: Console) -> Iterator[tuple[str, str | RichStyle]]:
    """The parts of a line that has no style as a whole."""
    plain, spans = line.plain, line.spans
    if any(span.end > after.start for span, after in pairwise(spans)):  # one style lies over another
        for text, style, _ in line.render(console):
            yield text, style or ""
        return
    at = 0
    for begin, end, style in spans:
        if begin > at:
            yield plain[at:begin], ""
        yield plain[begin:end], style
        at = end
    if at < len(plain):
        yield plain[at:], ""
