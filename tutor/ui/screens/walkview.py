"""WalkView: what a walk shows: its panes in the app's language, and what its panel draws of the rules."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from tutor.run import Run
from tutor.tree import Tree
from tutor.ui import looks
from tutor.ui.looks import Looks, bounds
from tutor.ui.screens.growing import GrowingWalk
from tutor.ui.screens.page import MIDDLE, TALL, PlotPage
from tutor.ui.widgets.live import Live
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.remarks import Remarks
from tutor.ui.widgets.title import Title
from tutor.ui.widgets.walkpanes import WalkPanes
from tutor.walk import AtLeaf, AtQuestion, Change, Look, Place, Stage, Walk
from tutor.words import number, plain

if TYPE_CHECKING:
    from tutor.plots import Ruling


class WalkView(PlotPage, GrowingWalk[Walk]):
    """A walk over a run as it is seen; what its keys do is in `walk.py`.

    Args:
        subject: the run, or where it lies.
        tree: the tree to walk.
        start: where to begin, for who comes from a leaf of another tree: a walk that was left is taken up
            only if it began there. None takes up any, or begins at the tree's first question.

    Attributes:
        begun: whether the log is read and questions can be answered.
        seen: what the log says of the question at hand, from the moment the learner has committed. While its
            answer stays, rows that come leave the words as they are: numbers that run can't be read.
        then: what it said at that moment, where rows that came, or facts that were given, have changed the
            answer since.
    """

    def __init__(self, subject: Run | Path, tree: Tree, start: Place | None = None):
        super().__init__()
        self._subject, self._tree, self._start = subject, tree, start
        self.seen: Look | None = None
        self.then: Look | None = None
        self._given: Sequence[str] = ()
        self._why = False
        self._looks = Looks()
        self._before: Sequence[Stage] = ()

    def body(self) -> ComposeResult:
        """The remarks on the log above the panes."""
        yield Title(self._called)
        yield Live()
        yield Remarks()
        yield WalkPanes(self._tree, self._start[0] if self._start else self._tree.start)

    @property
    def _called(self) -> str:
        run = self._walk.run if self._walk else self._subject
        return self.app.called(run.path if isinstance(run, Run) else run, run.name)

    @property
    def begun(self) -> bool:
        """Whether there is a walk."""
        return self._walk is not None

    @property
    def asking(self) -> AtQuestion:
        """The walk, at a question: what its keys work on."""
        assert isinstance(self._walk, AtQuestion), "there is no question"
        return self._walk

    def opening(self, *, moved: bool) -> tuple[str, tuple[int, int] | None]:
        """Panel and view to open: what the question asks about, then what its answer rests on."""
        walk = self.asking
        if self.seen and self.seen.answers:
            return looks.panel_of(walk.question, self.seen), looks.view_of(walk, self.seen, self.mark)
        return looks.first_panel(walk) if moved else self.query_one(Plot).panel, looks.opening(walk)

    @property
    def _room_for_why(self) -> bool:
        """Whether what is at stake can stand under the question: what the log says needs the room first."""
        return self.app.size.height >= (MIDDLE if self.seen is None else TALL)

    def on_resize(self) -> None:
        """What is at stake stands under the question where there is room."""
        self._show_question()

    @property
    def _panes(self) -> WalkPanes:
        return self.query_one(WalkPanes)

    @property
    def _says_why(self) -> bool:
        return self._why or self._room_for_why

    def _show_question(self) -> None:
        if not isinstance(self._walk, AtLeaf):
            self._panes.show_question(why=self._says_why)

    def relabel(self) -> None:
        """Draw every pane in the app's language."""
        walk, lang = self._walk, self.app.lang
        title = self.query_one(Title)
        title.left = self._called
        title.describe(walk.run if walk else None, self._tree, lang)
        self.query_one(Remarks).show(lang, first=not (walk and walk.answers))
        if not isinstance(walk, AtLeaf):
            self._panes.show(
                walk,
                self.seen,
                why=self._says_why,
                before=self._before,
                changed=self.changed,
                then=self.then,
                given=self._given,
            )
        self.tell_news()

    def tell_news(self) -> None:
        """How the run stands that is followed: why nothing is shown too, before its first row."""
        super().tell_news()
        if self._walk is None:
            self.query_one(Live).show(self.app.news, self._tree, (), self.app.lang)

    def grow(self, walk: Walk, looks: Looks, changed: Mapping[Place, Change]) -> None:
        """Draw the rows that came. What the learner has chosen, the cursor and the zoom stay."""
        told, before = changed != self.changed, self.walk.run
        self._walk, self.changed, self._looks = walk, changed, looks
        self.query_one(Remarks).about = walk.run
        self.query_one(Title).describe(walk.run, self._tree, self.app.lang)
        plot = self.query_one(Plot)
        if isinstance(walk, AtLeaf):
            plot.subject = walk.run
            return
        self._hear(walk, _given_since(before, walk.run) if walk.run.frame is before.frame else ())
        plot.grow(walk.run, self.mark, self.levels.get(plot.panel), self.ruling(plot.panel))
        if told:
            self._panes.show_path(self._before, changed)

    def _hear(self, walk: AtQuestion, given: Sequence[str]) -> None:
        """Draw what the log says now, where its answer is another, or where it still can't tell; `given` are
        the facts that alone are new.
        """
        if self.seen is None:
            return
        now, then = self._looks.at(walk), self.then or self.seen
        if now.outcome == self.seen.outcome and now.answers:
            return
        self.seen, self.then = now, None if now.outcome == then.outcome else then
        self._given = given
        self._panes.show_said(walk, self.seen, self.then, given)
        self.refresh_bindings()

    @property
    def mark(self) -> int | None:
        """The step under discussion; one that the question is to find, once the learner has committed."""
        found = self.seen.finding.step if self.seen and self.asking.question.focus else None
        return self.asking.focus if found is None else found

    @property
    def levels(self) -> Mapping[str, float | None]:
        """The rules' bounds by panel, unless a bound would give the answer away."""
        question = self.asking.question
        if self.seen is None and (question.focus or question.checks or not self._looks.quick(self.asking)):
            return {}
        return bounds(question, self.seen or self._looks.at(self.asking))

    def asked(self, panel: str) -> str:
        """The signal that the question asks about, on its panel."""
        return looks.asked(self.asking, panel)

    def ruling(self, panel: str) -> "Ruling | None":
        """What the rules showed on `panel`, once the learner has committed."""
        return looks.ruling(self.asking.question, self.seen, panel) if self.seen else None


def _given_since(before: Run, now: Run) -> Sequence[str]:
    """The facts of the configuration that were given since, as they are typed."""
    new = (name for name, fact in now.origins.items() if before.origins.get(name) != fact)
    return [f"{name}={plain(number(now.origins[name].value))}" for name in new]
