"""Hints: one at a time, the count shown."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.walk import Walk
from tutor.words import say


class Hints(VerticalScroll):
    """The hints revealed so far, the newest last; and how to get one more."""

    can_focus = False

    def compose(self):
        """The text, which scrolls when it is long."""
        text = Static()
        text.auto_links = False  # the link keeps its own colours
        yield text

    def show(self, walk: Walk, lang: str) -> None:
        """Draw the hints of `walk`."""
        hints = [hint(lang, walk.question.numbers) for hint in walk.question.hints]
        self.border_title = say("walk.hints", lang, shown=walk.hints, count=len(hints))
        parts: list[tuple[str, str]] = [
            (f"{number}  {hint}\n", "") for number, hint in enumerate(hints[: walk.hints], 1)
        ]
        if walk.hints < len(hints) and not walk.prediction:
            key = "walk.more_hints" if walk.hints else "walk.first_hint"
            click = "@click=screen.hint"
            parts += [("h ", f"bold $accent {click}"), (say(key, lang), f"$foreground-muted {click}")]
        self.query_one(Static).update(Content.assemble(*parts).rstrip())
        self.call_after_refresh(self.scroll_end, animate=False)
