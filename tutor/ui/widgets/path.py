"""Path: the questions behind us, the one at hand, and where its answers lead."""

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content

from tutor.saying import answer_label, folded, of_taken
from tutor.saying.later import of_change
from tutor.tree import Tree
from tutor.ui.typed import InTutor
from tutor.ui.widgets.fitted import Fitted
from tutor.ui.widgets.settled import Scrolling
from tutor.walk import Answer, Change, Place, Stage, verdict
from tutor.words import say

HERE, AHEAD, CHANGED = "▸", "┆", "↻"
RIGHT, WRONG, UNTESTED, SEEN_BEFORE, CLOSE = "✓", "✗", "·", "≈", "±"


def mark(answer: Answer) -> str:
    """How the learner's prediction fared against the answer taken."""
    if answer.prediction is None or answer.by != "log":
        return UNTESTED
    if answer.prediction.seen_before:
        return SEEN_BEFORE
    if answer.hit:
        return RIGHT
    return CLOSE if answer.close else WRONG


def mark_style(sign: str) -> str:
    """The style that goes with the mark; the mark itself carries the meaning."""
    return {RIGHT: "bold $success", WRONG: "bold $error"}.get(sign, "$foreground-muted")


INDENT = " " * 6
"""Before an answer that stands below its question: it begins under the question's title."""

SIGNS = {
    "healthy": (RIGHT, "$foreground-muted"),
    "undecided": (UNTESTED, "$foreground-muted"),
    "flaw": ("!", "bold $accent"),
}
"""Mark and style of a tree before the one walked, by what it came to."""


class Path(InTutor, Scrolling):
    """A column where there is room, else one line."""

    can_focus = False

    def compose(self) -> ComposeResult:
        """The column and the line; the stylesheet shows one of them."""
        yield Fitted(id="path-column")
        yield Fitted(id="path-line")

    def show(
        self,
        tree: Tree,
        answers: Sequence[Answer],
        at: str,
        lang: str,
        before: Sequence[Stage] = (),
        changed: Mapping[Place, Change] | None = None,
    ) -> None:
        """Draw the path over `answers` to `at`, a question or a leaf of `tree`, under the trees `before`.

        Args:
            tree: that is walked.
            answers: behind us.
            at: where we stand.
            lang: of the words.
            before: the trees before this one, walked by the log.
            changed: the answers that the log no longer gives.
        """
        self.border_title = say("walk.path", lang)
        column, line = self.query(Fitted)
        column.fit(partial(self._column, tree, answers, at, lang, before, changed or {}))
        line.fit(partial(self._line, tree, answers, at, lang, before, changed or {}))
        self._to_the_end()

    def on_resize(self) -> None:
        """The end of the path is where we stand."""
        self._to_the_end()

    def _to_the_end(self) -> None:
        self.call_after_refresh(self.scroll_end, animate=False)

    def _column(
        self,
        tree: Tree,
        answers: Sequence[Answer],
        at: str,
        lang: str,
        before: Sequence[Stage],
        changed: Mapping[Place, Change],
        width: int,
    ) -> Content:
        lines = [_folded(stage, lang, named=at in tree.ends) for stage in before]
        if lines:  # the key that opens it, with what it does
            key = ("  t ", "$foreground-muted bold")
            # Over another walk the key leads back to that: nobody is told to walk what they come from.
            does = "keys.walk_below" if self.app.over_another_walk else "walk.walk_before"
            lines.append(Content.assemble(key, (say(does, lang), "$foreground-muted")))
        for answer in answers:
            question = tree.questions[answer.question]
            sign = mark(answer)
            step = Content.assemble(
                (f"{sign} ", mark_style(sign)),
                (f"{answer.question} ", "$foreground-muted"),
                (question.title(lang), ""),
            )
            lines.append(_beside(step, of_taken(answer, tree, lang), width))
            if one := changed.get((answer.question, answer.focus)):
                said = of_change(one, question, lang)
                lines.append(Content.assemble((f"  {CHANGED} {said}", "bold $accent")))
        if at in tree.ends:
            lines.append(Content.assemble((f"◆ {tree.ends[at].name(lang)}", "bold $accent")))
            return Content("\n").join(lines)
        title = tree.questions[at].title(lang)
        lines.append(Content.assemble((f"{HERE} {at} ", "bold $accent"), (title, "bold")))
        lines.append(Content.assemble((f"{AHEAD} {_ahead(tree, at, lang)}", "$foreground-muted")))
        return Content("\n").join(lines)

    def _line(
        self,
        tree: Tree,
        answers: Sequence[Answer],
        at: str,
        lang: str,
        before: Sequence[Stage],
        changed: Mapping[Place, Change],
        width: int,
    ) -> Content:
        """The end of the path, as much of it as there is room for, behind the trees before in which the log
        found a flaw.
        """
        here = Content.assemble(("◆" if at in tree.ends else f"{HERE} {at}", "bold $accent"))
        long, short = (_flawed(before, told) for told in (f" {say('walk.flaw_before', lang)}", ""))
        room = width - here.cell_length - short.cell_length - 2
        line = here
        for answer in reversed(answers):
            sign = mark(answer)
            question = tree.questions[answer.question]
            one = changed.get((answer.question, answer.focus))
            step = Content.assemble(
                (sign, mark_style(sign)),
                (f" {answer.question} ", "$foreground-muted"),
                (of_taken(answer, tree, lang), "bold"),
                (f" {CHANGED} {answer_label(question, one.now, lang)}" if one else "", "bold $accent"),
                (" › ", "$foreground-muted"),
            )
            room -= step.cell_length
            if room < 0:
                return short + Content.assemble(("… ", "$foreground-muted")) + line
            line = step + line
        return (long if long.cell_length - short.cell_length <= room else short) + line


def _beside(step: Content, taken: str, width: int) -> Content:
    """A question behind us with its answer at the right edge or, where that doesn't fit, indented below."""
    gap = width - step.cell_length - cell_len(taken)
    if gap > 0:
        return Content.assemble(step, " " * gap, (taken, "bold"))
    below = textwrap.wrap(taken, max(1, width - len(INDENT)), break_long_words=False)
    return Content.assemble(step, *((f"\n{INDENT}{part}", "bold") for part in below))


def _folded(stage: Stage, lang: str, *, named: bool) -> Content:
    """A tree that the log has walked, in a line: what it found, or how much of it the log could answer.

    Before the walk's own end a flaw isn't named: it may be the very one that is looked for.
    """
    tree = stage.walk.tree.tree
    told = folded(stage, lang) if named or not stage.flawed else say("walk.flaw_before", lang)
    sign, style = SIGNS[verdict(stage.walk)]
    return Content.assemble((f"{sign} ", style), (f"{tree} ", "$foreground-muted"), (told, style))


def _flawed(before: Sequence[Stage], told: str) -> Content:
    """The trees before in which the log found a flaw, each with what is `told` of it."""
    sign, style = SIGNS["flaw"]
    parts = [
        Content.assemble(
            (f"{sign} ", style),
            (stage.walk.tree.tree, "$foreground-muted"),
            (told, style),
            (" › ", "$foreground-muted"),
        )
        for stage in before
        if stage.flawed
    ]
    return Content().join(parts)


def _ahead(tree: Tree, at: str, lang: str) -> str:
    """Where the question at hand may lead, without its answer."""
    goals = dict.fromkeys(goal for _, goal in tree.nexts(at))
    onward = [goal for goal in goals if goal not in tree.leaves]
    *others, last = onward if len(onward) == len(goals) else [*onward, say("walk.an_end", lang)]
    return say("walk.or", lang).join(filter(None, (", ".join(others), last)))
