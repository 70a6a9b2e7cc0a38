"""Commands: everything that can be done, for the command palette."""

from collections.abc import Callable, Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tutor.run import PANELS
from tutor.ui import bindings, shelf
from tutor.ui.typed import InTutor
from tutor.words import plain, say


class Commands(InTutor, Provider):
    """The screen's panels and actions, the runs, and what the app can change."""

    def _all(self) -> Iterator[tuple[str, Callable[[], object]]]:
        app, screen = self.app, self.screen
        lang = app.lang
        if hasattr(screen, "action_panel"):
            from tutor.plots import panel_title

            for number, panel in enumerate(PANELS, 1):
                title = say("commands.panel", lang, number=number, name=panel_title(panel, lang))
                yield title, partial(screen.action_panel, number)
        for key, name in _actions(screen, lang):
            yield name, partial(app.simulate_key, key)
        for book in shelf.books():
            yield say("commands.open", lang, run=plain(book.name)), partial(app.open_run, book)
        yield say("commands.lessons", lang), app.open_lessons
        yield say("commands.learner", lang), app.ask_learner
        yield say("commands.language", lang), app.action_language
        yield say("commands.theme", lang), app.action_theme
        yield say("commands.quit", lang), app.exit

    async def discover(self) -> Hits:
        """All of them, while nothing is typed."""
        for name, act in self._all():
            yield DiscoveryHit(name, act)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for name, act in self._all():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), act)


_WORTH_NAMING = {
    "map",
    "compare",
    "full",
    "whole",
    "hint",
    "again",
    "postmortem",
    "copy",
    "others",
    "help",
    "tree",
}


def _actions(screen, lang: str) -> Iterator[tuple[str, str]]:
    """The screen's actions that work now, as (key, name); a field's own, such as copy, have no name."""
    seen = set()
    for key, (_, binding, enabled, _) in screen.active_bindings.items():
        if enabled and binding.id and binding.action in _WORTH_NAMING and binding.action not in seen:
            seen.add(binding.action)
            name = bindings.named(binding, lang)
            yield key, name[:1].upper() + name[1:]
