"""Options: a list to pick from, whose keys the footer knows."""

from typing import TYPE_CHECKING

from textual import events
from textual.widgets import OptionList

from tutor.ui import bindings

if TYPE_CHECKING:
    _List = OptionList
else:
    _List = object


def has_room(rows: OptionList) -> bool:
    """Whether a row of the list can be seen. A page up or down over one without fails in Textual."""
    return bool(rows.scrollable_content_region)


class Clicked(_List):
    """Mixed in before Textual's own list: a click chooses a line that is still there.

    The lines may have changed since they were drawn.
    """

    async def _on_click(self, event: events.Click) -> None:
        event.prevent_default()  # of Textual's own, which is called beside this
        at = event.style.meta.get("option")
        if at is None or at < self.option_count:
            await super()._on_click(event)


class Paged(Clicked, OptionList):
    """A list in which a page is turned only where it has one: not before it is laid out, say."""

    def action_page_up(self) -> None:
        """A page up."""
        if has_room(self):
            super().action_page_up()

    def action_page_down(self) -> None:
        """A page down."""
        if has_room(self):
            super().action_page_down()


class Options(Paged):
    """Lines of plain text, one of them highlighted."""

    BINDINGS = bindings.OPTIONS
