"""Navigation: which screen opens over which. Screens ask their app, so that they never import each other."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import App
from textual.reactive import reactive

from tutor import paths
from tutor.words import plain, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.await_complete import AwaitComplete
    from textual.screen import Screen

    from tutor.proof import Proof
    from tutor.run import Run
    from tutor.tree import Tree
    from tutor.ui.files import Files
    from tutor.ui.keeper import Keeper
    from tutor.ui.runs import RunEntry
    from tutor.ui.screens.home import HomeScreen
    from tutor.walk import AtLeaf, Place


class Navigation(App[object]):
    """An app that opens tutor's screens.

    Attributes:
        files: what reads and writes beside the screens.
        learner: whose notebook.
        lang: the language on screen, "en" or "es".
        hide_names: whether a run is called "run 1" until its walk has ended: its name may be the answer.
        smooth: over how many rows the panels' curves are averaged, as far as a run has as many; 0: as logged.
        ended: the paths, resolved, of the runs whose names need no hiding any more.
    """

    learner: reactive[str] = reactive("learner", init=False)
    _greet: bool = False
    lang: reactive[str] = reactive("en", init=False)
    hide_names: reactive[bool] = reactive(False, init=False)
    smooth: reactive[int] = reactive(0, init=False)

    @cached_property
    def ended(self) -> set[Path]:
        """None before a walk has ended."""
        return set()

    @cached_property
    def _cases(self) -> list[Path]:
        """Every run whose name may tell, in the order in which the home screen lists them."""
        from tutor.ui import runs

        return [entry.path.resolve() for entry in runs.available() if not entry.sealed]

    @cached_property
    def _sealed(self) -> set[Path]:
        """The runs whose names tell nothing."""
        from tutor.ui import runs

        return {entry.path.resolve() for entry in runs.available() if entry.sealed}

    def called(self, path: Path, name: str) -> str:
        """What to call the run at `path` on every screen: its name or, while names are hidden, its number."""
        shown, path = paths.log_name(path, name), path.resolve()
        if not self.hide_names or path in self.ended or path in self._sealed:
            return shown
        if path not in self._cases:
            self._cases.append(path)
        return say("ui.case", self.lang, number=self._cases.index(path) + 1)

    @cached_property
    def files(self) -> Files:
        """What reads and writes beside the screens."""
        from tutor.ui.files import Files

        return Files()

    def open_walk(self, subject: Run | Path, tree: Tree, start: Place | None = None) -> None:
        """A walk, taken up where it was left; with `start`, one that begins there."""
        from tutor.ui.screens.walk import WalkScreen

        if isinstance(self.screen, WalkScreen) and self.screen.walks(tree):
            return  # asked for twice
        super().push_screen(WalkScreen(subject, tree, start))  # it may lie over that of another tree

    @property
    def over_another_walk(self) -> bool:
        """Whether the walk in front lies over one of another tree, to which leaving it leads back."""
        from tutor.ui.screens.walk import WalkScreen

        return sum(isinstance(one, WalkScreen) for one in self.screen_stack) > 1

    def open_leaf(self, walk: AtLeaf, keeper: Keeper, left: Callable[[str | None], None]) -> None:
        """Where the walk ends. `left` is told how the learner leaves it: see LeafScreen."""
        from tutor.ui.screens.leaf import LeafScreen

        self.ended.add(walk.run.path.resolve())
        self.push_screen(LeafScreen(walk, keeper), left)

    def open_postmortem(self, walk: AtLeaf, keeper: Keeper, proof: Proof | None = None) -> None:
        """The post-mortem of a walk, filled with what was proven."""
        from tutor.begun import begun
        from tutor.ui.proofs import taken_up
        from tutor.ui.screens.postmortem import PostMortemScreen
        from tutor.ui.tried import with_tried

        fresh = with_tried(begun(walk, self.lang), walk.run, self.lang)
        postmortem = taken_up(fresh, proof, self.lang)
        self.push_screen(PostMortemScreen(postmortem, keeper.notebook, walk.run))

    def greet(self, run: Run) -> None:
        """Tell a learner who begins with a walk over `run` and has no notebook yet what it is about."""
        from tutor.notebook import Notebook

        if self._greet and Notebook(self.learner).new:
            from tutor.ui.screens.note import NoteScreen

            ours = run.of_tokens and run.manifest.tutor
            story = ["story" if ours else "any_story"]
            probe = ["probe"] if run.has("probe_loss") else []
            lines = [say(f"home.{part}", self.lang) for part in story + probe]
            self.push_screen(NoteScreen("home.story_title", lines))
        self._greet = False

    def open_run(self, entry: RunEntry) -> None:
        """A walk over another run, from the home screen."""
        self.go_home().open(entry)

    @work(exclusive=True, group="lessons")
    async def open_lessons(self) -> None:
        """The lessons kept so far."""
        from tutor.notebook import Notebook, NotebookError
        from tutor.ui.screens.lessons import LessonsScreen

        notebook = Notebook(self.learner)
        try:
            self.push_screen(LessonsScreen(notebook, await self.files.notes(notebook.lessons)))
        except NotebookError as error:
            self.complain(error.says(self.lang))

    def ask_learner(self) -> None:
        """Another learner: the home screen, with that notebook."""
        from tutor.ui.screens.name import NameScreen

        self.push_screen(NameScreen(), self._take_learner)

    def _take_learner(self, name: str | None) -> None:
        if name is not None and name != self.learner:
            self.learner = name
            home = self.go_home()
            if home.is_mounted:
                home.read()

    def push_screen(self, screen: Any, *how: Any, **named: Any) -> Any:
        """Lay `screen` over the one in front, unless that is of its kind: a key pressed twice, before the
        first one was dealt with, opens one screen. Who waits for a screen that isn't opened gets None.
        """
        from tutor.ui.screens.once import LeftOnce

        if self.screen_stack and type(screen) is type(self.screen):
            nothing = asyncio.get_running_loop().create_future()
            nothing.set_result(None)
            return nothing
        if self.screen_stack and isinstance(screen, LeftOnce):  # the first of all can't stand too soon
            screen.opens()
        return super().push_screen(screen, *how, **named)

    def pop_screen(self) -> AwaitComplete:
        """Take away the screen in front; what it has begun ends before its widgets go."""
        self.workers.cancel_node(self.screen)
        return super().pop_screen()

    def go_home(self) -> HomeScreen:
        """The home screen in front, with nothing over it."""
        from tutor.ui.screens.home import HomeScreen

        while len(self.screen_stack) > 1 and not isinstance(self.screen, HomeScreen):
            self.pop_screen()
        if not isinstance(self.screen, HomeScreen):
            self.push_screen(HomeScreen())
        assert isinstance(self.screen, HomeScreen)
        return self.screen

    def leave(self, screen: Screen) -> None:
        """Leave a screen: to the one below, or out of the app from home and from the last."""
        from tutor.ui.screens.home import HomeScreen

        if screen is self.screen_stack[0] or isinstance(screen, HomeScreen):
            self.exit()
        else:
            screen.dismiss()

    def action_leave(self) -> None:
        """Leave the screen in front."""
        self.leave(self.screen)

    def action_help_quit(self) -> None:
        """Ctrl+C, which copies in a field and would end a walk by reflex: say what closes tutor."""
        self.notify(say("ui.how_to_quit", self.lang), markup=False)

    def complain(self, why: str) -> None:
        """Say what can't be done, and leave everything as it is."""
        self.notify(plain(why, lines=True), severity="error", markup=False, timeout=12)

    def fail(self, screen: Screen, error: Exception) -> None:
        """What `screen` was to show can't be read: back to the one below or, where there is none, end with
        the reason on the terminal, as the commands do.
        """
        if screen is not self.screen_stack[0]:
            self.complain(str(error))
            screen.dismiss()
            return
        from rich.text import Text

        line = f"tutor: {plain(str(error), lines=True)}"
        self.exit(return_code=2, message=Text(line, no_wrap=True, overflow="ignore"))

    def action_command_palette(self) -> None:
        """Everything that can be done, to search in."""
        from tutor.ui.screens.menu import Menu

        self.push_screen(Menu(placeholder=say("commands.search", self.lang)))

    def action_help(self) -> None:
        """What works now, key by key."""
        from tutor.ui.screens.help import HelpScreen

        self.push_screen(HelpScreen(self.screen, self.lang))
