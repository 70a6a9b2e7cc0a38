"""WalkPanes: what a walk shows: path and hints; the question, the panel, the answer and the evidence."""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from tutor.tree import Question, Tree
from tutor.ui.typed import InTutor
from tutor.ui.widgets.answer import Answer
from tutor.ui.widgets.evidence import Evidence
from tutor.ui.widgets.hints import Hints
from tutor.ui.widgets.path import Path
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.question import QuestionPane
from tutor.ui.widgets.tabs import PanelTabs
from tutor.walk import AtQuestion, Change, Look, Place, Stage


class WalkPanes(InTutor, Horizontal):
    """The panes of a walk over `tree`. Until the log is read they show the question `first`."""

    def __init__(self, tree: Tree, first: str):
        super().__init__(id="walk")
        self._tree, self._first = tree, first
        self._walk: AtQuestion | None = None

    def compose(self) -> ComposeResult:
        """Path and hints on the left; question, picture, answer and evidence on the right."""
        with Vertical(id="aside"):
            yield Path()
            yield Hints(classes="beside")
        with Vertical(id="main"):
            yield QuestionPane()
            yield PanelTabs()
            yield Plot(None)
            yield Evidence()
            yield Answer()
            yield Hints(classes="below")

    @property
    def hints(self) -> Hints:
        """The pane of hints that is shown: beside the panes, or below them where the terminal is narrow."""
        return next((pane for pane in self.query(Hints) if pane.display), self.query(Hints).first())

    @property
    def _at(self) -> str:
        return self._walk.at if self._walk else self._first

    @property
    def _question(self) -> Question:
        return self._tree.questions[self._at]

    def show(
        self,
        walk: AtQuestion | None,
        seen: Look | None,
        *,
        why: bool,
        before: Sequence[Stage],
        changed: Mapping[Place, Change],
        then: Look | None,
        given: Sequence[str],
    ) -> None:
        """Draw where `walk` stands and, once the learner has committed, what the log says.

        Args:
            walk: None before the log is read.
            seen: what the log says of the question at hand; None until the learner has committed.
            why: whether to say what is at stake.
            before: the trees before this one, walked by the log.
            changed: the answers that the log no longer gives.
            then: what the log said when the learner committed, where that was something else.
            given: the facts that the learner gave since.
        """
        self._walk = walk
        self.show_question(why=why)
        self.show_path(before, changed)
        self.show_hints(walk)
        self.show_said(walk, seen, then, given)

    def show_path(self, before: Sequence[Stage], changed: Mapping[Place, Change]) -> None:
        """Draw the answers behind us, and which of them the log no longer gives."""
        answers = self._walk.answers if self._walk else ()
        self.query_one(Path).show(self._tree, answers, self._at, self.app.lang, before, changed)

    def show_said(
        self, walk: AtQuestion | None, seen: Look | None, then: Look | None, given: Sequence[str]
    ) -> None:
        """Draw what the log says or, until the learner has committed, what to choose from."""
        lang, answer = self.app.lang, self.query_one(Answer)
        self._walk = walk
        # Not of the screen: a class of its own costs every widget on it a look at the styles.
        self.query(Hints).set_class(seen is not None, "told")
        self.query_one(Plot).set_class(seen is not None and not seen.answers, "by-hand")
        self.query_one(Evidence).display = seen is not None
        if walk is None or walk.prediction is None or seen is None:
            answer.display = True
            answer.ask(walk.offered if walk else self._question.offered, lang)
            return
        self.query_one(Evidence).show(walk, seen, lang, then, given)
        answer.display = not seen.answers  # what was said stands beside what the log says
        if not seen.answers:
            answer.ask_by_hand(walk.by_hand, lang, walk.prediction)

    def show_question(self, *, why: bool) -> None:
        """Draw the question, and what is at stake if `why`."""
        pane = self.query_one(QuestionPane)
        pane.show(self._at, self._question, self.app.lang, why=why, walk=self._walk)

    def show_hints(self, walk: AtQuestion | None) -> None:
        """Draw the hints revealed so far."""
        self._walk = walk
        shown, more = (walk.hints, walk.prediction is None) if walk else (0, True)
        question = self._question
        for hints in self.query(Hints):
            hints.show(question.hints, question.numbers, shown, self.app.lang, more=more)
