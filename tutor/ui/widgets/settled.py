"""Settled: a widget that is content with the size it is given."""

from typing import TYPE_CHECKING

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


class Words(Settled, Static):
    """Words in a pane of the walk."""
