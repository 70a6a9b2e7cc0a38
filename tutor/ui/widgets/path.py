"""Path: the questions behind us, the one at hand, and where its answers lead."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tutor.walk import Answer, Walk
from tutor.words import say

HERE, AHEAD = "▸", "┆"
RIGHT, WRONG, UNTESTED = "✓", "✗", "·"


def mark(answer: Answer) -> str:
    """How the learner's prediction fared against the answer taken."""
    if answer.prediction is None or answer.by != "log":
        return UNTESTED
    return RIGHT if answer.prediction.outcome == answer.outcome else WRONG


def mark_style(sign: str) -> str:
    """The style that goes with the mark; the mark itself carries the meaning."""
    return {RIGHT: "bold $success", WRONG: "bold $error"}.get(sign, "$foreground-muted")


class Path(VerticalScroll):
    """A column where there is room, else one line."""

    _shown: tuple[Walk, str] | None = None

    can_focus = False

    def compose(self):
        """The column and the line; the stylesheet shows one of them."""
        yield Static(id="path-column")
        yield Static(id="path-line")

    def show(self, walk: Walk, lang: str) -> None:
        """Draw the path of `walk`."""
        self._shown = walk, lang
        self.border_title = say("walk.path", lang)
        self.query_one("#path-column", Static).update(self._column(walk, lang))
        self.query_one("#path-line", Static).update(self._line(walk, lang))
        self.call_after_refresh(self.scroll_end, animate=False)

    def on_resize(self) -> None:
        """Set the answers flush right anew."""
        if self._shown:
            self.show(*self._shown)

    def _column(self, walk: Walk, lang: str) -> Content:
        lines: list[Content] = []
        width = self.content_size.width
        for answer in walk.answers:
            question = walk.tree.questions[answer.question]
            sign = mark(answer)
            taken = question.outcomes[answer.outcome].label(lang)
            by = f" ({say('walk.by_you', lang)})" if answer.by == "learner" else ""
            asked = Content.assemble(
                (f"{sign} ", mark_style(sign)),
                (f"{answer.question} ", "$foreground-muted"),
                (question.title(lang), ""),
            )
            said = Content.assemble((f"{taken}{by}", "bold"))
            gap = width - asked.cell_length - said.cell_length
            lines.append(asked + (" " * gap if gap > 0 else "\n" + " " * 6) + said)
        if walk.question:
            lines.append(
                Content.assemble((f"{HERE} {walk.at} ", "bold $accent"), (walk.question.title(lang), "bold"))
            )
            lines.append(Content.assemble((f"{AHEAD} {_ahead(walk, lang)}", "$foreground-muted")))
        elif walk.leaf:
            lines.append(Content.assemble((f"◆ {walk.leaf.name(lang)}", "bold $accent")))
        return Content("\n").join(lines)

    def _line(self, walk: Walk, lang: str) -> Content:
        """The end of the path, as much of it as there is room for."""
        here = Content.assemble((f"{HERE} {walk.at}" if walk.question else "◆", "bold $accent"))
        room = self.content_size.width - here.cell_length - 2
        line = here
        for answer in reversed(walk.answers):
            sign = mark(answer)
            label = walk.tree.questions[answer.question].outcomes[answer.outcome].label(lang)
            step = Content.assemble(
                (sign, mark_style(sign)),
                (f" {answer.question} ", "$foreground-muted"),
                (label, "bold"),
                (" › ", "$foreground-muted"),
            )
            room -= step.cell_length
            if room < 0:
                return Content.assemble(("… ", "$foreground-muted")) + line
            line = step + line
        return line


def _ahead(walk: Walk, lang: str) -> str:
    """Where the question at hand may lead, without its answer."""
    goals = dict.fromkeys(
        say("walk.an_end", lang) if goal in walk.tree.leaves else goal for _, goal in walk.tree.nexts(walk.at)
    )
    return say("walk.or", lang).join(goals)
