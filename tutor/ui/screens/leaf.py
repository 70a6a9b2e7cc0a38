"""LeafScreen: where the walk ends: the flaw, what it means, the smallest fix, what it is not."""

from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import ScreenResume
from textual.widgets import Static

from tutor import catalog, evidence, settings
from tutor import tree as trees
from tutor import walk as walks
from tutor.proof import Compared, Proof, go_on, look_alikes
from tutor.run import PANELS
from tutor.run.verification import Verification
from tutor.saying import answer_label, mark_of, of_absent, of_guesses, of_meaning, of_onset, of_table
from tutor.ui import bindings, proofs
from tutor.ui.cases import Opened, open_seal
from tutor.ui.screens.leafhealth import LeafHealth
from tutor.ui.widgets import fixes, seal
from tutor.ui.widgets.live import Live
from tutor.ui.widgets.path import CLOSE, Path, mark, mark_style
from tutor.ui.widgets.prove import scored
from tutor.ui.widgets.title import Title
from tutor.walk import AtLeaf
from tutor.words import BadFileError, plain

if TYPE_CHECKING:
    from tutor.postmortem import PostMortem
    from tutor.ui.keeper import Keeper

PANES = ("verdict", "rests", "seal", "proof", "lesson", "fix", "table", "not", "evidence", "score")
"""What the leaf tells, from the top."""
SIGNS = {"healthy": "✓", "flaw": "!"}
COMPARED = {
    "ruled_out": ("✓", "bold $success"),
    "stands": ("≈", "bold $accent"),
    "open": ("?", "$foreground-muted"),
}
"""How a look-alike of the card fared against this run."""
TABLE_STYLES = {"✗": "bold $accent", "✓": "$success", "?": "$foreground-muted"}
"""How a row of the leaf's table is drawn, by its mark."""


class LeafScreen(LeafHealth):
    """The leaf on which `walk` stands. Gives "again", "leave" or, to undo the last answer, None."""

    BINDINGS = bindings.LEAF
    HELP_NOTES = ("leaf",)
    AUTO_FOCUS = "#leaf"

    def __init__(self, walk: AtLeaf, keeper: "Keeper"):
        super().__init__(walk, keeper)
        self._proof: Proof | None = None
        self._opened: Opened | None = None
        self._tried: Verification | None = None
        self._lesson: PostMortem | None = None

    def on_mount(self) -> None:
        """Find out whether the run has a card to prove its cause by, and open its seal."""
        self._find_proof()
        self.find_whole()
        if self.walk.run.manifest.sealed:
            self._open_seal()

    @on(ScreenResume)
    @work(exclusive=True, group="done")
    async def _find_done(self) -> None:
        """What was done since this screen was left: a fix that was tried, a lesson that was saved."""
        from tutor.ui import trials  # the leaf opens without them
        from tutor.ui.formkeeper import saved_lesson

        walk, notebook = self.walk, self._keeper.notebook
        trial = await self.app.files.read(partial(trials.latest, walk.run.path))
        self._lesson = await self.app.files.notes(partial(saved_lesson, notebook, walk.run, walk.tree.tree))
        self._tried = trial.found if trial else None
        if self.stands and (trial or self._lesson):
            self.relabel()

    @work(exclusive=True, group="seal")
    async def _open_seal(self) -> None:
        notebook = self._keeper.notebook
        self._opened = await self.app.files.notes(partial(open_seal, self.walk, notebook))
        if self.stands:
            self.relabel()
            self.refresh_bindings()

    @work(exclusive=True, group="proof")
    async def _find_proof(self) -> None:
        if fresh := await self.app.files.read(partial(proofs.offered, self.walk)):
            self._take_proof(await proofs.kept(self._keeper, fresh))

    def _take_proof(self, proof: Proof | None) -> None:
        self._proof = proof or self._proof
        if self.stands:
            self.relabel()
            self.refresh_bindings()

    def body(self) -> ComposeResult:
        """The path on the left, the leaf on the right."""
        yield Title(self.walk.run.name)
        yield Live()
        with VerticalScroll(id="leaf"):
            yield Path()
            for part in (
                "verdict",
                "rests",
                "seal",
                "proof",
                "lesson",
                "fix",
                "table",
                "not",
                "evidence",
                "score",
            ):
                yield Static(id=part, classes="pane")

    def relabel(self) -> None:
        """Draw in the app's language."""
        lang = self.app.lang
        self.show_way()
        sections = {
            "verdict": self._verdict(lang),
            "rests": self._rests_on(lang),
            "seal": seal.told(self._opened, lang) if self._opened else None,
            "proof": self._proven(lang),
            "lesson": self._learned(),
            "fix": fixes.told(self.walk, self._tried, lang),
            "table": self._table(lang),
            "not": self._ruled_out(lang),
            "evidence": self._evidence(lang),
            "score": self._score(lang),
        }
        for id, content in sections.items():
            pane = self.query_one(f"#{id}", Static)
            pane.border_title = Content(self._title(id, lang))
            pane.display = content is not None
            pane.update(content or "")

    def _title(self, id: str, lang: str) -> str:
        if id == "seal":
            return seal.title(self._opened, lang) if self._opened else ""
        if id != "table":
            return self.say(f"leaf.{id}")
        asked = self.walk.leaf.table  # its pane isn't shown where there is none
        return self.walk.tree.questions[asked].title(lang) if asked else ""

    @property
    def command(self) -> str | None:
        """The smallest fix as a command."""
        for fix in self.walk.leaf.fixes:
            if command := walks.fix_command(self.walk.run, fix.change):
                return command
        return seal.first_fix(self._opened)

    def _verdict(self, lang: str) -> Content:
        leaf = self.walk.leaf
        if self.doubted:
            return self.doubts(lang)
        style = "bold $success" if leaf.verdict == "healthy" else "bold $accent"
        parts = [
            (f"{SIGNS[leaf.verdict]} {leaf.name(lang)}", style),
            (f"   {self.say(f'leaf.{leaf.verdict}')}", "$foreground-muted"),
            (f"\n{of_meaning(self.walk, lang)}", ""),
        ]
        notes = (of_onset(self.walk, lang), of_absent(self.walk, lang))
        parts += [(f"\n{note}", "$foreground-muted") for note in notes if note]
        given = {answer.question: answer.outcome for answer in self.walk.answers}
        for advice in leaf.advice_for(given):
            parts += [
                (f"\n{self.say('leaf.now')} ", "$foreground-muted"),
                (advice.words(lang), ""),
            ]
        lead = f"{self.say('leaf.harmless' if leaf.verdict == 'healthy' else 'leaf.reproduce')} "
        for name in leaf.breaks:
            parts += [(f"\n{lead}", "$foreground-muted"), (f"tutor train --break {name}", "$primary")]
            lead = " " * len(lead)  # said once
        if leaf.unreached and self.walk.run.manifest.tutor:  # of what tutor's own breaks can do
            parts += [
                (f"\n{self.say('leaf.unreached')} ", "$foreground-muted"),
                (leaf.unreached(lang), ""),
            ]
        return Content.assemble(*parts)

    def _rests_on(self, lang: str) -> Content | None:
        """The answers that the log didn't give: what stands above holds if they do."""
        guesses = of_guesses(self.walk, lang)
        return Content("\n".join(f"? {one}" for one in guesses)) if guesses else None

    def _proven(self, lang: str) -> Content | None:
        """That there is something to prove or, once begun, how far that has come and where it goes on."""
        proof = self._proof
        if proof is None:
            return None
        count = len(proof.card.ladder)
        if not proof.given:
            return Content(self.say("prove.offered", count=count))
        ahead = go_on(proof) if proof.told else proof
        if ahead.id:
            onward = self.say("prove.left_at", number=ahead.number, count=count)
        else:
            onward = self.say("prove.look_again" if proof.finished else "prove.left_at_cause")
        return Content.assemble((scored(proof, lang), "bold"), (f"   {onward}", "$foreground-muted"))

    def _learned(self) -> Content | None:
        """The lesson that was saved, and where it is."""
        if self._lesson is None:
            return None
        where = str(self._keeper.notebook.lessons_path)
        lesson, path = plain(self._lesson.lesson), plain(where)
        return Content.assemble((f"✓ {lesson}", "bold $success"), (f"\n{path}", "$foreground-muted"))

    def _table(self, lang: str) -> Content | None:
        rows = of_table(self.walk, lang)
        width = max((cell_len(row.label) for row in rows), default=0)
        lines = []
        for row in rows:
            sign, style = mark_of(row), TABLE_STYLES[mark_of(row)]
            label = f"{sign} {set_cell_size(row.label, width)}  "
            lines.append(Content.assemble((label, style), (row.text, "")))
        return Content("\n").join(lines) if lines else None

    def _ruled_out(self, lang: str) -> Content | None:
        others = look_alikes(self.walk, self._proof.card, lang) if self._proof else []
        lines = [_compared(other) for other in others]
        named = {other.question for other in others if other.question}
        lines += [Content(f"· {look_alike(lang)}") for look_alike in walks.ruled_out(self.walk, named)]
        return Content("\n").join(lines) if lines else None

    def _evidence(self, lang: str) -> Content | None:
        claims = evidence.about(self.walk.tree.tree, self.walk.at)
        lines = [Content(evidence.in_a_line(name, claim, lang)) for name, claim in claims.items()]
        return Content("\n").join(lines) if lines else None

    def _score(self, lang: str) -> Content | None:
        tested = [(a, a.prediction) for a in self.walk.answers if a.by == "log" and a.prediction]
        if not tested:
            return None
        marks = [mark(answer) for answer, _ in tested]
        hints = sum(answer.hints for answer in self.walk.answers)
        right, count = walks.score(self.walk.answers)
        lines = [Content(self.say("leaf.scored", right=right, count=count, hints=hints))]
        for answer, predicted in tested:
            question, sign = self.walk.tree.questions[answer.question], mark(answer)
            said, found = (answer_label(question, one, lang) for one in (predicted.outcome, answer.outcome))
            facts = {"said": said, "confidence": predicted.confidence, "found": found}
            told = self.say("leaf.said_so" if answer.hit else "leaf.said", **facts)
            lines.append(
                Content.assemble(
                    (f"{sign} ", mark_style(sign)),
                    (f"{answer.question} ", "$foreground-muted"),
                    (question.title(lang), ""),
                    (f"   {told}", "$foreground-muted"),
                )
            )
        notes = [self.say("leaf.close")] if CLOSE in marks else []
        if any(predicted.seen_before for _, predicted in tested):
            notes.append(self.say("leaf.seen_before"))
        if self.walk.attempt > 1:
            notes.append(self.say("leaf.attempt", attempt=self.walk.attempt))
        lines += [Content.assemble((note, "$foreground-muted")) for note in notes]
        return Content("\n").join(lines)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        match action:
            case "prove":
                works = self._proof is not None and parameters[0] == self._proof.finished
            case "leave":
                works = bool(parameters) == self.app.over_another_walk
            case "fix":
                works = walks.flawed(self.walk) and bool(self.walk.run.manifest.tutor)
            case "postmortem":
                works = self.walk.leaf.post_mortem
            case "before":
                works = self.tree_to_mend is not None
            case "next_tree":
                works = (
                    self.tree_to_mend is None
                    and self.walk.leaf.next is not None
                    and self.walk.leaf.next.tree in trees.available()
                )
            case "copy":
                works = self.command is not None
            case "next_case":
                works = self._opened is not None and self._opened.cases.next is not None
            case _:
                works = True
        return works

    def action_panel(self, number: int) -> None:
        """A panel in full size, at the step under discussion."""
        from tutor.ui.screens.panel import PanelScreen

        self.app.push_screen(PanelScreen(self.walk.run, PANELS[number - 1], self.walk.focus))

    @property
    def help_notes(self) -> tuple[str, ...]:
        """Of the command only where there is one: a run of another trainer is trained again by hand."""
        return ("leaf", "command") if self.command else ("leaf",)

    def action_copy(self) -> None:
        """Copy the smallest fix."""
        if command := self.command:
            self.app.copy_to_clipboard(command)
            self.notify(self.say("leaf.copied"), markup=False)

    def action_postmortem(self) -> None:
        """Write the post-mortem."""
        self.app.open_postmortem(self.walk, self._keeper, self._proof)

    def action_fix(self) -> None:
        """Try a fix, or go back to the one that is being tried."""
        from tutor.ui.experiments import Experiments

        Experiments(self.app, self.walk, self._fix_rows()).go_on()

    def _fix_rows(self) -> list[tuple[str, str]]:
        """What can be tried: each fix of the leaf by its settings, in words."""
        lang, rows = self.app.lang, dict[str, str]()
        for fix in self.walk.leaf.fixes:
            if values := walks.fix_values(self.walk.run, fix.change):
                rows.setdefault(" ".join(settings.assignments(values)), fix.words(lang))
        return list(rows.items())

    def action_prove(self, proven: bool) -> None:
        """Climb the card's ladder, or go on where it was left; once all is `proven`, look at it again."""
        from tutor.ui.screens.prove import ProveScreen

        if self._proof:
            self.app.push_screen(ProveScreen(self._proof, self._keeper), self._take_proof)

    @work(exclusive=True)
    async def action_next_tree(self) -> None:
        """Go on in the tree that this leaf leads to, at its question, over the same run and step."""
        if not (handover := self.walk.leaf.next):
            return
        try:
            tree = await self.app.files.read(partial(trees.find, handover.tree))
        except (BadFileError, ValueError) as error:
            self.app.complain(str(error))
            return
        question = handover.question or tree.start
        if question not in tree.questions:
            self.app.complain(catalog.unknown(f"question of {tree.tree}", question, tree.questions))
            return
        self.app.open_walk(self.walk.run, tree, (question, self.walk.focus))

    def action_next_case(self) -> None:
        """On to the next case."""
        if self._opened and (entry := self._opened.cases.next):
            self.app.open_run(entry)

    def action_again(self) -> None:
        """Walk again from the top."""
        self.start_over(lambda: self.dismiss("again"))

    def action_back(self) -> None:
        """Undo the last answer."""
        self.dismiss(None)

    def action_leave(self, _below: bool = False) -> None:
        """Leave the walk."""
        self.dismiss("leave")


def _compared(other: Compared) -> Content:
    """A look-alike of the card, with what was measured in this run."""
    sign, style = COMPARED[other.status]
    return Content.assemble((f"{sign} ", style), (f"{other.name}: ", "bold"), other.text)
