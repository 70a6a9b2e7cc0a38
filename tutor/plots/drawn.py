"""Drawn: a panel whose curves are drawn, with a cursor still to be laid over it.

A key that moves the cursor asks for `lines` again: that must cost no sampling and no raster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.text import Text

from tutor.plots.ink import beside, page


class Drawn(Protocol):
    """A panel of a fixed size."""

    def lines(self, cursor: int | None, /) -> list[Text]:
        """Its lines, with the cursor at that step (None: without one)."""
        ...

    def step_at(self, column: int, /) -> int | None:
        """The step that stands at a column of cells, None where none does."""
        ...


@dataclass(frozen=True)
class AtStep:
    """A panel that shows one step, and is drawn for each anew."""

    draw: Callable[[int | None], list[Text]]

    def lines(self, cursor: int | None) -> list[Text]:
        """The page of that step."""
        return self.draw(cursor)

    def step_at(self, _column: int) -> int | None:
        """Nothing stands over steps here."""
        return None


@dataclass(frozen=True)
class Still:
    """A page that no cursor changes: it says what is missing."""

    page: Sequence[Text]

    def lines(self, _cursor: int | None) -> list[Text]:
        """The page."""
        return list(self.page)

    def step_at(self, _column: int) -> int | None:
        """Nothing stands over steps here."""
        return None


@dataclass(frozen=True)
class Beside:
    """Two panels of one height side by side.

    Attributes:
        left, right: the two.
        width: the cells of the left one.
        height: the lines of both.
        gap: cells between them.
    """

    left: Drawn
    right: Drawn
    width: int
    height: int
    gap: int

    def lines(self, cursor: int | None) -> list[Text]:
        """Both, with the cursor in each."""
        gap = page([], self.gap, self.height)
        return beside(beside(self.left.lines(cursor), gap), self.right.lines(cursor))

    def step_at(self, column: int) -> int | None:
        """The step in the one that lies there."""
        start = self.width + self.gap
        return self.left.step_at(column) if column < start else self.right.step_at(column - start)
