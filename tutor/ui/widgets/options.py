"""Options: a list to pick from, whose keys the footer knows."""

from textual.widgets import OptionList

from tutor.ui import bindings


class Options(OptionList):
    """Lines of plain text, one of them highlighted."""

    BINDINGS = bindings.OPTIONS
