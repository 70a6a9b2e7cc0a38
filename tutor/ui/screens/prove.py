"""ProveScreen: the card's ladder after the leaf; the learner answers on the panel, then the log does."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tutor import proof as proofs
from tutor.card.ladder import NameToken, PointAtStep
from tutor.plots import whole
from tutor.proof import Proof
from tutor.ui import bindings
from tutor.ui.heard import heard
from tutor.ui.proofs import keep
from tutor.ui.screens.page import PlotPage
from tutor.ui.widgets.answer import Answer
from tutor.ui.widgets.hints import Hints
from tutor.ui.widgets.plot import Plot
from tutor.ui.widgets.prove import Control, Told
from tutor.ui.widgets.tabs import PanelTabs
from tutor.ui.widgets.title import Title

if TYPE_CHECKING:
    from tutor.ui.keeper import Keeper


class ProveScreen(PlotPage):
    """A ladder to climb, left at any time and taken up later. Gives the proof as it was left.

    Args:
        proof: newly begun, or taken up.
        keeper: keeps it at every step.
    """

    BINDINGS = bindings.PROVE
    HELP_NOTES = ("prove", "mouse")
    CSS_PATH = "prove.tcss"

    def __init__(self, proof: Proof, keeper: "Keeper"):
        super().__init__()
        self.proof, self._keeper = proof, keeper

    def body(self) -> ComposeResult:
        """Question, panel, what the log says, the answer and the hints."""
        yield Title(self.app.called(self.proof.run.path, self.proof.run.name))
        with Vertical(id="prove"):
            yield Static(id="rung", classes="pane")
            yield PanelTabs()
            yield Plot(self.proof.run)
            yield Told(classes="pane")
            yield Control()
            yield Hints()

    # Where we stand

    def move_to(self, proof: Proof) -> None:
        """Stand at `proof`, keep it and draw it."""
        moved = proof.id != self.proof.id
        self.proof = proof
        keep(self._keeper, proof)
        if moved:
            self._begin_rung()
            self.query_one(Control).clear()
        self.relabel()
        if moved or proof.told:
            self._open_panel()

    def on_mount(self) -> None:
        """Open the panel of the rung at hand."""
        self._begin_rung()
        self._open_panel()

    def relabel(self) -> None:
        """Draw every pane in the app's language."""
        proof, lang = self.proof, self.app.lang
        self.query_one(Title).describe(proof.run, proof.tree, lang)
        pane = self.query_one("#rung", Static)
        if proof.id:
            facts = {"number": proof.number, "count": len(proof.card.ladder)}
            pane.border_title = self.say("prove.rung", **facts)
            ask = proof.rung.ask(lang, proof.rung.numbers)
        else:
            pane.border_title, ask = self.say("prove.cause"), self.say("prove.ask_cause")
        pane.update(Content.assemble((ask, "bold")))
        self.query_one(Told).show(proof, lang)
        self.query_one(Control).ask(proof, lang)
        self._show_hints()
        if self.query_one(Plot).view:
            self.show_panel(self.query_one(Plot).panel)
        self._read_pointer()
        self.refresh_bindings()

    def _show_hints(self) -> None:
        hints = self.query_one(Hints)
        hints.display = self._asking
        if self._asking:
            rung, shown = self.proof.rung, self.proof.hints
            typed = isinstance(rung.answer, NameToken)  # there an h is text
            key = "f2" if typed else "h"
            hints.show(rung.hints.in_order, rung.numbers, shown, self.app.lang, more=True, key=key)

    def _begin_rung(self) -> None:
        """The cursor, which is what points at a step, stands in the middle where one is asked for."""
        steps = self.proof.run.steps
        self.query_one(Plot).cursor = int(steps[len(steps) // 2]) if self._pointing else None

    def _open_panel(self) -> None:
        panel = self.proof.rung.panel_name if self.proof.id else self.query_one(Plot).panel
        self.draw(panel, whole(self.proof.run) if self._pointing else None)

    @property
    def _asking(self) -> bool:
        return self.proof.id is not None and not self.proof.told

    @property
    def _pointing(self) -> bool:
        return self._asking and isinstance(self.proof.rung.answer, PointAtStep)

    @property
    def mark(self) -> int | None:
        """The step that the log found, or that is under discussion; none while the learner is to find it."""
        if self._pointing:
            return None
        found = self.proof.last.facts.get("step") if self.proof.last else None
        return self.proof.at if found is None else found

    def point(self, step: int) -> None:
        """Where the learner points is read out below the panel."""
        super().point(step)
        self._read_pointer()

    def _read_pointer(self) -> None:
        step = self.query_one(Plot).cursor
        if self._pointing and step is not None:
            self.query_one(Control).point(self.say("prove.pointed", step=step))

    # Keys

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        if not self.is_mounted:
            return action == "leave"
        proof, choosing = self.proof, self._asking and bool(self.proof.rung.answer.choices)
        works = {
            "commit": lambda: not proof.told and not proof.finished,
            "go_on": lambda: proof.told,
            "hint": lambda: self._asking and proof.hints < len(proof.rung.hints.in_order),
            "point": lambda: self._pointing,
            "choose": lambda: choosing,
            "read": lambda: self.query_one(Told).display and self.query_one(Told).max_scroll_y > 0,
        }
        return works[action]() if action in works else super().check_action(action, parameters)

    async def action_commit(self) -> None:
        """Commit to the answer: now the log speaks. Past the last rung, to the root cause."""
        await heard(self.focused)  # the key comes before those that were typed right before it
        if self.proof.told or self.proof.finished:  # it came twice
            return
        control = self.query_one(Control)
        if self._pointing:
            said: str | None = str(self.query_one(Plot).cursor)
        else:
            said = control.chosen if self._asking and self.proof.rung.answer.choices else control.text
        if not said or not said.strip():
            control.remind(self.proof, self.app.lang)
        elif self._asking:
            self.move_to(proofs.answer(self.proof, said))
        else:
            self.move_to(proofs.conclude(self.proof, said))

    def action_go_on(self) -> None:
        """On to the next rung."""
        self.move_to(proofs.go_on(self.proof))

    def action_hint(self) -> None:
        """One more hint."""
        self.proof = proofs.reveal(self.proof)
        keep(self._keeper, self.proof)
        self._show_hints()
        self.refresh_bindings()

    def action_point(self, by: int) -> None:
        """The cursor as everywhere, by the arrows too where a step is asked for."""
        self.action_cursor(by)

    def action_choose(self, by: int) -> None:
        """The next choice."""
        self.query_one(Answer).move(by)

    def action_read(self, lines: int) -> None:
        """Scroll what the log says."""
        self.query_one(Told).scroll_relative(y=lines, animate=False)

    def action_leave(self) -> None:
        """Back to the leaf; the proof stays where it is."""
        self.dismiss(self.proof)
