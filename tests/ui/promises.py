"""What holds of the app at every moment, whatever was pressed: the promises that the monkey checks."""

import re
import unicodedata
from collections.abc import Iterator

from textual.command import CommandPalette
from textual.widgets import Input, OptionList, TextArea

from tests.ui.world import SWALLOWED
from tutor.ui.app import TutorApp
from tutor.ui.bindings import Working, working
from tutor.ui.widgets.footer import WAYS_OUT, Keys

HIDDEN = re.compile(r"\s+")


def broken(app: TutorApp, *, scrolled: bool = False) -> Iterator[str]:
    """Each promise that doesn't hold of what stands on the screen now.

    Args:
        scrolled: by the mouse, since the last key: what has the focus may be out of sight until the next.
    """
    screen, size = app.screen, app.size
    strips = screen._compositor.render_strips()
    text = "\n".join("".join(segment.text for segment in strip if not segment.control) for strip in strips)
    if any(strip.cell_length > size.width for strip in strips) or len(strips) > size.height:
        yield "what is drawn is larger than the terminal"
    if screen.max_scroll_x > 0 or any(
        widget.show_horizontal_scrollbar and widget.scrollbar_size_horizontal  # a field of one line has none
        for widget in screen.query("*")
        if widget.region
    ):
        yield "something has to be scrolled sideways"
    if raw := next((sign for sign in text if sign != "\n" and _steers(sign)), None):
        yield f"a raw {raw!r} is drawn"
    if SWALLOWED in text:
        yield "markup from outside is obeyed"
    out = way_out(app)
    if out is None:
        yield f"no way out of {type(screen).__name__}"
    elif not _stands(out, text.splitlines()[-1:]):
        yield f"the way out of {type(screen).__name__} isn't at the bottom"
    yield from _focus(app, scrolled)


def way_out(app: TutorApp) -> Working | None:
    """The way out that the screen in front offers, if any."""
    rows = working(app.screen.active_bindings, app.lang)
    ways = (row for row in rows if row.action.removeprefix("app.").partition("(")[0] in WAYS_OUT)
    return next(ways, None) if app.screen.query(Keys) else None


def _stands(way: Working, bottom: list[str]) -> bool:
    """Whether its key and its name stand on the line at the bottom."""
    return any(f"{way.keys} {way.name}" in line for line in bottom)


def _steers(sign: str) -> bool:
    """Whether a terminal would do something else with it than show it."""
    return unicodedata.category(sign) in ("Cc", "Cs") or sign in "\u202a\u202b\u202c\u202d\u202e"


def _focus(app: TutorApp, scrolled: bool) -> Iterator[str]:
    """What takes keys has the focus, and can be seen."""
    screen, focused = app.screen, app.screen.focused
    takes = [w for w in screen.query("*") if isinstance(w, Input | OptionList | TextArea) and w.can_focus]
    takes = [w for w in takes if w.focusable and w.region]
    if focused is None:
        if takes and not isinstance(screen, CommandPalette):
            yield f"nothing on {type(screen).__name__} has the focus"
    elif not focused.region or not (scrolled or screen.find_widget(focused).visible_region):
        yield f"the focus on {type(screen).__name__} can't be seen: {focused!r}"
