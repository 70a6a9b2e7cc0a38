"""HomeScreen: the runs there are, the walks left open, and what to try next."""

from pathlib import Path

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from tutor import tree as trees
from tutor.run import BadRunError
from tutor.ui import bindings, shelf
from tutor.ui.screens.page import Page
from tutor.ui.widgets.options import Options
from tutor.ui.widgets.title import Title
from tutor.words import BadFileError, plain

FIRST_TREE = "phase-19"
DRAFTS = 3
"""How many post-mortems left half written are named."""


def _about(data: dict) -> str:
    """Run and tree of a post-mortem's draft, as they are to be shown."""
    about = data.get("about")
    about = about if isinstance(about, dict) else {}
    return " · ".join(plain(str(about[key])) for key in ("run", "tree") if key in about)


class HomeScreen(Page):
    """A list to open a walk from. `asked` is the name of the tree to walk."""

    BINDINGS = bindings.HOME
    HELP_NOTES = ("home",)
    AUTO_FOCUS = "Options"

    def __init__(self):
        super().__init__()
        self.asked = FIRST_TREE
        self._books: list[shelf.Book] = []

    def body(self):
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
        if self.is_mounted:
            self.relabel()

    def relabel(self) -> None:
        """Draw in the app's language."""
        from tutor.notebook import Notebook, NotebookError

        notebook = Notebook(self.app.learner)
        drafts = notebook.drafts()
        walks = [draft.data for draft in drafts if draft.kind == "walk" and "name" in draft.data]
        left = [Path(str(walk.get("run"))) for walk in walks if not walk.get("done")]
        self._books = shelf.books(also=left)
        begun = [_about(draft.data) for draft in drafts if draft.kind == "postmortem"]
        try:
            lessons, wrong = notebook.lessons(), ""
        except NotebookError as error:
            lessons, wrong = [], plain(error.says(self.app.lang))
        self._show_next(walks, begun, {lesson.run for lesson in lessons})
        self._show_runs(walks)
        title = self.query_one(Title)
        title.place = self.say("home.tree", tree=self.asked)
        title.refresh()
        self._show_kept(lessons, begun, wrong)

    def _show_kept(self, lessons: list, begun: list[str], wrong: str) -> None:
        pane = self.query_one("#kept", Static)
        pane.border_title = Content(self.say("home.kept"))
        lines = [f"✗ {wrong}"] if wrong else []
        lines += [self.say("home.begun", draft=draft) for draft in begun[:DRAFTS]]
        if lessons:
            lines.append(self.say("home.last", count=len(lessons), lesson=plain(lessons[-1].lesson)))
        pane.update(Content("\n".join(lines) or self.say("home.nothing")))

    def _show_next(self, walks: list[dict], begun: list[str], learnt: set[str]) -> None:
        pane = self.query_one("#next", Static)
        pane.border_title = Content(self.say("home.next"))
        left = [walk for walk in walks if not walk.get("done")]
        owed = [plain(str(walk["name"])) for walk in walks if walk.get("owed")]
        unwritten = [name for name in owed if name not in learnt]
        walked = {str(walk.get("run")) for walk in walks}
        fresh = [book.name for book in self._books if str(book.path.resolve()) not in walked]
        if left:
            name, at = (plain(str(left[0].get(key))) for key in ("name", "at"))
            line = self.say("home.go_on", run=name, at=at)
        elif begun:
            line = self.say("home.finish", draft=begun[0])
        elif unwritten:
            line = self.say("home.write", run=unwritten[0])
        elif fresh:
            line = self.say("home.walk_one", run=plain(fresh[0]))
        else:
            line = self.say("home.train" if self._books else "home.no_runs")
        about = self.say("home.about") if not walked else ""
        pane.update(Content.assemble((line, "bold"), (f"\n{about}" if about else "", "$foreground-muted")))

    def _show_runs(self, walks: list[dict]) -> None:
        self.query_one("#runs").border_title = Content(self.say("home.runs"))
        listed = self.query_one(Options)
        at = listed.highlighted
        listed.clear_options()
        wide = max((len(plain(book.name)) for book in self._books), default=0)
        described = [book.describe(self.app.lang) for book in self._books]
        widest = max(map(len, described), default=0)
        left = {str(walk.get("run")): walk for walk in walks if walk.get("tree") == self.asked}
        first = 0
        for number, book in enumerate(self._books):
            walk = left.get(str(book.path.resolve()))
            key = "home.fresh" if not walk else "home.done" if walk.get("done") else "home.left_at"
            place = self.say(key, at=plain(str(walk.get("at")))) if walk else self.say(key)
            first = number if key == "home.left_at" else first
            line = Content.assemble(
                (plain(book.name).ljust(wide), "bold"),
                (f"   {described[number].ljust(widest)}", "$foreground-muted"),
                (f"   {place}", "$accent" if key == "home.left_at" else "$foreground-muted"),
            )
            listed.add_option(Option(line, id=str(number)))
        if self._books:
            listed.highlighted = first if at is None else at
        self.query_one("#none", Static).update("" if self._books else self.say("home.no_runs"))

    def on_option_list_option_selected(self, event: Options.OptionSelected) -> None:
        """Open the walk."""
        self.open(self._books[int(event.option.id)])

    def open(self, book: shelf.Book) -> None:
        """A walk over `book`, taken up where it was left."""
        from tutor.readers import read
        from tutor.ui.screens.walk import WalkScreen

        try:
            self.app.push_screen(WalkScreen(read(book.path), trees.find(self.asked)))
        except (BadRunError, BadFileError, ValueError) as error:
            self.notify(plain(str(error), lines=True), severity="error", markup=False, timeout=12)

    def check_action(self, action: str, parameters: tuple) -> bool | None:
        """Only what works now."""
        return len(trees.available()) > 1 if action == "tree" else True

    def action_tree(self) -> None:
        """Another tree to walk."""
        from tutor.ui.screens.pick import PickScreen

        rows = [(name, name) for name in trees.available()]
        self.app.push_screen(PickScreen("home.pick_tree", rows), self._asked)

    def _asked(self, name: str | None) -> None:
        if name is not None:
            self.asked = name
            self.relabel()

    def action_lessons(self) -> None:
        """The lessons kept so far."""
        self.app.open_lessons()
