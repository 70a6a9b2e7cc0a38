"""Following: an app that reads a run again while it trains, and tells its screens what has come.

Reading, and looking for a spike among the new rows, happens in a thread; a screen gets `Grown`, also one
that others lie over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work

from tutor.ui.firstpaint import after_first_paint
from tutor.ui.navigation import Navigation
from tutor.ui.news import Grown, News

if TYPE_CHECKING:
    from tutor.following.growing import Growing
    from tutor.following.pace import Pace


class Following(Navigation):
    """An app that may follow one run.

    Attributes:
        growing: that run; None where none is followed.
        news: how it stands; None before the first look.
        pace: of the looks, and of what screens make of them.
    """

    growing: Growing | None = None
    news: News | None = None
    pace: Pace
    leaving: bool

    def follow(self, growing: Growing) -> None:
        """Follow a run from the first paint on."""
        from tutor.following.pace import Pace

        self.growing, self.pace = growing, Pace()

    def on_ready(self) -> None:
        """Look at once when the first screen stands, then again and again."""
        if self.growing is None:
            return
        from tutor.following.pace import EVERY

        after_first_paint(self.screen, self.look)
        self.set_interval(EVERY, self.look)

    def look(self) -> None:
        """Look at the log, unless it was read just now."""
        if self.growing is not None and self.pace.due and not self.leaving:
            self._look(self.growing)

    @work(group="follow")
    async def _look(self, growing: Growing) -> None:
        before = self.news
        self.news = news = await self.files.read(lambda: self._read(growing, before))
        if news.strike is not None and (before is None or news.strike != before.strike):
            self.bell()
        for screen in self.screen_stack:
            screen.post_message(Grown(news))

    def _read(self, growing: Growing, before: News | None) -> News:
        from tutor.following.striking import strikes

        with self.pace.working():
            state = growing.look()
            if before is None:
                return News(state)
            if state.run is None or state.run is before.state.run:
                return replace(before, state=state)
            after = before.state.step
            came = strikes(state.run, -1 if after is None else after)
            return News(state, came[-1] if came else before.strike)
