"""Hints: one at a time, the count shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from tutor.ui.widgets.settled import Scrolling, Words
from tutor.words import Words as Said
from tutor.words import say


class Hints(Scrolling):
    """The hints revealed so far, the newest last; and how to get one more."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """The text, which scrolls when it is long."""
        text = Words()
        text.auto_links = False  # the link keeps its own colours
        yield text

    def show(
        self,
        cascade: Sequence[Said],
        numbers: Mapping[str, Any],
        shown: int,
        lang: str,
        *,
        more: bool,
        key: str = "h",
    ) -> None:
        """Draw the first `shown` hints, filled with `numbers`; with `more`, the key that gives another."""
        hints = [hint(lang, numbers) for hint in cascade]
        self.border_title = say("walk.hints", lang, shown=shown, count=len(hints))
        parts: list[tuple[str, str]] = [
            (f"{number}  {hint}\n", "") for number, hint in enumerate(hints[:shown], 1)
        ]
        if more and shown < len(hints):
            words = "walk.more_hints" if shown else "walk.first_hint"
            click = "@click=screen.hint"
            parts += [(f"{key} ", f"bold $accent {click}"), (say(words, lang), f"$foreground-muted {click}")]
        self.query_one(Words).update(Content.assemble(*parts).rstrip())
        self.call_after_refresh(self._to_the_newest, Content.assemble(*parts[: max(0, shown - 1)]).rstrip())

    def _to_the_newest(self, before: Content) -> None:
        """Scroll so far that the newest hint is read from its first line; `before` stands above it."""
        if not self.is_attached:  # the walk was left while this waited
            return
        width = self.query_one(Words).content_size.width
        above = before.get_height({}, width) if before and width else 0
        self.scroll_to(y=min(above, self.max_scroll_y), animate=False)
        self.screen.refresh_bindings()  # now that it is known whether the hints scroll
