"""The one bindings table: keys, actions and their names.

Screens take their BINDINGS from here, the footer and the help screen draw what is active. A binding's
id is a key of tutor/words ("keys.hint"), so that both languages have its name; bindings of one name are
shown as one.
"""

from collections.abc import Mapping
from typing import NamedTuple

from textual.binding import ActiveBinding, Binding, BindingType

from tutor.words import say


def _row(
    keys: str,
    action: str,
    name: str,
    shown_as: str | None = None,
    *,
    show: bool = True,
    first: bool = False,
    part: str = "keys",
) -> Binding:
    """One row: with `first` the key works before the focused field gets it."""
    id = f"{part}.{name}"
    return Binding(keys, action, name, show=show, key_display=shown_as, priority=first, id=id)


def _form(keys: str, action: str, name: str, shown_as: str | None = None, **how: bool) -> Binding:
    return _row(keys, action, name, shown_as, part="postmortem.keys", **how)


_PANELS = [_row(str(n), f"panel({n})", "panel", "1-9") for n in range(1, 10)]
_VIEW = [
    _row("plus,equals_sign,kp_plus", "zoom(2.0)", "zoom", "+-"),
    _row("minus,underscore,kp_minus", "zoom(0.5)", "zoom", "+-"),
    _row("less_than_sign,shift+left", "pan(-0.25)", "pan", "< >"),
    _row("greater_than_sign,shift+right", "pan(0.25)", "pan", "< >"),
    _row("0", "whole", "whole"),
    _row("a", "smooth", "smooth", show=False),
]

_CURSOR = [
    _row("comma", "cursor(-1)", "cursor", ", ."),
    _row("full_stop", "cursor(1)", "cursor", ", ."),
    _row("left_square_bracket,semicolon,ctrl+left", "cursor(-10)", "cursor_ten", "[ ]", show=False),
    _row("right_square_bracket,colon,ctrl+right", "cursor(10)", "cursor_ten", "[ ]", show=False),
    _row("x", "cursor_at_mark", "cursor_at_mark", show=False),
    _row("v", "cursor_at_worst", "cursor_at_worst", show=False),
    _row("g", "cursor_to", "cursor_to", show=False),
]

_BACK = _row("b,backspace,ctrl+z", "back", "back", "b")

QUIT = _row("ctrl+q", "app.quit", "quit", show=False)
"""Also on the screens that lie over others: the app's own keys don't reach through those."""

APP: list[BindingType] = [
    _row("l", "language", "language", show=False),
    _row("question_mark,f1", "help", "help", "f1"),  # a ? is text in the fields of a form
    _row("ctrl+p", "command_palette", "palette", "ctrl+p"),
    _row("q", "leave", "leave"),
    # At once, before the focused field has dealt with the key: what is pasted next belongs to the next one.
    Binding("tab", "focus_next", show=False, priority=True),
    Binding("shift+tab", "focus_previous", show=False, priority=True),
    QUIT,
]

_ANSWERING = [
    _row("down,j", "choose(1)", "choose", "↑↓"),
    _row("up,k", "choose(-1)", "choose", "↑↓"),
    _row("down,pagedown", "read(3)", "read", "↑↓"),
    _row("up,pageup", "read(-3)", "read", "↑↓"),
]
"""An answer is chosen before the log has spoken, and what the log says is read after it."""

WALK: list[BindingType] = [
    _row("enter", "commit", "commit"),
    _row("enter", "go_on", "go_on"),
    _row("d", "fact", "fact"),
    Binding("d", "no_fact", "fact", show=False),  # no id: it only says why there is nothing to give
    _row("p", "pass_over", "pass_over"),
    # The pane of the answers shows their keys itself.
    _row("y", "letter('y')", "answer", "y", show=False),
    _row("s", "letter('s')", "answer", "s", show=False),
    _row("n", "letter('n')", "answer", "n", show=False),
    _row("u", "unsure", "answer", "u", show=False),
    *_ANSWERING,  # before the panels: not every outcome has a letter
    _BACK,
    _row("h", "hint", "hint"),
    _row("pagedown", "scroll_hints(2)", "scroll_hints", "pgup/dn"),
    _row("pageup", "scroll_hints(-2)", "scroll_hints", "pgup/dn"),
    *_PANELS,
    *_CURSOR,
    _row("right", "surer(1)", "confidence", "←→", show=False),  # the pane itself shows these keys
    _row("left", "surer(-1)", "confidence", "←→", show=False),
    _row("o", "others", "others"),
    _row("f", "full", "full"),
    *_VIEW,
    _row("m", "map", "map"),
    _row("c", "compare", "compare"),
    _row("w", "why", "why"),
    _row("i", "remarks", "remarks"),
    _row("t", "before", "before"),
    _row("r", "again", "again"),
    _row("q", "leave", "leave"),  # not escape: a reflex should not end a walk
    _row("q,t", "leave(True)", "walk_below", "q"),  # where it lies over the walk of another tree
]

LEAF: list[BindingType] = [
    _row("enter", "prove(False)", "prove"),
    _row("f", "fix", "fix"),
    _row("p", "postmortem", "postmortem"),
    _row("enter", "prove(True)", "proven"),  # looked at again: it is no longer what comes next
    _BACK,
    *_PANELS,
    _row("q", "leave", "leave"),  # not escape: a reflex should not end a walk
    _row("q", "leave(True)", "walk_below"),
    _row("t", "before", "before"),
    _row("t", "next_tree", "next_tree"),
    _row("s", "next_case", "next_case"),
    _row("y", "copy", "copy"),
    _row("c", "compare", "compare"),
    _row("m", "map", "map"),
    _row("r", "again", "again"),
]

PROVE: list[BindingType] = [
    _row("enter", "commit", "commit", first=True),  # first: a field would keep it to itself
    _row("enter", "go_on", "go_on", first=True),
    _row("enter", "leave", "finish", first=True),
    _row("h", "hint", "hint"),
    _row("f2", "hint", "hint"),  # where an h is text
    _row("right", "point(1)", "point", "←→↑↓"),
    _row("left", "point(-1)", "point", "←→↑↓"),
    _row("up", "point(10)", "point", "←→↑↓"),
    _row("down", "point(-10)", "point", "←→↑↓"),
    *_ANSWERING,
    *_PANELS,
    _row("escape,q", "leave", "close", "esc"),
    *_CURSOR,
    *_VIEW,
]

PANEL: list[BindingType] = [
    *_PANELS,
    *_CURSOR,
    *_VIEW,
    _row("right", "pan(0.25)", "pan", show=False),
    _row("left", "pan(-0.25)", "pan", show=False),
    _row("up", "zoom(2.0)", "zoom", show=False),
    _row("down", "zoom(0.5)", "zoom", show=False),
    _row("escape,q,f,b,backspace", "close", "close", "esc"),
]

COMPARE: list[BindingType] = [
    *_PANELS,
    *_CURSOR,
    *_VIEW,
    _row("escape,q,c,b,backspace", "close", "close", "esc"),
]

TRIAL: list[BindingType] = [
    _row("n", "another", "another"),
    _row("s", "stop", "stop"),
    *_PANELS,
    *_CURSOR,
    *_VIEW,
    _row("escape,q,f,b,backspace", "close", "close", "esc"),
]

REPORT: list[BindingType] = [
    _row("n", "another", "anew"),
    _row("s", "stop", "stop"),
    _row("escape,q,f,b,backspace", "close", "close", "esc"),
]

CLOSE: list[BindingType] = [_row("escape,q,m,b,backspace", "close", "close", "esc")]

NAME: list[BindingType] = [_row("escape", "close", "close", "esc"), QUIT]

FIELD: list[BindingType] = [_row("enter", "submit", "take")]

OPTIONS: list[BindingType] = [
    _row("enter", "select", "open"),
    _row("down", "cursor_down", "pick", "↑↓"),
    _row("up", "cursor_up", "pick", "↑↓"),
]

MENU: list[BindingType] = [_row("escape", "close", "close", "esc"), QUIT]

TOO_SMALL: list[BindingType] = [_row("q", "app.quit", "quit"), QUIT]

PICK: list[BindingType] = [_row("escape,q,b", "close", "close", "esc"), QUIT]

_HELPED = _row("question_mark,f1", "app.help", "help", "f1")

NOTE: list[BindingType] = [
    _row("enter,escape,q,i,b", "close", "go_on", "enter"),
    _HELPED,
    QUIT,
]

KEPT: list[BindingType] = [
    _row("enter,escape,q,b", "done", "go_on", "enter"),
    _row("e", "close", "to_form", "e"),
    _HELPED,
    QUIT,
]

KNOWN: list[BindingType] = [
    _row("enter", "end", "end_here"),
    _row("escape,q,b", "close", "to_question", "esc"),
    _HELPED,
    QUIT,
]

EXAMPLE: list[BindingType] = [_row("escape,q,f3,b", "close", "close", "esc"), QUIT]

HELP: list[BindingType] = [_row("escape,q,question_mark,f1,enter", "close", "close", "esc"), QUIT]

HOME: list[BindingType] = [
    _row("t", "tree", "tree", show=False),
    _row("s", "next_case", "next_case", show=False),  # the line above the runs says it
    _row("n", "lessons", "lessons"),
    _row("m", "map", "map"),
    _row("x", "app.hide_names", "hide_names"),
]

LESSON_LIST: list[BindingType] = [
    _form("enter", "select", "read"),
    _row("down", "cursor_down", "pick", "↑↓"),
    _row("up", "cursor_up", "pick", "↑↓"),
]

LESSONS: list[BindingType] = [
    _row("escape,n", "leave", "close", "esc"),
]

POSTMORTEM: list[BindingType] = [
    _form("ctrl+s", "save", "save", first=True),
    _form("ctrl+n", "section(1)", "next", first=True),
    _form("ctrl+pageup", "section(-1)", "previous", first=True, show=False),
    _form("escape", "leave(True)", "leave", "esc"),
    _form("escape", "leave(False)", "leave_saved", "esc"),
    _form("ctrl+o", "make_one", "make_one"),
    _form("f4", "put_back", "put_back"),
    _form("f2", "look", "look"),
    _form("f3", "example", "example"),
]

FIELDS: list[BindingType] = [
    Binding("down", "field(1)", "the field below", show=False),  # no id: see `working`
    Binding("up", "field(-1)", "the field above", show=False),
    Binding("pagedown", "field_page(1)", "a page down", show=False),
    Binding("pageup", "field_page(-1)", "a page up", show=False),
]

CELLS: list[BindingType] = [
    _form("1", "fill('favours')", "fill", "1-3"),
    _form("2", "fill('rules_out')", "fill", "1-3"),
    _form("3", "fill('silent')", "fill", "1-3"),
    _form("space,enter", "turn", "turn", show=False),
    _form("backspace,delete", "clear_cell", "clear"),
]

CONTENTS: list[BindingType] = [
    Binding("down,right", "move(1)", "next section", show=False),  # no id: see `working`
    Binding("up,left", "move(-1)", "section before", show=False),
    Binding("enter", "enter", "into the section", show=False),
]


_KEY_NAMES = {"backspace"}
"""Keys whose names are words of a language."""


class Working(NamedTuple):
    """A row of the table that works now.

    Attributes:
        keys: as shown, "↑↓".
        name: what it does, in the language at hand.
        key: one that does it, for whoever presses it for the learner: a click, the menu.
        action: what that key runs.
    """

    keys: str
    name: str
    key: str
    action: str


def _key(key: str, lang: str) -> str:
    return say(f"keys.names.{key}", lang) if key in _KEY_NAMES else key.replace("escape", "esc")


def working(active: Mapping[str, ActiveBinding], lang: str, *, hidden: bool = False) -> list[Working]:
    """What works now, bindings of one name as one: what footer, help and menu show and do.

    Only bindings with an id, which are ours: scrolling and moving a cursor need no explanation. The keys
    that work wherever the focus is come first. With `hidden`, also what the footer leaves out for want of
    room.
    """
    rows: dict[str, tuple[list[str], str, str]] = {}
    ours = [(key, b, b.id) for key, (_, b, enabled, _) in active.items() if enabled and b.id]
    for key, binding, id in sorted(ours, key=lambda row: not (row[1].priority and row[1].show)):
        if not (binding.show or hidden):
            continue
        shown, _, _ = rows.setdefault(say(id, lang), ([], key, binding.action))
        # A row of several keys shows the first of them, unless it says how it wants to be shown.
        if not binding.key_display and shown:
            continue
        if (display := binding.key_display or _key(key, lang)) not in shown:
            shown.append(display)
    return [Working(" ".join(shown), name, key, action) for name, (shown, key, action) in rows.items()]
