"""Lined: many lines of words, of which only those in sight are painted."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tutor.ui.widgets.settled import Settled


class Lined(Settled, Widget):
    """Blocks of lines, set to the width that they are given while the screen is laid out.

    Textual would join all of it to one text, wrap that, and paint every line of it before the first can be
    seen: of a tree that takes longer than a key may.
    """

    def __init__(self) -> None:
        super().__init__()
        self._set: Callable[[int], Iterable[Sequence[Content]]] | None = None
        self._known: tuple[int, list[Content], list[int]] | None = None
        self._strips: dict[int, Strip] = {}

    def fit(self, blocks: Callable[[int], Iterable[Sequence[Content]]]) -> None:
        """Draw the lines of `blocks` of so many cells."""
        self._set, self._known = blocks, None
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are lines at that width."""
        return len(self._at(width)[0])

    def place(self, block: int) -> tuple[int, int] | None:
        """The first row of a block, and how many it has; None before it is laid out."""
        ends = self._at(self.content_size.width)[1]
        if block >= len(ends):
            return None
        above = ends[block - 1] if block else 0
        return above, ends[block] - above

    def render(self) -> Content:
        """All of it, for who copies it."""
        return Content("\n").join(self._at(self.content_size.width)[0])

    def render_line(self, y: int) -> Strip:
        """One line, painted when it comes into sight."""
        if self._dirty_regions:
            self._strips.clear()
            self._dirty_regions.clear()
        if y not in self._strips:
            self._strips[y] = self._painted(y)
        return self._strips[y]

    def _painted(self, y: int) -> Strip:
        lines = self._at(self.content_size.width)[0]
        if y >= len(lines):
            return Strip.blank(self.size.width, self.visual_style.rich_style)
        line = lines[y]
        if self.text_selection and (span := self.text_selection.get_span(y)):
            begin, end = span
            marked = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(marked, begin, len(line) if end == -1 else end)
        base, segments, x = self.visual_style, [], 0
        for text, style in line.render(base, end="", parse_style=self._get_style):
            segments.append(Segment(text, (base + style).rich_style_with_offset(x, y)))
            x += len(text)
        return Strip(segments).extend_cell_length(self.size.width, base.rich_style)

    def _at(self, width: int) -> tuple[list[Content], list[int]]:
        """The lines at that width, and where each block ends."""
        if self._known is None or self._known[0] != width:
            found = self._set(width) if self._set and width else ()
            blocks = [[part for line in block for part in _wrapped(line, width)] for block in found]
            lines = [line for block in blocks for line in block]
            self._known = width, lines, list(accumulate(map(len, blocks)))
        return self._known[1:]


def _wrapped(line: Content, width: int) -> list[Content]:
    return line.wrap(width) if line.cell_length > width or "\n" in line.plain else [line]
