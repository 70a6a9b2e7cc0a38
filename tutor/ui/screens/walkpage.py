"""WalkPage: a page with a walk, and what can be done wherever there is one."""

from tutor.ui.screens.page import Page
from tutor.walk import Walk


class WalkPage(Page):
    """A page with a `walk`."""

    walk: Walk

    def action_map(self) -> None:
        """The map of the tree."""
        from tutor.ui.screens.map import MapScreen  # when asked for: a walk begins sooner

        self.app.push_screen(MapScreen(self.walk))

    def action_compare(self) -> None:
        """This run beside another."""
        from tutor.ui.screens.compare import open_compare

        open_compare(self.app, self.walk)
