"""TutorApp: the themes, the language and the learner; everything else is in the screens.

TutorApp(learner=..., lang=...).run()                                     the home screen
TutorApp(learner=..., lang=..., home_tree="phase-19").run()               the same, to walk that tree
TutorApp(learner=..., lang=..., inside=path).run()                        the same, with the runs at that path
TutorApp(learner=..., lang=..., subject=path, walked_tree=tree).run()     begin or resume a walk
TutorApp(..., subject=path, walked_tree=tree, growing=Growing(path)).run()    over a run that still trains

`settled` is called when the first screen stands, and again when a log has been read. With `greet`, a
learner without a notebook is told before the first question what all this is about.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from textual import events
from textual.errors import NoWidget
from textual.screen import Screen

from tutor import preferences
from tutor.terminal import hangup
from tutor.ui import bindings
from tutor.ui.firstpaint import FirstPaint, commands
from tutor.ui.following import Following
from tutor.ui.themes import DARK, LIGHT
from tutor.words import LANGUAGES, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import RenderableType
    from textual.geometry import Size

    from tutor.following.growing import Growing
    from tutor.run import Run
    from tutor.tree import Tree

SMALLEST = (60, 18)


class TutorApp(Following, FirstPaint):
    """The app. Opens on a walk where it is given a run and a tree, else on the home screen.

    A run that can't be read ends the app with `return_code` 2 and the reason.

    Attributes:
        leaving: whether its end has begun: what is begun now would find its widgets gone.
    """

    TITLE = "tutor"
    CSS_PATH = "tutor.tcss"
    COMMANDS = {commands}  # noqa: RUF012
    BINDINGS = bindings.APP

    def __init__(
        self,
        *,
        learner: str,
        lang: str = "en",
        subject: Run | Path | None = None,
        walked_tree: Tree | None = None,
        home_tree: str | None = None,
        inside: Path | None = None,
        greet: bool = False,
        growing: Growing | None = None,
        settled: Callable[[], object] = lambda: None,
    ):
        super().__init__(settled)
        self.leaving = False
        self.set_reactive(TutorApp.learner, learner)
        self._greet = greet
        if growing is not None:
            self.follow(growing)
        self._subject, self._walked_tree, self._home_tree = subject, walked_tree, home_tree
        self._inside = inside
        self.set_reactive(TutorApp.lang, lang if lang in LANGUAGES else LANGUAGES[0])
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self._take_preferences()

    def on_mount(self) -> None:
        """From now on, end where the terminal has gone; what was answered so far is kept already."""
        if not self.is_headless and sys.__stdin__ is not None:
            hangup.watch(sys.__stdin__.fileno())

    def get_default_screen(self) -> Screen:
        """The walk asked for, else home: it takes the place of Textual's empty screen."""
        if self._subject is None or self._walked_tree is None:
            from tutor.ui.screens.home import HomeScreen

            home = HomeScreen()
            home.walked_tree, home.inside = self._home_tree, self._inside
            return home
        from tutor.ui.screens.walk import WalkScreen

        return WalkScreen(self._subject, self._walked_tree)

    @property
    def failure(self) -> Exception | None:
        """The error that nobody foresaw and that ended the app, for the command to tell."""
        return self._exception

    def _fatal_error(self) -> None:
        """End without Textual's picture of every local variable: the command tells of `failure` in a line."""
        self._close_messages_no_wait()

    async def on_event(self, event: events.Event) -> None:
        """What is pasted is made safe to draw. A key acts on what is in sight. What comes while the app ends,
        when there is no screen any more, is passed over.
        """
        if isinstance(event, events.InputEvent | events.Paste) and not self.screen_stack:
            return
        if isinstance(event, events.Paste):
            event.text = plain("\n".join(event.text.splitlines()), lines=True)
        if isinstance(event, events.Key | events.Paste):
            self._show_focused()
        await super().on_event(event)

    def _show_focused(self) -> None:
        """Bring back what takes the keys, where it was scrolled out of sight."""
        with suppress(NoWidget):  # it isn't laid out yet
            if (held := self.focused) and not self.screen.find_widget(held).visible_region:
                held.scroll_visible(animate=False)

    def exit(
        self, result: object = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave the app. What its screens have begun ends before their widgets go."""
        self.leaving = True
        self.workers.cancel_all()
        super().exit(result, return_code, message)

    async def on_unmount(self) -> None:
        """However the app ends, what was to be saved is saved."""
        await self.files.close()

    def is_small(self, size: Size) -> bool:
        """Whether a terminal of that size has no room for the screens."""
        return size.width < SMALLEST[0] or size.height < SMALLEST[1]

    def on_resize(self, event: events.Resize) -> None:
        """Cover everything with one clear line while the terminal is too small."""
        from tutor.ui.screens.small import TooSmall

        if not self.screen_stack:  # the app is being left
            return
        if self.is_small(event.size):
            self.cover(event.size)
        elif isinstance(self.screen, TooSmall):
            self.screen.dismiss()

    def cover(self, size: Size | None = None) -> None:
        """Cover what is in front while the terminal is too small; `size` is news of how large it is."""
        from tutor.ui.screens.small import TooSmall

        if self.is_small(size or self.size) and not isinstance(self.screen, TooSmall):
            self.push_screen(TooSmall())

    def action_language(self) -> None:
        """The next language; kept for the next time."""
        self.lang = self._chosen_lang = LANGUAGES[(LANGUAGES.index(self.lang) + 1) % len(LANGUAGES)]
        self._keep_preferences()

    def action_theme(self) -> None:
        """From dark to light, or back; kept for the next time."""
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name
        self._keep_preferences()

    def action_hide_names(self) -> None:
        """Hide the runs' names, which may be the answer, until their walks have ended; or show them.

        For this sitting: who finds nothing but "run 1" days later doesn't know why.
        """
        self.hide_names = not self.hide_names

    def watch_learner(self) -> None:
        """Another learner, other preferences."""
        self._take_preferences()
        self.lang = self._chosen_lang or self.lang

    def _take_preferences(self) -> None:
        kept = preferences.read(self.learner)
        self.theme = LIGHT.name if kept.theme == "light" else DARK.name
        self._chosen_lang = kept.lang  # beside `lang`: what a command asks for is not kept

    def _keep_preferences(self) -> None:
        theme = "dark" if self.current_theme.dark else "light"
        now = preferences.Preferences(theme, self._chosen_lang)
        keep = partial(preferences.write, self.learner, now)
        self.files.save(keep, lambda error: self.complain(error.says(self.lang)))
