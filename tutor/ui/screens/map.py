"""MapScreen: the tree as branches: every question, the bounds of its answers, and where each leads."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region

from tutor.tree import Question, Tree
from tutor.tree.branches import DOWN, GAP, LAST, Twig, branches
from tutor.ui import bindings
from tutor.ui.screens.page import Page
from tutor.ui.widgets.lined import Lined
from tutor.ui.widgets.path import HERE, mark, mark_style
from tutor.ui.widgets.title import Title, placed
from tutor.walk import Answer, Walk
from tutor.words import say

AHEAD, EARNED, DARK = "○", "◆", "◇"
NAME = 20
"""Cells that the name of a leaf may take."""


class MapScreen(Page):
    """The tree from its first question down; with a walk, its path. The leaves that the learner has walked to
    are lit.
    """

    BINDINGS = bindings.CLOSE
    HELP_NOTES = ("map",)
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, tree: Tree, walk: Walk | None = None):
        super().__init__()
        self._tree, self.walk = tree, walk
        self.earned: frozenset[str] = frozenset()
        self._blocks = list(_blocks(tree))

    def body(self) -> ComposeResult:
        """The outline, in one widget: one for each question would take four times as long to open."""
        run = self.walk.run if self.walk else None
        name = self.app.called(run.path, run.name) if run else ""
        yield Title(name, "", placed(self._tree, self.app.lang))
        with VerticalScroll(classes="pane", id="map"):
            yield Lined()

    def on_mount(self) -> None:
        """Look up which leaves are earned."""
        self._look_up()

    @work(exclusive=True)
    async def _look_up(self) -> None:
        earned = await self.app.files.notes(partial(_earned, self.app.learner, self._tree))
        if earned != self.earned and self.stands:
            self.earned = earned
            self.relabel()

    def relabel(self) -> None:
        """Draw in the app's language; bring the question at hand into sight."""
        self.query_one("#map").border_title = Content(self.say("map.title"))
        self.query_one(Lined).fit(self._outline)
        if self.walk:
            self.call_after_refresh(self._to, self.walk.at)

    def _to(self, question: str) -> None:
        """Bring a question into sight; a leaf is none."""
        at = [twigs[0].question for twigs in self._blocks]
        if question not in at:
            return
        if place := self.query_one(Lined).place(at.index(question) + 1):  # after what the tree is about
            above, block = place
            self.query_one("#map").scroll_to_region(Region(0, above, 1, block), animate=False)

    def _outline(self, width: int) -> Iterator[list[Content]]:
        """What the tree is about, then a block for each question, line by line."""
        lang = self.app.lang
        leaves = {"earned": len(self.earned), "count": len(self._tree.leaves)}
        about, section = (self._tree.about(lang), self.say("map.leaves", **leaves)), ""
        yield [Content.styled(line, "$foreground-muted") for line in about]
        for twigs in self._blocks:
            said = self._tree.questions[twigs[0].question].section(lang)
            heading = said if said != section else ""
            section = said
            yield list(self._lines(twigs, heading, width))

    def _answer(self, question: str) -> Answer | None:
        answers = self.walk.answers if self.walk else ()
        return next((answer for answer in answers if answer.question == question), None)

    def _lines(self, twigs: Sequence[Twig], heading: str, width: int) -> Iterator[Content]:
        top, *ways = twigs
        if heading:
            yield Content.assemble((top.rails, "$rule"))
            yield Content.assemble((top.rails, "$rule"), (heading, "bold $primary"))
        yield self._question(top)
        for way in ways:
            yield from self._way(way, width)

    def _question(self, twig: Twig) -> Content:
        question, answer = self._tree.questions[twig.question], self._answer(twig.question)
        here = self.walk is not None and twig.question == self.walk.at
        sign = HERE if here else mark(answer) if answer else AHEAD
        style = "bold $accent" if here else mark_style(sign)
        return Content.assemble(
            (twig.rails, "$rule"),
            (f"{sign} ", style),
            (f"{twig.question}  ", "bold $accent" if here else "$foreground-muted"),
            (question.title(self.app.lang), "bold" if here or answer or not self.walk else ""),
            (f"   {self.say('map.here')}" if here else "", "$accent"),
        )

    def _way(self, twig: Twig, width: int) -> Iterator[Content]:
        """The answers of a way, each with its bound; in one line where they fit it and have none."""
        answer, below = self._answer(twig.question), _below(twig.rails)
        rows = self._answers(twig, width - len(twig.rails) - NAME)
        for number, (names, label, bound) in enumerate(rows):
            taken = answer is not None and answer.outcome in names
            style = "bold" if taken else ""
            line = Content.assemble((below if number else twig.rails, "$rule"), (label, style))
            line += Content.assemble(*self._goal(twig, style))
            if taken:
                line += Content.styled(f"   {self.say(self._taken(twig))}", "$success")
            yield from _beside(line, bound, below, width)

    def _answers(self, twig: Twig, room: int) -> Iterator[tuple[Sequence[str], str, str]]:
        """The outcomes that share a line, their labels, and their bound."""
        question, lang = self._tree.questions[twig.question], self.app.lang
        labels = {name: question.outcomes[name].label(lang) for name in twig.outcomes}
        bounds = {name: "; ".join(_bounds(question, name, lang)) for name in twig.outcomes}
        joined = " · ".join(labels.values())
        if not any(bounds.values()) and len(joined) < room:
            yield twig.outcomes, joined, ""
            return
        for name, label in labels.items():
            yield (name,), label, bounds[name]

    def _taken(self, twig: Twig) -> str:
        """What is said of the answer taken: that it led here, where it led to the leaf at hand."""
        ended = self.walk is not None and self.walk.at == twig.goal and twig.goal in self._tree.leaves
        return "map.here" if ended else "map.taken"

    def _goal(self, twig: Twig, style: str) -> Iterator[tuple[str, str]]:
        """What an answer leads to; nothing where that stands below."""
        if twig.goal in self._tree.leaves:
            earned = twig.goal in self.earned
            yield " → ", "$foreground-muted"
            name = self._tree.leaves[twig.goal].name(self.app.lang)
            yield f"{EARNED if earned else DARK} {name}", "bold $accent" if earned else style or "$primary"
        elif twig.on == "elsewhere":
            yield f" → {twig.goal}", style or "$foreground-muted"
        else:
            yield " ↓", "$foreground-muted"


def _blocks(tree: Tree) -> Iterator[list[Twig]]:
    """The lines of the drawing, those of a question up to the next one together."""
    block: list[Twig] = []
    for twig in branches(tree):
        if not twig.outcomes and block:
            yield block
            block = []
        block.append(twig)
    yield block


def _below(rails: str) -> str:
    """The rails of a line that goes on with the one above."""
    own = GAP if rails.endswith(LAST) else DOWN
    return rails[: -len(own)] + own


def _beside(line: Content, bound: str, below: str, width: int) -> Iterator[Content]:
    """The line with its bound; where that doesn't fit, the bound stands in lines of its own."""
    beside = Content.assemble(line, (f"   {bound}" if bound else "", "$foreground-muted"))
    if beside.cell_length <= width:
        yield beside
        return
    yield line
    for part in textwrap.wrap(bound, max(NAME, width - len(below) - 2)):
        yield Content.assemble((below, "$rule"), (f"  {part}", "$foreground-muted"))


def _bounds(question: Question, outcome: str, lang: str) -> Iterator[str]:
    """What the rules of a question compare their measurements with, where they then give this answer."""
    for rule in question.rules:
        with suppress(KeyError):  # it gives other answers, or has no number
            yield say(f"bounds.{rule.detector}.{outcome}", lang, **rule.plain_numbers)


def _earned(learner: str, tree: Tree) -> frozenset[str]:
    """The leaves that the learner has walked to."""
    from tutor.notebook import Notebook
    from tutor.notebook.scores import finished

    walks = finished(Notebook(learner).drafts())
    return frozenset(walk.leaf for walk in walks if walk.tree == tree.tree and walk.leaf in tree.leaves)
