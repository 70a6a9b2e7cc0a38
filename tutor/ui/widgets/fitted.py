"""Fitted: words set to the width that they are given."""

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Size
from textual.visual import Visual

from tutor.ui.widgets.settled import Words


class Fitted(Words):
    """Words that depend on the room: a column set flush right, options that fill a line.

    They are set while the screen is laid out. Set when the widget is resized, as Textual would have it, they
    would change the height once more: everything would be laid out and drawn twice.
    """

    _set: Callable[[int], Content] | None = None
    _known: tuple[int, Content] | None = None

    def fit(self, words: Callable[[int], Content]) -> None:
        """Draw `words` of so many cells."""
        self._set, self._known = words, None
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The lines that the words take at that width."""
        return self._at(width).get_height(self.styles.get_rules(), width) if width else 0

    def render(self) -> Visual:
        """The words at the width at hand."""
        return self._at(self.content_size.width)

    def _at(self, width: int) -> Content:
        if self._known is None or self._known[0] != width:
            self._known = width, self._set(width) if self._set else Content()
        return self._known[1]
