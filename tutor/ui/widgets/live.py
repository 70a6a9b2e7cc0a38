"""Live: one line on the run that is followed: how far it is, and what has come."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from tutor.saying.later import of_change
from tutor.tree import Tree
from tutor.walk import Change
from tutor.words import plain, say

if TYPE_CHECKING:
    from tutor.following.growing import State
    from tutor.ui.news import News

MUTED, LOUD = "$foreground-muted", "bold $accent"
GAP = "   "


class Live(Static):
    """How the run stands on the left, so that it doesn't move; then the last spike, and changed answers."""

    auto_links = reactive(False)

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._said = Content()

    def show(self, news: "News | None", tree: Tree, changed: Iterable[Change], lang: str) -> None:
        """Draw the line, where a run is followed."""
        self.display = news is not None
        if news is None:
            return
        parts = [_standing(news.state, lang)]
        if news.strike is not None:
            parts.append(Content.assemble(("! ", LOUD), (news.strike.says(lang), LOUD)))
        for one in changed:
            said = of_change(one, tree.questions[one.question], lang)
            parts.append(Content.assemble(("↻ ", LOUD), f"{one.question} {said}"))
        said = Content(GAP).join(parts)
        if said != self._said:  # it is asked to every second
            self._said = said
            self.update(said, layout=False)


def _standing(state: "State", lang: str) -> Content:
    """How the run stands, with its sign."""
    from tutor.following.growing import time_of  # only who follows a run needs it

    if state.trouble is not None:
        return Content.assemble(("? ", LOUD), plain(state.trouble.says(lang)))
    if state.ended:
        return Content.assemble(("■ ", MUTED), (say("follow.ended", lang, step=state.step), MUTED))
    if state.silent:
        since = time_of(state.written)
        return Content.assemble(("○ ", LOUD), say("follow.silent", lang, since=since, step=state.step))
    key = "follow.following" if state.steps is None else "follow.following_to"
    said = say(key, lang, step=state.step, steps=state.steps)
    return Content.assemble(("● ", "$success"), (said, MUTED))
