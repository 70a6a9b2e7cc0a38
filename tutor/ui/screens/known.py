"""KnownScreen: what is known where neither the log nor the learner can answer; there the walk may end."""

from tutor.ui import bindings
from tutor.ui.screens.note import NoteScreen


class KnownScreen(NoteScreen, inherit_bindings=False):
    """Lines under a title; gives whether to end the walk."""

    BINDINGS = bindings.KNOWN

    def action_end(self) -> None:
        """End it."""
        self.dismiss(True)
