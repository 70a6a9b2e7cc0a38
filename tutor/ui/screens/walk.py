"""WalkScreen: one question after another; the learner predicts, then the log answers."""

from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work

from tutor import tree as trees
from tutor import walk as walks
from tutor.run import PANELS, BadRunError, Run
from tutor.saying import of_end, of_sources
from tutor.tree import Tree
from tutor.ui import bindings
from tutor.ui.firstpaint import after_first_paint
from tutor.ui.looks import steps_to_pick
from tutor.ui.news import Grown
from tutor.ui.screens.walkbefore import BeforeWalk
from tutor.ui.screens.walkfacts import FactsWalk
from tutor.ui.widgets.answer import Answer
from tutor.ui.widgets.evidence import Evidence
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.remarks import Remarks, about
from tutor.walk import UNSURE, AtLeaf, AtQuestion, Stage, Walk
from tutor.words import BadFileError, SaidError, plain

if TYPE_CHECKING:
    from tutor.ui.keeper import Keeper

ANYWHERE = ("language", "help", "quit", "command_palette")
"""What works before the log is read."""

PAINTED = 0.1
"""Seconds after which what the log says is on the screen: a rule at work on a long log would hold that up."""


class WalkScreen(FactsWalk, BeforeWalk):
    """A walk over a run. Holds the one reference to where it stands.

    A run given by its path is read once the first question is on the screen: reading a log takes longer
    than drawing it. Until then, and until the notebook has said where the walk was left, nothing can be
    answered.
    """

    BINDINGS = bindings.WALK
    HELP_NOTES = ("walk", "mouse")

    def walks(self, tree: Tree) -> bool:
        """Whether this is a walk over that tree."""
        return self._tree.tree == tree.tree

    @cached_property
    def keeper(self) -> "Keeper":
        """What keeps this walk."""
        from tutor.ui.keeper import Keeper

        return Keeper(self.app.learner, self.app.files, self._cannot_keep)

    def on_mount(self) -> None:
        """Read the run after the first paint, and take up the walk where it was left."""
        after_first_paint(self, self._begin)

    def on_grown(self, event: Grown) -> None:
        """Begin with the first rows of a run that is followed. Textual calls the page's own beside this."""
        if self._walk is None:
            self._begin()

    @work(exclusive=True, group="begin")
    async def _begin(self) -> None:
        if self._follows:
            news = self.app.news
            if news is None or news.state.run is None:
                return  # until its first rows come
            self._subject = news.state.run
        try:
            run = await self.app.files.read(partial(_read, self._subject, self._tree))
        except (BadRunError, BadFileError) as error:
            self.app.fail(self, error)
            return
        fresh = walks.begin(run, self._tree, self._start)
        kept = await self.keeper.kept(fresh)
        if kept and self._start not in (None, kept.start):
            fresh, kept = walks.again(kept, self._start), None
        if not self.stands:  # the app was left meanwhile
            return
        run = (kept or fresh).run  # with the facts that were given before
        self.query_one(Plot).subject = run
        self.query_one(Remarks).about = run
        self.move_to(kept or fresh, keep=False)
        if kept and (kept.answers or kept.prediction or kept.hints):
            self.notify(self.say("walk.resumed"), markup=False)
        self.app.greet(run)
        self.app.settled()
        if self._tree.after:
            self.walk_before(run)

    @property
    def _follows(self) -> bool:
        """Whether the run is the one that is followed, and its log is read there."""
        growing = self.app.growing
        return growing is not None and self._subject == growing.path

    def _cannot_keep(self, error: SaidError) -> None:
        why = self.say("walk.not_kept", why=plain(error.says(self.app.lang)))
        self.notify(why, severity="warning", timeout=12, markup=False)

    # Where we stand

    def move_to(self, walk: Walk, *, keep: bool = True) -> None:
        """Stand at `walk` and draw it."""
        moved = self._walk is None or walk.at != self._walk.at
        self._walk = walk
        self.seen = self._looks.at(walk) if isinstance(walk, AtQuestion) and walk.prediction else None
        self.then = None
        if keep:
            self.keeper.keep(walk)
        if moved:
            self.query_one(Answer).forget()
            self.query_one(Plot).cursor = None
            self._why = False
        if isinstance(walk, AtLeaf):
            self.app.open_leaf(walk, self.keeper, self._left_leaf)
            return
        self.relabel()
        self.draw(*self.opening(moved=moved))
        if not (self.seen and self.seen.answers):
            self.call_after_refresh(self._look_ahead, walk)
        elif isinstance(ahead := walks.go_on(walk, self.seen), AtQuestion):
            self.set_timer(PAINTED, partial(self._look_ahead, ahead))

    @work(exclusive=True, group="look", description="look ahead")  # else Textual puts the tree into words
    async def _look_ahead(self, walk: AtQuestion) -> None:
        """Look at a long log while the learner reads the question, then draw the bound; or while the learner
        reads the evidence before it.
        """
        if self._looks.quick(walk):
            return
        await self.app.files.read(partial(self._looks.at, walk))
        waits = isinstance(self._walk, AtQuestion) and self._walk.at == walk.at and self.seen is None
        if waits and self.stands:
            self.show_panel(self.query_one(Plot).panel)

    def _left_leaf(self, wish: str | None) -> None:
        if wish == "again":
            self.begin_again()
        elif wish == "leave":
            self.action_leave()
        else:
            self.move_to(walks.back(self.walk))

    # Keys

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        walk, seen = self._walk, self.seen
        if action == "leave":
            return bool(parameters) == self.app.over_another_walk
        if not self.is_mounted or walk is None:
            return action in ANYWHERE
        if isinstance(walk, AtLeaf):
            return action in ("back", "again", "map")
        choosing = seen is None or not seen.answers
        moved = bool(walk.answers or walk.prediction)
        works = {
            "letter": lambda: choosing and parameters[0] in self.query_one(Answer).letters(),
            "choose": lambda: choosing,
            "unsure": lambda: choosing,
            "surer": lambda: seen is None,
            "commit": lambda: seen is None,
            "go_on": lambda: seen is not None,
            "read": lambda: seen is not None and self.query_one(Evidence).max_scroll_y > 0,
            "scroll_hints": lambda: seen is None and self._panes.hints.max_scroll_y > 0,
            "hint": lambda: seen is None and walk.hints < len(walk.question.hints),
            "others": lambda: len(steps_to_pick(walk, seen, self._looks)) > 1,
            "why": lambda: not self._room_for_why,
            "fact": lambda: bool(self.lacking),
            "no_fact": lambda: not self.lacking,
            "pass_over": lambda: walks.unrecorded(walk),
            "before": lambda: bool(self._before) and not self.app.over_another_walk,
            "back": lambda: moved,
            "again": lambda: moved,
        }
        return works[action]() if action in works else super().check_action(action, parameters)

    def action_letter(self, letter: str) -> None:
        """Choose the outcome of that letter."""
        answer = self.query_one(Answer)
        answer.choose(answer.letters()[letter])

    def action_choose(self, by: int) -> None:
        """Choose the next outcome."""
        self.query_one(Answer).move(by)

    def action_unsure(self) -> None:
        """Choose that the log can't tell or, once it has said so, that the learner doesn't know either."""
        self.query_one(Answer).choose(UNSURE)

    def action_surer(self, by: int) -> None:
        """Be surer, or less so."""
        self.query_one(Answer).action_surer(by)

    def action_commit(self) -> None:
        """Commit to the prediction: now the log speaks."""
        answer = self.query_one(Answer)
        if answer.chosen is None:
            answer.remind()
            return
        walk = walks.predict(self.asking, answer.chosen, answer.confidence)
        self.move_to(walk)
        self.keeper.record(walk, self._looks.at(walk))

    def action_go_on(self) -> None:
        """On to where the log says or, where it can't tell, where the learner says."""
        answer, seen = self.query_one(Answer), self._looks.at(self.asking)
        if not seen.answers and answer.chosen is None:
            answer.remind()
            return
        if not seen.answers and answer.chosen == UNSURE and not self.asking.question.assume:
            self._tell_known()
            return
        if self.then is not None:
            seen = replace(seen, close=True)  # a miss by what the log said later doesn't count
        self.move_to(walks.go_on(self.asking, seen, None if seen.answers else answer.chosen))

    def action_pass_over(self) -> None:
        """On over the questions of which the run recorded nothing."""
        self.move_to(walks.pass_over(self.asking))

    @work(exclusive=True, group="known")
    async def _tell_known(self) -> None:
        """Where neither the log nor the learner knows and nothing may be assumed: what shows until here that
        something is wrong, and how to find out. The walk stays, or ends undecided.
        """
        from tutor.ui.screens.known import KnownScreen

        known = await self.app.files.read(partial(_known, self.asking, self.app.lang))
        if self.stands:
            self.app.push_screen(KnownScreen("walk.known", known), self._end_open)

    def _end_open(self, end: bool | None) -> None:
        if end and isinstance(self._walk, AtQuestion):
            self.move_to(walks.leave_open(self._walk))

    def action_hint(self) -> None:
        """One more hint."""
        self._walk = walk = walks.reveal(self.asking)
        self.keeper.keep(walk)
        self._panes.show_hints(walk)
        self.refresh_bindings()

    def action_scroll_hints(self, lines: int) -> None:
        """Scroll the hints, where they have less room than they need."""
        self._panes.hints.scroll_relative(y=lines, animate=False)

    def action_read(self, lines: int) -> None:
        """Scroll what the log says."""
        self.query_one(Evidence).scroll_relative(y=lines, animate=False)

    def action_why(self) -> None:
        """Show or hide what is at stake."""
        self._why = not self._why
        self._show_question()

    def action_remarks(self) -> None:
        """All that the reader passed over in this log, and how the run was configured; where the numbers come
        from by which the log has answered.
        """
        from tutor.ui.screens.note import NoteScreen

        lines = about(self.walk.run, self.app.lang)
        if self.seen and (cited := of_sources(self.asking.question, self.seen, self.app.lang)):
            lines += [self.say("walk.sources", question=self.asking.at), *cited]
        self.app.push_screen(NoteScreen("walk.remarks", lines))

    def action_back(self) -> None:
        """Undo the prediction or the last answer."""
        self.move_to(walks.back(self.walk))

    def action_again(self) -> None:
        """Start over."""
        self.start_over(self.begin_again)

    def begin_again(self) -> None:
        """The next attempt, from where this one began."""
        self.query_one(Answer).forget()
        self.move_to(walks.again(self.walk))

    def action_panel(self, number: int) -> None:
        """Show a panel; asked for again, show it in full size."""
        if not self.begun:  # a click may come before the log is read
            return
        panel = PANELS[number - 1]
        if self.query_one(Plot).panel == panel:
            self.action_full()
        else:
            self.show_panel(panel)

    def action_full(self) -> None:
        """The panel in full size."""
        from tutor.ui.screens.panel import PanelScreen

        plot = self.query_one(Plot)
        shown = plot.panel, plot.mark, self.levels, plot.view, plot.cursor
        self.app.push_screen(PanelScreen(self.walk.run, *shown, self.ruling, self.asked), plot.point)

    def action_others(self) -> None:
        """Take up another step."""
        from tutor.ui.screens.pick import PickScreen

        loss = partial(self.walk.run.value, "loss")
        rows = [
            (str(step), self.say("walk.step_loss", step=step, loss=loss(step)))
            for step in steps_to_pick(self.asking, self.seen, self._looks)
        ]
        self.app.push_screen(PickScreen("walk.pick_step", rows), self._picked)

    def _picked(self, step: str | None) -> None:
        if step is None:
            return
        walk = self.asking
        if walk.question.focus and self.seen:
            walk = walks.go_on(walk, self.seen)
        self.move_to(walks.pick(walk, int(step)))

    def action_leave(self, _below: bool = False) -> None:
        """Leave, to the walk below where there is one; this one stays where it is."""
        self.app.leave(self)

    def on_answer_chosen(self) -> None:
        """What works may have changed."""
        self.refresh_bindings()


def _read(subject: Run | Path, tree: Tree) -> Run:
    """The run, and the tree checked whole where it wasn't: a shipped one is found without.

    Raises:
        BadRunError: the run can't be read.
        BadFileError: the tree is faulty.
    """
    if isinstance(subject, Run):
        return subject
    from tutor.readers import read

    run = read(subject)
    trees.check(tree)
    return run


def _known(walk: AtQuestion, lang: str) -> list[str]:
    """What a walk that can't go on has found, and what would settle it: lines that are safe to draw."""
    lines = of_end([Stage(walk, walks.looked_back(walk))], lang)
    return [f"{line.label} {line.text}".strip() for line in lines]
