"""Options: a list to pick from, whose keys the footer knows."""

from textual.widgets import OptionList

from tutor.ui import bindings


def has_room(rows: OptionList) -> bool:
    """Whether a row of the list can be seen. A page up or down over one without fails in Textual."""
    return bool(rows.scrollable_content_region)


class Paged(OptionList):
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
