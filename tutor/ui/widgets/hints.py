"""Hints: one at a time, the count shown."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.tree import Question
from tutor.words import say


class Hints(VerticalScroll):
    """The hints revealed so far, the newest last; and how to get one more."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """The text, which scrolls when it is long."""
        text = Static()
        text.auto_links = False  # the link keeps its own colours
        yield text

    def show(self, question: Question, shown: int, lang: str, *, more: bool) -> None:
        """Draw the first `shown` hints; with `more`, how to get another."""
        hints = [hint(lang, question.numbers) for hint in question.hints]
        self.border_title = say("walk.hints", lang, shown=shown, count=len(hints))
        parts: list[tuple[str, str]] = [
            (f"{number}  {hint}\n", "") for number, hint in enumerate(hints[:shown], 1)
        ]
        if more and shown < len(hints):
            key = "walk.more_hints" if shown else "walk.first_hint"
            click = "@click=screen.hint"
            parts += [("h ", f"bold $accent {click}"), (say(key, lang), f"$foreground-muted {click}")]
        self.query_one(Static).update(Content.assemble(*parts).rstrip())
        self.call_after_refresh(self._to_the_newest)

    def _to_the_newest(self) -> None:
        self.scroll_end(animate=False)
        self.screen.refresh_bindings()  # now that it is known whether the hints scroll
