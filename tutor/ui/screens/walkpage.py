"""WalkPage: a page with a walk, and what can be done wherever there is one."""

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from textual import work

from tutor.run import BadRunError
from tutor.ui.screens.page import Page
from tutor.walk import AtLeaf, Walk

W = TypeVar("W", bound=Walk)


class WalkPage(Page, Generic[W]):
    """A page with a `walk`.

    Args:
        walk: where we stand; None where that isn't known before the log is read.
    """

    def __init__(self, walk: W | None = None):
        super().__init__()
        self._walk = walk

    @property
    def walk(self) -> W:
        """Where we stand, once that is known."""
        assert self._walk is not None, "the log isn't read yet"
        return self._walk

    def start_over(self, begin_again: Callable[[], object]) -> None:
        """Begin the next attempt; where answers would be lost, the learner is asked first."""
        from tutor.ui.screens.pick import PickScreen

        def wished(wish: str | None) -> None:
            if wish == "again":
                begin_again()

        if not self.walk.answers:
            begin_again()
            return
        rows = [("stay", self.say("walk.stay")), ("again", self.say("walk.start_over"))]
        self.app.push_screen(PickScreen("walk.sure", rows), wished)

    def action_map(self) -> None:
        """The map of the tree."""
        from tutor.ui.screens.map import MapScreen

        self.app.push_screen(MapScreen(self.walk.tree, self.walk))

    @work(exclusive=True, group="compare")
    async def action_compare(self) -> None:
        """Lay beside the walked run its one sibling, else the run that the learner picks."""
        from tutor.readers import read
        from tutor.ui import runs
        from tutor.ui.screens.compare import CompareScreen
        from tutor.ui.screens.pick import PickScreen

        walk, files, lang = self.walk, self.app.files, self.app.lang
        entries = await files.read(partial(runs.beside, walk.run))
        if not entries:
            self.notify(self.say("ui.nothing_beside"), markup=False)
            return
        name: str | None = entries[0].name
        if len(entries) != 1:
            rows = [
                (entry.name, f"{self.app.called(entry.path, entry.name)}   {entry.describe(lang)}")
                for entry in entries
            ]
            name = await self.app.push_screen_wait(PickScreen("ui.pick_run", rows))
        entry = next((entry for entry in entries if entry.name == name), None)
        if entry is None:
            return
        try:
            other = await files.read(partial(read, entry.path))
        except BadRunError as error:
            self.app.complain(str(error))
            return
        ended = isinstance(walk, AtLeaf)
        self.app.push_screen(CompareScreen(walk.run, other, walk.tree, walk.focus, ended=ended))
