"""LeafScreen: where the walk ends: the flaw, what it means, the smallest fix, what it is not."""

from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import ScreenResume
from textual.widgets import Static

from tutor import catalog, settings
from tutor import tree as trees
from tutor import walk as walks
from tutor.proof import Proof
from tutor.run import PANELS
from tutor.run.verification import Verification
from tutor.saying import of_absent, of_meaning, of_noticed, of_onset
from tutor.ui import bindings, proofs
from tutor.ui.cases import Opened, open_seal
from tutor.ui.screens.leafhealth import LeafHealth
from tutor.ui.widgets import fixes, leafpanes, seal
from tutor.ui.widgets.live import Live
from tutor.ui.widgets.path import Path
from tutor.ui.widgets.title import Title
from tutor.walk import AtLeaf
from tutor.words import BadFileError

if TYPE_CHECKING:
    from tutor.postmortem import PostMortem
    from tutor.ui.keeper import Keeper

PANES = ("verdict", "rests", "seal", "proof", "lesson", "fix", "table", "not", "happen", "evidence", "score")
"""What the leaf tells, from the top."""
SIGNS = {"healthy": "✓", "flaw": "!"}


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
        yield Title(self.app.called(self.walk.run.path, self.walk.run.name))
        yield Live()
        with VerticalScroll(id="leaf"):
            yield Path()
            for part in PANES:
                yield Static(id=part, classes="pane")

    def relabel(self) -> None:
        """Draw in the app's language."""
        lang, lesson = self.app.lang, self._lesson.lesson if self._lesson else None
        self.show_way()
        sections = {
            "verdict": self._verdict(lang),
            "rests": leafpanes.rests_on(self.walk, lang),
            "seal": seal.told(self._opened, lang) if self._opened else None,
            "proof": leafpanes.proven(self._proof, lang, post_mortem=self.walk.leaf.post_mortem),
            "lesson": leafpanes.learned(lesson, str(self._keeper.notebook.lessons_path)),
            "fix": fixes.told(self.walk, self._tried, lang),
            "table": leafpanes.table(self.walk, lang),
            "not": leafpanes.ruled_out(self.walk, self._proof, lang),
            "happen": leafpanes.happens(self.walk, lang),
            "evidence": leafpanes.for_and_against(self.walk, lang),
            "score": leafpanes.predictions(self.walk, lang),
        }
        for id, content in sections.items():
            pane = self.query_one(f"#{id}", Static)
            pane.border_title = Content(self._title(id, lang))
            pane.display = content is not None
            pane.update(content or "")

    def _title(self, id: str, lang: str) -> str:
        if id == "seal":
            return seal.title(self._opened, lang) if self._opened else ""
        if id == "happen":
            return self.say("leaf.harmless" if self.walk.leaf.verdict == "healthy" else "leaf.reproduce")
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
        noticed = "" if walks.flawed(self.walk) else of_noticed(self.walk, lang, harmless=True)
        notes = (noticed, of_onset(self.walk, lang), of_absent(self.walk, lang))
        parts += [(f"\n{note}", "$foreground-muted") for note in notes if note]
        for advice in leaf.advice_for(walks.known_answers(self.walk)):
            parts += [
                (f"\n{self.say('leaf.now')} ", "$foreground-muted"),
                (advice.words(lang), ""),
            ]
        return Content.assemble(*parts)

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
