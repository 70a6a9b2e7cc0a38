"""HomeScreen: the runs there are, the walks left open, and what to try next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from tutor import tree as trees
from tutor.ui import bindings, runs
from tutor.ui.runs import RunEntry
from tutor.ui.screens.page import Page
from tutor.ui.widgets.options import Options
from tutor.ui.widgets.title import Title
from tutor.words import BadFileError, SaidError, plain

FIRST_TREE = "phase-19"
DRAFTS = 3
"""How many post-mortems left half written are named."""

Draft = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """What there is to show, as the notebook and the folders of runs have it.

    Attributes:
        trees: names of the trees that can be walked.
        entries: the runs.
        walks: drafts of walks, the latest first.
        begun: run and tree of the post-mortems left half written.
        lessons: what each lesson says, and of which run it is; oldest first.
        wrong: why the lessons can't be read.
    """

    trees: Sequence[str]
    entries: Sequence[RunEntry]
    walks: Sequence[Draft]
    begun: Sequence[str]
    lessons: Sequence[tuple[str, str]]
    wrong: SaidError | None


def find(learner: str) -> Found:
    """Look through the notebook and the folders."""
    from tutor.notebook import Notebook, NotebookError

    notebook = Notebook(learner)
    drafts = notebook.drafts()
    walks = [draft.data for draft in drafts if draft.kind == "walk" and "name" in draft.data]
    left = [Path(str(walk.get("run"))) for walk in walks if not walk.get("done")]
    begun = [_about(draft.data) for draft in drafts if draft.kind == "postmortem"]
    lessons, wrong = [], None
    try:
        lessons = [(plain(lesson.lesson), lesson.run) for lesson in notebook.lessons()]
    except NotebookError as error:
        wrong = error
    return Found(tuple(trees.available()), runs.available(also=left), walks, begun, lessons, wrong)


def _about(data: Draft) -> str:
    """Run and tree of a post-mortem's draft, as they are to be shown."""
    about = data.get("about")
    about = about if isinstance(about, dict) else {}
    return " · ".join(plain(str(about[key])) for key in ("run", "tree") if key in about)


class HomeScreen(Page):
    """A list to open a walk from.

    Attributes:
        walked_tree: the name of the tree to walk.
        found: what there is to show; None until it is read.
    """

    BINDINGS = bindings.HOME
    HELP_NOTES = ("home",)
    AUTO_FOCUS = "Options"

    def __init__(self) -> None:
        super().__init__()
        self.walked_tree = FIRST_TREE
        self.found: Found | None = None

    def body(self) -> ComposeResult:
        """What to try next, above the runs."""
        yield Title()
        with Vertical(id="home"):
            yield Static(id="next", classes="pane")
            with Vertical(classes="pane", id="runs"):
                yield Options(markup=False)
                yield Static(id="none", markup=False)
            yield Static(id="kept", classes="pane")

    def on_screen_resume(self) -> None:
        """A walk may have moved since."""
        self.read()

    @work(exclusive=True, group="read")
    async def read(self) -> None:
        """Read what there is to show, and show it."""
        self.found = await self.app.files.notes(partial(find, self.app.learner))
        self.app.ended.update(Path(str(walk.get("run"))) for walk in self.found.walks if walk.get("done"))
        if self.is_mounted and self.is_attached:  # it may have been left in the meantime
            self.relabel()

    def relabel(self) -> None:
        """Draw in the app's language."""
        title = self.query_one(Title)
        title.place = self.say("home.tree", tree=self.walked_tree)
        title.refresh()
        self.query_one("#home").visible = self.found is not None
        if self.found is None:
            return
        self._show_next(self.found)
        self._show_runs(self.found)
        self._show_kept(self.found)
        self.refresh_bindings()

    def _show_kept(self, found: Found) -> None:
        pane = self.query_one("#kept", Static)
        pane.border_title = Content(self.say("home.kept"))
        lines = [f"✗ {plain(found.wrong.says(self.app.lang))}"] if found.wrong else []
        lines += [self.say("home.begun", draft=draft) for draft in found.begun[:DRAFTS]]
        if found.lessons:
            last, _ = found.lessons[-1]
            lines.append(self.say("home.last", count=len(found.lessons), lesson=last))
        pane.update(Content("\n".join(lines) or self.say("home.nothing")))

    def _show_next(self, found: Found) -> None:
        pane = self.query_one("#next", Static)
        pane.border_title = Content(self.say("home.next"))
        about = self.say("home.about") if not found.walks else ""
        line = self._next(found)
        pane.update(Content.assemble((line, "bold"), (f"\n{about}" if about else "", "$foreground-muted")))

    def _next(self, found: Found) -> str:
        """What to do next: what was begun, then what is owed, then what is new."""
        learnt = {run for _, run in found.lessons}
        owed = [plain(str(walk["name"])) for walk in found.walks if walk.get("owed")]
        walked = {str(walk.get("run")) for walk in found.walks}
        if left := next((walk for walk in found.walks if not walk.get("done")), None):
            name = self.app.called(Path(str(left.get("run"))), str(left.get("name")))
            return self.say("home.go_on", run=plain(name), at=plain(str(left.get("at"))))
        if found.begun:
            return self.say("home.finish", draft=found.begun[0])
        if unwritten := next((name for name in owed if name not in learnt), None):
            return self.say("home.write", run=unwritten)
        fresh = (entry for entry in found.entries if str(entry.path.resolve()) not in walked)
        if entry := next(fresh, None):
            return self.say("home.walk_one", run=plain(self.app.called(entry.path, entry.name)))
        return self.say("home.train" if found.entries else "home.no_runs")

    def _show_runs(self, found: Found) -> None:
        self.query_one("#runs").border_title = Content(self.say("home.runs"))
        listed = self.query_one(Options)
        at = listed.highlighted
        listed.clear_options()
        names = [plain(self.app.called(entry.path, entry.name)) for entry in found.entries]
        described = [entry.describe(self.app.lang) for entry in found.entries]
        wide, widest = (max(map(len, texts), default=0) for texts in (names, described))
        left = {str(walk.get("run")): walk for walk in found.walks if walk.get("tree") == self.walked_tree}
        first = 0
        for number, entry in enumerate(found.entries):
            walk = left.get(str(entry.path.resolve()))
            key = "home.fresh" if not walk else "home.done" if walk.get("done") else "home.left_at"
            place = self.say(key, at=plain(str(walk.get("at")))) if walk else self.say(key)
            first = number if key == "home.left_at" else first
            line = Content.assemble(
                (names[number].ljust(wide), "bold"),
                (f"   {described[number].ljust(widest)}", "$foreground-muted"),
                (f"   {place}", "$accent" if key == "home.left_at" else "$foreground-muted"),
            )
            listed.add_option(Option(line))
        if found.entries:
            listed.highlighted = first if at is None else min(at, len(found.entries) - 1)
        self.query_one("#none", Static).update("" if found.entries else self.say("home.no_runs"))

    def on_option_list_option_selected(self, event: Options.OptionSelected) -> None:
        """Open the walk."""
        if self.found:
            self.open(self.found.entries[event.option_index])

    @work(exclusive=True, group="open")
    async def open(self, entry: RunEntry) -> None:
        """A walk over `entry`, taken up where it was left."""
        try:
            tree = await self.app.files.read(partial(trees.find, self.walked_tree, checked=False))
        except (BadFileError, ValueError) as error:
            self.app.complain(str(error))
            return
        self.app.open_walk(entry.path, tree)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        return bool(self.found and len(self.found.trees) > 1) if action == "tree" else True

    def action_tree(self) -> None:
        """Another tree to walk."""
        from tutor.ui.screens.pick import PickScreen

        rows = [(name, name) for name in self.found.trees] if self.found else []
        self.app.push_screen(PickScreen("home.pick_tree", rows), self._take_tree)

    def _take_tree(self, name: str | None) -> None:
        if name is not None:
            self.walked_tree = name
            self.relabel()

    def action_lessons(self) -> None:
        """The lessons kept so far."""
        self.app.open_lessons()
