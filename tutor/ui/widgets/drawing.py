"""Drawing: lines of text that are drawn already, as Textual paints them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.console import Console
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.css.styles import RulesMap
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
        strips = [Strip(self._segments(y, base)) for y in range(len(self._lines[:height]))]
        if options.selection is None or options.selection_style is None:
            return strips
        marked = options.selection_style.rich_style
        for y, strip in enumerate(strips):
            if (span := options.selection.get_span(y)) is not None:
                begin, end = span[0], strip.cell_length if span[1] == -1 else span[1]
                parts = strip.crop(0, begin), strip.crop(begin, end).apply_style(marked), strip.crop(end)
                strips[y] = Strip.join(parts)
        return strips

    def _segments(self, y: int, base: RichStyle) -> Iterator[Segment]:
        x = 0
        for text, style in _runs(self._lines[y], self._console):
            place = RichStyle.from_meta({"offset": (x, y)})  # where a selection begins and ends
            yield Segment(text, base + style + place)
            x += len(text)


def _runs(line: Text, console: Console) -> Iterator[tuple[str, RichStyle]]:
    """The parts of a line, each in its style."""
    plain, spans, whole = line.plain, line.spans, console.get_style(line.style)
    if any(span.end > after.start for span, after in pairwise(spans)):  # one style lies over another
        for text, style, _ in line.render(console):
            yield text, style or whole
        return
    at = 0
    for begin, end, style in spans:
        if begin > at:
            yield plain[at:begin], whole
        yield plain[begin:end], whole + console.get_style(style)
        at = end
    if at < len(plain):
        yield plain[at:], whole
