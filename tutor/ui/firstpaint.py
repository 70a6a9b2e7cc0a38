"""First paint: everything that is put off so that the first question stands sooner. All of it is here.

- The first screen is the app's default one (`TutorApp.get_default_screen`): over an empty screen, as
  Textual would begin, it would be painted a frame later.
- The styles are parsed once, with that screen; before there is one a change of theme only sets variables.
- What a key or the menu opens is imported when it is opened: the imports inside functions in this room.
- The log is read, and polars imported for it, once the terminal has had time to draw (`after_first_paint`):
  a thread beside the drawing would hold it up.
- The process collects no garbage until the first screen stands; what is loaded by then, and later with the
  log, is never looked through again, for that would hold up a key (`settled`; see tutor/cli/start.py).

`python -m tests.bench` measures what all this is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.command import Provider
    from textual.screen import Screen

FIRST_PAINT = 0.03
"""Seconds after the first layout: by then the terminal has drawn the first screen."""


def after_first_paint(screen: Screen, act: Callable[[], object]) -> None:
    """Call `act` once `screen` has been laid out and drawn."""
    screen.call_after_refresh(screen.set_timer, FIRST_PAINT, act)


def commands() -> type[Provider]:
    """What the menu offers, imported when it is first opened."""
    from tutor.ui.commands import Commands

    return Commands


class FirstPaint(App[object]):
    """An app that puts off what its first screen can do without, and says when it stands.

    Args:
        settled: called when the first screen stands, and whenever much has been loaded that stays.
    """

    def __init__(self, settled: Callable[[], object]):
        super().__init__()
        self.settled = settled

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is a screen only the theme is taken over: the styles are parsed with the screen."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def on_ready(self) -> None:
        """The first screen stands; what was put off until then may go on."""
        self.settled()
