"""Settled: a widget that is content with the size it is given."""

from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.geometry import Size

    _Widget = Widget
else:
    _Widget = object


class Settled(_Widget):
    """Mixed in before Textual's own class.

    Textual has the whole screen laid out and painted once more whenever a widget was given another size,
    though nothing comes of it: where a scroll bar comes or goes, that alone asks for it.
    """

    def _size_updated(
        self, size: "Size", virtual_size: "Size", container_size: "Size", layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class Scrolling(Settled, VerticalScroll):
    """A pane of the walk that scrolls.

    Its bar is made once the screen stands. Textual makes it when it is first needed: in the middle of a key,
    which then lays everything out and paints it three times.
    """

    _bar: ScrollBar | None = None

    def on_mount(self) -> None:
        """Make the bar when the first painting is done."""
        self.call_after_refresh(self._make_bar)

    def _make_bar(self) -> None:
        self._bar = self.vertical_scrollbar


class Words(Settled, Static):
    """Words in a pane of the walk."""
