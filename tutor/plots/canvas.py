"""Canvas: cells of a character and a style each, to draw on in any order."""

from __future__ import annotations

from itertools import groupby

from rich.text import Span, Text


class Canvas:
    """`height` rows of `width` cells, blank at first. What falls outside is not drawn."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cells = [[" "] * width for _ in range(height)]
        self.styles = [[""] * width for _ in range(height)]

    def copy(self) -> Canvas:
        """One to draw on without touching this one."""
        copied = Canvas(self.width, self.height)
        copied.cells = [row.copy() for row in self.cells]
        copied.styles = [row.copy() for row in self.styles]
        return copied

    def put(self, row: int, column: int, cell: str, style: str) -> None:
        """Draw one cell."""
        if 0 <= row < self.height and 0 <= column < self.width:
            self.cells[row][column], self.styles[row][column] = cell, style

    def write(self, row: int, column: int, words: str, style: str) -> None:
        """Draw a cell for each character, from `column` on."""
        for offset, cell in enumerate(words):
            self.put(row, column + offset, cell, style)

    def blank(self, row: int, column: int, width: int) -> bool:
        """Whether nothing is drawn on so many cells."""
        return self.cells[row][column : column + width] == [" "] * width

    def line(self, row: int) -> Text:
        """A row as a text."""
        spans, begin = [], 0
        for style, cells in groupby(self.styles[row]):
            end = begin + len(list(cells))
            if style:
                spans.append(Span(begin, end, style))
            begin = end
        return Text("".join(self.cells[row]), no_wrap=True, spans=spans)
