"""HomeScreen: what to do next, the runs with how their walks stand, and what the notebook holds."""

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tutor import tree as trees
from tutor.notebook.scores import Finished
from tutor.opening import FIRST
from tutor.tree import Leaf, Tree
from tutor.ui import bindings
from tutor.ui.curves import Curves
from tutor.ui.firstpaint import after_first_paint
from tutor.ui.found import Found, find, place
from tutor.ui.runs import RunEntry
from tutor.ui.screens.page import TALL, Page
from tutor.ui.widgets.runlist import WIDE, RunList, RunRow
from tutor.ui.widgets.sureness import in_a_line, in_bars
from tutor.ui.widgets.title import Title
from tutor.words import BadFileError, plain

DRAFTS = 3
"""How many post-mortems left half written are named."""
BETWEEN = 0.1
"""Seconds between two drawings of the list while curves are read: drawing it takes longer than a read."""
SIGNS = {"healthy": ("✓", "$success"), "flaw": ("!", "bold $accent"), "undecided": ("?", "$foreground-muted")}
"""What stands before the leaf of a finished walk, and its style, by the walk's verdict."""
RESULTS = {"solved": ("✓", "$success"), "led": ("→", ""), "missed": ("✗", "bold $accent")}
"""The same for a case, by how the walk over it went."""


class HomeScreen(Page):
    """A list to open a walk from.

    Attributes:
        walked_tree: the name of the tree to walk; None walks each run in its own.
        inside: the file or folder of several whose runs alone are listed; None lists all there are.
        found: what there is to show; None until it is read.
    """

    BINDINGS = bindings.HOME
    HELP_NOTES = ("home",)
    AUTO_FOCUS = "RunList"

    def __init__(self) -> None:
        super().__init__()
        self.walked_tree: str | None = None
        self.inside: Path | None = None
        self.found: Found | None = None
        self._leaves: dict[str, Mapping[str, Leaf]] = {}
        self._curves = Curves()

    def body(self) -> ComposeResult:
        """What to do next, above the runs."""
        yield Title()
        with Vertical(id="home"):
            yield Static(id="next", classes="box")
            with Vertical(classes="box", id="runs"):
                yield RunList(markup=False)
                yield Static(id="none", markup=False)
            yield Static(id="kept", classes="box")

    def on_screen_resume(self) -> None:
        """A walk may have moved since."""
        self.read()

    @work(exclusive=True, group="read")
    async def read(self) -> None:
        """Read what there is to show, and show it; the runs' logs come after the first paint."""
        self.found = await self.app.files.notes(
            partial(find, self.app.learner, self.walked_tree, self.inside)
        )
        if not self.stands:  # it may have been left in the meantime
            return
        walks = (walk for walk in self.found.walks if walk.get("done"))
        self.app.ended.update(Path(str(walk.get("run"))) for walk in walks)
        self.app.ended.update(Path(run) for run in self.found.finished)
        self.relabel()
        _, entry = self._next(self.found)
        if self.found.entries:
            self.query_one(RunList).highlighted = self.found.entries.index(entry) if entry else 0
        after_first_paint(self, self.fill_in)

    @work(exclusive=True, group="fill in")
    async def fill_in(self) -> None:
        """What takes a while to read: the leaves of trees in which a walk ended, and each run's curve."""
        found = self.found
        if not found:
            return
        shown = monotonic()
        for name in {ended.tree for ended in found.finished.values()} - self._leaves.keys():
            tree = await self._tree(name)
            self._leaves[name] = tree.ends if tree else {}
            shown = 0.0  # what the log said of a run comes before its curve
        for entry in found.entries:
            if not self.stands:
                return
            if monotonic() - shown >= BETWEEN:
                self._show_runs(found)
                shown = monotonic()
            await self._curves.read(entry.path, self.app.files)
        if self.stands:
            self._show_runs(found)

    async def _tree(self, name: str) -> Tree | None:
        """The tree of that name; None, with a word about it, where it can't be read."""
        try:
            return await self.app.files.read(partial(trees.find, name, checked=False))
        except (BadFileError, ValueError) as error:
            self.app.complain(str(error))
            return None

    def relabel(self) -> None:
        """Draw in the app's language."""
        title = self.query_one(Title)
        title.place = self.say("home.tree", tree=self.walked_tree) if self.walked_tree else ""
        title.refresh()
        self.query_one("#home").visible = self.found is not None
        if self.found is None:
            return
        self._show_runs(self.found)
        self._show_next(self.found)
        self._show_kept(self.found)
        self.refresh_bindings()

    def on_resize(self) -> None:
        """Where there is room, a score says what it counts and the notebook takes more lines."""
        if self.found:
            self._show_runs(self.found)
            self._show_kept(self.found)

    # What to do next

    def on_option_list_option_highlighted(self) -> None:
        """Enter does what is proposed only while its run is highlighted."""
        if self.found:
            self._show_next(self.found)

    def _show_next(self, found: Found) -> None:
        pane = self.query_one("#next", Static)
        pane.border_title = Content(self.say("home.next"))
        line, entry = self._next(found)
        at = self.query_one(RunList).highlighted
        ready = entry is not None and at is not None and found.entries[at] is entry
        parts = [(f" {self.say('home.enter')} ", "bold $background on $accent"), "  "] if ready else []
        parts.append((line, "bold"))
        if told := self._practice(found, entry):
            parts.append((f"\n{told}", "$foreground-muted"))
        if found.new:
            story = ("any_story",) if self.inside else ("story", "probe")
            parts += [(f"\n{self.say(f'home.{part}')}", "$foreground-muted") for part in story]
        pane.update(Content.assemble(*parts))

    def _next(self, found: Found) -> tuple[str, RunEntry | None]:
        """What was begun, then what is owed, then what is new; and the run that it is about."""
        entries = {place(entry): entry for entry in found.entries}
        if left := found.left:
            name = self.app.called(Path(str(left.get("run"))), str(left.get("name")))
            at = plain(str(left.get("at")))
            tree = plain(str(left.get("tree")))  # a run may be walked in more trees than one
            entry = entries.get(str(left.get("run")))
            return self.say("home.go_on", run=plain(name), at=at, tree=tree) + self._by(left, entry), entry
        if found.begun:
            name, _ = found.begun[0]
            entry = next((entry for entry in found.entries if plain(entry.name) == name), None)
            walk = next((walk for walk in found.walks if plain(str(walk.get("name"))) == name), None)
            return self.say("home.finish", draft=_joined(found.begun[0])) + self._by(walk, entry), entry
        learnt = {run for _, run in found.lessons}
        for walk in found.walks:
            if walk.get("owed") and (name := plain(str(walk["name"]))) not in learnt:
                entry = entries.get(str(walk.get("run")))
                shown = self.app.called(Path(str(walk.get("run"))), name)
                return self.say("home.write", run=shown) + self._by(walk, entry), entry
        walked = {str(walk.get("run")) for walk in found.walks}
        open_runs = [entry for folder, entry in entries.items() if folder not in walked and not entry.sealed]
        if entry := next(iter(open_runs), None):
            return self.say("home.walk_one", run=plain(self.app.called(entry.path, entry.name))), entry
        if case := found.cases.next:
            return self.say("seal.offer", case=plain(case.name)), case
        return self.say("home.train" if found.entries else "home.no_runs"), None

    def _by(self, walk: Mapping[str, Any] | None, entry: RunEntry | None) -> str:
        """By which command the run of a walk opens that isn't in the list; "" where it is."""
        if entry is not None or walk is None or "run" not in walk:
            return ""
        command = shlex.join(["tutor", "walk", plain(str(walk["run"]))])
        return f" {self.say('home.elsewhere', command=command)}"

    def _practice(self, found: Found, proposed: RunEntry | None) -> str:
        """How many cases were solved, and which is next unless it is what is proposed."""
        cases = found.cases
        told = [self.say("seal.tally", **cases.tally)] if cases.entries and cases.tally["count"] else []
        if cases.next and cases.next is not proposed:
            told.append(self.say("seal.also", case=plain(cases.next.name)))
        return " ".join(told)

    # The runs

    def _show_runs(self, found: Found) -> None:
        where = plain(str(self.inside)) if self.inside else None
        title = self.say("home.inside", place=where) if where else self.say("home.runs")
        hidden = f" · {self.say('home.hidden')}" if self.app.hide_names else ""
        self.query_one("#runs").border_title = Content(title + hidden)
        self.query_one(RunList).show([self._row(found, entry) for entry in found.entries])
        none = self.query_one("#none", Static)
        none.display = not found.entries
        none.update(self.say("home.no_runs"))

    def _row(self, found: Found, entry: RunEntry) -> RunRow:
        walk, ended = found.walk(entry, self._tree_of(entry)), found.finished.get(place(entry))
        score = date = ""
        if walk and not walk.get("done"):
            state, style = self.say("home.left_at", at=plain(str(walk.get("at")))), "$accent"
        elif entry.sealed:
            state, style = self._case(found, entry, ended)
        elif ended:
            state, style = self._ended(ended)
        else:
            state, style = self.say("home.done" if walk else "home.fresh"), "$foreground-muted"
        if ended:
            score, date = self._score(ended), ended.date
        about = entry.describe(self.app.lang)
        name = plain(self._called(entry))
        return RunRow(name, about, self._curves.of(entry.path), state, style, score, date)

    def _called(self, entry: RunEntry) -> str:
        """The run's name or, in a folder of several, its way there: there two may have one name."""
        hidden = self.app.hide_names
        return entry.name if self.inside and not hidden else self.app.called(entry.path, entry.name)

    def _ended(self, ended: Finished) -> tuple[str, str]:
        """What the log said of a run that was walked to the end, and its style."""
        leaf = self._leaves.get(ended.tree, {}).get(ended.leaf)
        if leaf is None:
            return self.say("home.done"), "$foreground-muted"
        verdict = ended.verdict or leaf.verdict
        sign, style = SIGNS[verdict]
        said = leaf.name(self.app.lang) if verdict == leaf.verdict == "flaw" else self.say(f"home.{verdict}")
        return f"{sign} {said}", style

    def _case(self, found: Found, entry: RunEntry, ended: Finished | None) -> tuple[str, str]:
        """How a walk over a case ended; nothing of it while its seal holds."""
        result = found.cases.result(entry)
        if result is None or ended is None:
            return self.say("seal.sealed_still" if ended else "seal.sealed"), "$foreground-muted"
        leaf = self._leaves.get(ended.tree, {}).get(ended.leaf)
        name = leaf.name(self.app.lang) if leaf else plain(ended.leaf)
        sign, style = RESULTS[result]
        return f"{sign} {self.say(f'seal.{result}', leaf=name)}", style

    def _score(self, ended: Finished) -> str:
        if not ended.score or not ended.score.count:
            return ""
        facts = {"right": ended.score.right, "count": ended.score.count, "attempt": ended.attempt}
        if self.app.size.width < WIDE:
            return self.say("home.of", **facts)
        return self.say("home.score_again" if ended.attempt > 1 else "home.score", **facts)

    # The notebook

    def _show_kept(self, found: Found) -> None:
        pane = self.query_one("#kept", Static)
        pane.border_title = Content(self.say("home.kept"))
        lines: list[Content] = []
        if found.calibration:
            draw = in_bars if self.app.size.height >= TALL else in_a_line
            lines.append(draw(found.calibration, self.app.lang))
        if found.wrong:
            lines.append(Content(f"✗ {plain(found.wrong.says(self.app.lang))}"))
        lines += [Content(self.say("home.begun", draft=_joined(draft))) for draft in found.begun[:DRAFTS]]
        if found.lessons:
            last, _ = found.lessons[-1]
            lines.append(Content(self.say("home.last", count=len(found.lessons), lesson=last)))
        pane.update(Content("\n").join(lines or [Content(self.say("home.nothing"))]))

    # Keys

    def on_option_list_option_selected(self, event: RunList.OptionSelected) -> None:
        """Open the walk."""
        if self.found:
            self.open(self.found.entries[event.option_index])

    @work(exclusive=True, group="open")
    async def open(self, entry: RunEntry) -> None:
        """A walk over `entry`, taken up where it was left."""
        if tree := await self._tree(self._tree_of(entry)):
            self.app.open_walk(entry.path, tree)

    def _tree_of(self, entry: RunEntry) -> str:
        """The name of the tree in which the run was walked last or, where none was, a walk over it begins."""
        if self.walked_tree:
            return self.walked_tree
        left = self.found.walk(entry, None) if self.found else None
        return str(left.get("tree")) if left else entry.tree

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        if action == "next_case":
            return bool(self.found and self.found.cases.next)
        return bool(self.found and len(self.found.trees) > 1) if action == "tree" else True

    @work(exclusive=True, group="open")
    async def action_map(self) -> None:
        """The map of the tree in which the highlighted run is walked."""
        from tutor.ui.screens.map import MapScreen

        at = self.query_one(RunList).highlighted
        entry = self.found.entries[at] if self.found and at is not None else None
        if tree := await self._tree(self._tree_of(entry) if entry else self.walked_tree or FIRST):
            self.app.push_screen(MapScreen(tree))

    def action_tree(self) -> None:
        """Another tree to walk."""
        from tutor.ui.screens.pick import PickScreen

        known = self.found.trees if self.found else ()
        rows = [("", self.say("home.own_tree")), *((name, name) for name in known)]
        self.app.push_screen(PickScreen("home.pick_tree", rows), self._take_tree)

    def _take_tree(self, name: str | None) -> None:
        if name is not None:
            self.walked_tree = name or None
            self.read()

    def action_next_case(self) -> None:
        """Practise on the next case."""
        if self.found and (case := self.found.cases.next):
            self.open(case)

    def action_lessons(self) -> None:
        """The lessons kept so far."""
        self.app.open_lessons()


def _joined(draft: tuple[str, str]) -> str:
    """Run and tree of a post-mortem, as far as they are known, in a line."""
    return " · ".join(filter(None, draft))
