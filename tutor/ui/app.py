"""TutorApp: the themes, the language and the learner; everything else is in the screens.

TutorApp(learner=..., lang=...).run()                              the home screen
TutorApp(learner=..., lang=..., subject=path, asked=tree).run()    begin or resume a walk

`ready` is called once, when the first screen stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.reactive import reactive
from textual.screen import Screen

from tutor.ui import bindings
from tutor.ui.themes import DARK, LIGHT
from tutor.words import LANGUAGES, plain, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.geometry import Size

    from tutor.run import Run
    from tutor.tree import Tree
    from tutor.ui.screens.home import HomeScreen
    from tutor.ui.shelf import Book

SMALLEST = (60, 18)


def _commands():
    from tutor.ui.commands import Commands

    return Commands


class TutorApp(App[object]):
    """The app. Opens on a walk where it is given a run and a tree, else on the home screen.

    A run that can't be read ends the app with `return_code` 2 and the reason.

    Attributes:
        learner: whose notebook.
        lang: "en" or "es".
    """

    TITLE = "tutor"
    CSS_PATH = "tutor.tcss"
    COMMANDS = {_commands}  # noqa: RUF012
    BINDINGS = bindings.APP

    lang: reactive[str] = reactive("en", init=False)

    def __init__(
        self,
        *,
        learner: str,
        lang: str = "en",
        subject: Run | Path | None = None,
        asked: Tree | None = None,
        ready: Callable[[], None] = lambda: None,
    ):
        super().__init__()
        self.learner = learner
        self._subject, self._asked, self._on_stage = subject, asked, ready
        self.set_reactive(TutorApp.lang, lang if lang in LANGUAGES else LANGUAGES[0])
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = DARK.name

    def get_default_screen(self) -> Screen:
        """The first screen; with an empty one under it, as Textual would begin, it would be painted later."""
        if self._subject is None:
            from tutor.ui.screens.home import HomeScreen

            return HomeScreen()
        from tutor.ui.screens.walk import WalkScreen

        return WalkScreen(self._subject, self._asked)

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is a screen only the theme is taken over: the styles are parsed with the screen."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_ready(self) -> None:
        """The first screen stands; what was put off until then may go on."""
        self._on_stage()

    def is_small(self, size: Size) -> bool:
        """Whether a terminal of that size has no room for the screens."""
        return size.width < SMALLEST[0] or size.height < SMALLEST[1]

    def on_resize(self, event: events.Resize) -> None:
        """Cover everything with one clear line while the terminal is too small."""
        from tutor.ui.screens.small import TooSmall

        small = self.is_small(event.size)
        covered = isinstance(self.screen, TooSmall)
        if small and not covered:
            self.push_screen(TooSmall())
        elif covered and not small:
            self.pop_screen()

    def fail(self, error: Exception) -> None:
        """End with the reason on the terminal, as the commands do."""
        from rich.text import Text

        line = f"tutor: {plain(str(error), lines=True)}"
        self.exit(return_code=2, message=Text(line, no_wrap=True, overflow="ignore"))

    def leave(self, screen: Screen) -> None:
        """Leave a screen: to the one below, or out of the app from home and from the last."""
        from tutor.ui.screens.home import HomeScreen

        if len(self.screen_stack) == 1 or isinstance(screen, HomeScreen):
            self.exit()
        else:
            screen.dismiss()

    def action_leave(self) -> None:
        """Leave the screen in front."""
        self.leave(self.screen)

    def action_language(self) -> None:
        """The next language."""
        self.lang = LANGUAGES[(LANGUAGES.index(self.lang) + 1) % len(LANGUAGES)]

    def action_theme(self) -> None:
        """From dark to light, or back."""
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name

    def open_run(self, book: Book) -> None:
        """A walk over another run, from the home screen."""
        self._go_home().open(book)

    def open_lessons(self) -> None:
        """The lessons kept so far."""
        from tutor.notebook import Notebook, NotebookError
        from tutor.ui.screens.lessons import LessonsScreen

        try:
            self.push_screen(LessonsScreen(Notebook(self.learner)))
        except NotebookError as error:
            self.notify(plain(error.says(self.lang)), severity="error", markup=False, timeout=12)

    def ask_learner(self) -> None:
        """Another learner: the home screen, with that notebook."""
        from tutor.ui.screens.name import NameScreen

        self.push_screen(NameScreen(), self._take_learner)

    def _take_learner(self, name: str | None) -> None:
        if name is not None and name != self.learner:
            self.learner = name
            home = self._go_home()
            if home.is_mounted:
                home.relabel()

    def _go_home(self) -> HomeScreen:
        """The home screen in front, with nothing over it."""
        from tutor.ui.screens.home import HomeScreen

        while len(self.screen_stack) > 1 and not isinstance(self.screen, HomeScreen):
            self.pop_screen()
        if not isinstance(self.screen, HomeScreen):
            self.push_screen(HomeScreen())
        return self.screen

    def action_command_palette(self) -> None:
        """Everything that can be done, to search in."""
        from textual.command import CommandPalette

        if not CommandPalette.is_open(self):
            self.push_screen(CommandPalette(placeholder=say("commands.search", self.lang)))

    def action_help(self) -> None:
        """What works now, key by key."""
        from tutor.ui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))
