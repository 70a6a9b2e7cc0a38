"""WalkScreen: one question after another; the learner predicts, then the log answers."""

import pathlib
from dataclasses import replace
from functools import cached_property

from textual.containers import Horizontal, Vertical

from tutor import tree as trees
from tutor import walk as walks
from tutor.run import PANELS, BadRunError, Run
from tutor.tree import Tree
from tutor.ui import bindings
from tutor.ui.keeper import Keeper
from tutor.ui.screens.page import TALL, PlotPage
from tutor.ui.screens.walkpage import WalkPage
from tutor.ui.widgets.answer import Answer
from tutor.ui.widgets.evidence import Evidence
from tutor.ui.widgets.hints import Hints
from tutor.ui.widgets.path import Path
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.question import QuestionPane
from tutor.ui.widgets.tabs import PanelTabs
from tutor.ui.widgets.title import Title, described, placed
from tutor.walk import UNSURE, Look, Walk
from tutor.words import BadFileError, plain

FIRST_PAINT = 0.03
"""Seconds after the first layout: the terminal has the first question before the log is read."""


class WalkScreen(PlotPage, WalkPage):
    """A walk over a run. Holds the one reference to where it stands.

    A run given by its path is read once the first question is on the screen: reading a log takes longer
    than drawing it. Until then nothing can be answered.

    Attributes:
        walk: where we stand.
        seen: what the log says of the question at hand, from the moment the learner has committed.
    """

    BINDINGS = bindings.WALK
    HELP_NOTES = ("walk", "mouse")

    def __init__(self, subject: Run | pathlib.Path, tree: Tree):
        super().__init__()
        self._path = subject if isinstance(subject, pathlib.Path) else None
        self.walk: Walk = walks.begin(None if self._path else subject, tree)
        self.seen: Look | None = None
        self._why = False
        self._looks: dict[tuple[str, int | None], Look] = {}

    def body(self):
        """Path and hints on the left; question, picture, answer and evidence on the right."""
        run = self.walk.run
        yield Title(self._path.name if self._path else run.name)
        with Horizontal(id="walk"):
            with Vertical(id="aside"):
                yield Path()
                yield Hints(classes="beside")
            with Vertical(id="main"):
                yield QuestionPane()
                yield PanelTabs()
                yield Plot(run)
                yield Evidence()
                yield Answer()
                yield Hints(classes="below")

    @cached_property
    def keeper(self) -> Keeper:
        """What keeps this walk."""
        return Keeper(self.app.learner, self._cannot_keep)

    def on_mount(self) -> None:
        """Read the run after the first paint, and take up the walk where it was left."""
        self.call_after_refresh(self.set_timer, FIRST_PAINT, self._begin)

    def _begin(self) -> None:
        if self._path:
            from tutor.readers import read

            try:
                run = read(self._path)
                trees.check(self.walk.tree)
            except (BadRunError, BadFileError) as error:
                self.app.fail(error)
                return
            self.walk = replace(self.walk, run=run)
            self.query_one(Plot).subject = run
            self.relabel()
        self._resume()
        if self.walk.question:
            self.show_panel(self.walk.question.panel, anew=True)
        self.refresh_bindings()

    def _resume(self) -> None:
        kept = self.keeper.kept(self.walk)
        if kept and (kept.answers or kept.prediction or kept.hints):
            self.stand(kept, keep=False)
            self.notify(self.say("walk.resumed"), markup=False)

    def _cannot_keep(self, error: Exception) -> None:
        why = self.say("walk.not_kept", why=plain(error.says(self.app.lang)))
        self.notify(why, severity="warning", timeout=12, markup=False)

    # Where we stand

    def stand(self, walk: Walk, *, keep: bool = True) -> None:
        """Stand at `walk` and draw it."""
        moved = walk.at != self.walk.at
        self.walk = walk
        self.seen = self._look(walk) if walk.question and walk.prediction else None
        if keep:
            self.keeper.keep(walk)
        if moved:
            self.query_one(Answer).forget()
            self._why = False
        if walk.leaf:
            self._arrive()
            return
        self.relabel()
        self.show_panel(walk.question.panel if moved else self.query_one(Plot).panel, anew=True)
        self.refresh_bindings()

    def _look(self, walk: Walk) -> Look:
        """What the log says at `walk`, asked of the log once: a long one takes its time."""
        key = walk.at, walk.focus
        if key not in self._looks:
            self._looks[key] = walks.look(walk)
        return self._looks[key]

    def _arrive(self) -> None:
        from tutor.ui.screens.leaf import LeafScreen

        self.app.push_screen(LeafScreen(self.walk, self.keeper), self._left_leaf)

    def _left_leaf(self, wish: str | None) -> None:
        if wish == "again":
            self.action_again()
        elif wish == "leave":
            self.action_leave()
        else:
            self.stand(walks.back(self.walk))

    @property
    def _tall(self) -> bool:
        return self.app.size.height >= TALL

    def on_resize(self) -> None:
        """What is at stake stands under the question where there is room."""
        if self.walk.question:
            self.query_one(QuestionPane).show(self.walk, self.app.lang, why=self._why or self._tall)

    def relabel(self) -> None:
        """Draw every pane in the app's language."""
        walk, lang, answer = self.walk, self.app.lang, self.query_one(Answer)
        title = self.query_one(Title)
        title.middle = described(walk.run, lang) if walk.run else ""
        title.place = placed(walk.tree, lang)
        title.refresh()
        if walk.question is None:
            return
        self.query_one(Path).show(walk, lang)
        self.query_one(QuestionPane).show(walk, lang, why=self._why or self._tall)
        for hints in self.query(Hints):
            hints.show(walk, lang)
        self.set_class(self.seen is not None, "told")
        self.set_class(self.seen is not None and not self.seen.answers, "by-hand")
        if self.seen is None:
            answer.display = True
            answer.ask(walk.question, lang)
            return
        self.query_one(Evidence).show(walk, self.seen, lang)
        answer.display = not self.seen.answers  # what was said stands beside what the log says
        if not self.seen.answers:
            answer.ask_by_hand(walk.question, lang, walk.prediction)

    def show_panel(self, panel: str, *, anew: bool = False) -> None:
        """Draw a panel; `anew` also goes back to the view that fits the step under discussion."""
        plot = self.query_one(Plot)
        plot.show(panel, self._mark(), self._levels().get(panel), None if anew else plot.view)
        self.query_one(PanelTabs).show(panel)
        self.refresh_bindings()

    def _mark(self) -> int | None:
        """The step under discussion; one that the question is to find, once the learner has committed."""
        found = self.seen.finding.step if self.seen and self.walk.question.focus else None
        return self.walk.focus if found is None else found

    def _levels(self) -> dict[str, float | None]:
        """The rules' bounds by panel, unless a bound would give the answer away."""
        question = self.walk.question
        if self.seen is None and (question.focus or question.checks):
            return {}
        seen = self.seen or self._look(self.walk)
        if seen.checks:
            return {question.checks[name].panel: finding.level for name, finding in seen.checks.items()}
        return {question.panel: seen.finding.level}

    # Keys

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        if not self.is_mounted or self.walk.run is None:
            return action in ("leave", "language", "help", "quit", "command_palette")
        if self.walk.question is None:
            return action in ("leave", "back", "again", "map")
        answer = self.query_one(Answer)
        choosing = self.seen is None or not self.seen.answers
        works = {
            "letter": lambda: choosing and parameters[0] in answer.letters(),
            "choose": lambda: choosing,
            "unsure": lambda: self.seen is None,
            "surer": lambda: self.seen is None,
            "commit": lambda: self.seen is None,
            "go_on": lambda: self.seen is not None,
            "read": lambda: self.seen is not None and self.query_one(Evidence).max_scroll_y > 0,
            "hint": lambda: self.seen is None and self.walk.hints < len(self.walk.question.hints),
            "others": lambda: len(self._steps_to_pick()) > 1,
            "why": lambda: not self._tall,
            "back": lambda: bool(self.walk.answers or self.walk.prediction),
            "again": lambda: bool(self.walk.answers or self.walk.prediction),
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
        """Choose that the log can't tell."""
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
        walk = walks.predict(self.walk, answer.chosen, answer.confidence)
        self.stand(walk)
        self.keeper.record(walk, self.seen)

    def action_go_on(self) -> None:
        """On to where the log says or, where it can't tell, where the learner says."""
        answer = self.query_one(Answer)
        if not self.seen.answers and answer.chosen is None:
            answer.remind()
            return
        self.stand(walks.go_on(self.walk, self.seen, None if self.seen.answers else answer.chosen))

    def action_hint(self) -> None:
        """One more hint."""
        self.walk = walks.reveal(self.walk)
        self.keeper.keep(self.walk)
        for hints in self.query(Hints):
            hints.show(self.walk, self.app.lang)
        self.refresh_bindings()

    def action_read(self, lines: int) -> None:
        """Scroll what the log says."""
        self.query_one(Evidence).scroll_relative(y=lines, animate=False)

    def action_why(self) -> None:
        """Show or hide what is at stake."""
        self._why = not self._why
        self.relabel()

    def action_back(self) -> None:
        """Undo the prediction or the last answer."""
        self.stand(walks.back(self.walk))

    def action_again(self) -> None:
        """Start over."""
        self.query_one(Answer).forget()
        self.stand(walks.begin(self.walk.run, self.walk.tree))

    def action_panel(self, number: int) -> None:
        """Show a panel; asked for again, show it in full size."""
        if self.walk.run is None:  # a click may come before the log is read
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
        self.app.push_screen(PanelScreen(self.walk.run, plot.panel, plot.mark, self._levels(), plot.view))

    def action_others(self) -> None:
        """Take up another step."""
        from tutor.ui.screens.pick import PickScreen

        steps = self._steps_to_pick()
        rows = [
            (str(step), self.say("walk.step_loss", step=step, loss=self.walk.run.value("loss", step)))
            for step in steps
        ]
        self.app.push_screen(PickScreen("walk.pick_step", rows), self._picked)

    def _picked(self, step: str | None) -> None:
        if step is None:
            return
        walk = self.walk
        if walk.question.focus and self.seen:
            walk = walks.go_on(walk, self.seen)
        self.stand(walks.pick(walk, int(step)))

    def _steps_to_pick(self) -> tuple[int, ...]:
        """The steps that may be taken up: what the question just answered, or the one before, has found."""
        if self.seen and self.seen.answers and self.walk.question.focus:
            finding = self.seen.finding
        elif self.walk.answers and self.walk.tree.questions[self.walk.answers[-1].question].focus:
            finding = self._look(walks.back(replace(self.walk, prediction=None))).finding
        else:
            return ()
        return (finding.step, *finding.others) if finding.step is not None else ()

    def action_leave(self) -> None:
        """Leave; the walk stays where it is."""
        self.app.leave(self)

    def on_answer_chosen(self) -> None:
        """What works may have changed."""
        self.refresh_bindings()
