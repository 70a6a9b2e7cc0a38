"""Commands: everything that can be done, for the command palette."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from tutor.run import PANELS
from tutor.ui import bindings, runs
from tutor.ui.runs import RunEntry
from tutor.ui.typed import InTutor
from tutor.words import plain, say


class Commands(InTutor, Provider):
    """The screen's panels and actions, the runs, and what the app can change."""

    _entries: Sequence[RunEntry] = ()

    async def startup(self) -> None:
        """Look for the runs once, while the menu opens."""
        self._entries = await self.app.files.read(runs.available)

    def _all(self) -> Iterator[tuple[str, Callable[[], object]]]:
        app, screen = self.app, self.screen
        lang = app.lang
        if show := getattr(screen, "action_panel", None):
            from tutor.plots import panel_title

            for number, panel in enumerate(PANELS, 1):
                title = say("commands.panel", lang, number=number, name=panel_title(panel, lang))
                yield title, partial(show, number)
        for row in bindings.working(screen.active_bindings, lang, hidden=True):
            if row.action in _WORTH_NAMING:
                yield row.name[:1].upper() + row.name[1:], partial(app.simulate_key, row.key)
        yield say("commands.lessons", lang), app.open_lessons
        yield say("commands.learner", lang), app.ask_learner
        yield say("commands.language", lang), app.action_language
        yield say("commands.theme", lang), app.action_theme
        names = "show_names" if app.hide_names else "hide_names"
        yield say(f"commands.{names}", lang), app.action_hide_names
        yield say("commands.quit", lang), app.exit
        for entry in self._entries:  # last: there may be many
            name = plain(app.called(entry.path, entry.name))
            yield say("commands.open", lang, run=name), partial(app.open_run, entry)

    async def discover(self) -> Hits:
        """All of them, while nothing is typed."""
        for name, act in self._all():
            yield DiscoveryHit(Content(name), act, name)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for name, act in self._all():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, _highlighted(name, matcher), act, text=name)


def _highlighted(name: str, matcher: Matcher) -> Content:
    """The name with the signs that match; Textual's own `highlight` would read a run's name as markup."""
    content = Content(name)
    for at in matcher.fuzzy_search.match(matcher.query, name)[1]:
        content = content.stylize(matcher.match_style, at, at + 1)
    return content


_WORTH_NAMING = {
    "map",
    "compare",
    "full",
    "whole",
    "smooth",
    "cursor_at_mark",
    "cursor_at_worst",
    "cursor_to",
    "hint",
    "again",
    "postmortem",
    "copy",
    "others",
    "help",
    "tree",
}
