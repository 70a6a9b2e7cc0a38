"""Field: one line to type, whose Enter the footer knows."""

from textual.widgets import Input

from tutor.ui import bindings


class Field(Input):
    """A line of text, of a dialog."""

    BINDINGS = bindings.FIELD
