"""Settled: a widget that is content with the size it is given."""

from typing import TYPE_CHECKING, Self

from textual.containers import VerticalScroll
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.geometry import Region, Size

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


class Bar(Settled, ScrollBar):
    """A scroll bar that is laid out and painted with its pane.

    Textual would lay out the screen for a bar that has come or gone, and paint one that shows another part
    in a painting of its own, after that of its pane.
    """

    def refresh(
        self, *regions: "Region", repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Wait for the painting of the layout where one is to come."""
        if layout or recompose or not self.screen._layout_required:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        self._set_dirty()
        return self


class Scrolling(Settled, VerticalScroll):
    """A pane of the walk that scrolls.

    Its bar is made once the screen stands. Textual makes it when it is first needed: in the middle of a key,
    which then lays everything out and paints it three times.
    """

    def on_mount(self) -> None:
        """Make the bar when the first painting is done."""
        self.call_after_refresh(lambda: self.vertical_scrollbar)

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The bar, made as Textual makes it."""
        if self._vertical_scrollbar is None:
            bar = Bar(vertical=True, name="vertical", thickness=self.scrollbar_size_vertical)
            bar.display = False
            self._vertical_scrollbar = bar
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar


class Words(Settled, Static):
    """Words in a pane of the walk."""
