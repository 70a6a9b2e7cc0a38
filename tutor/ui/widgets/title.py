"""Title: the line at the top: which run, which tree, who is learning."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tutor.run import Run
from tutor.tree import Tree
from tutor.ui.typed import InTutor
from tutor.ui.widgets.settled import Settled
from tutor.words import plain, say


class Title(InTutor, Settled, Widget):
    """One line. The middle gives way where the terminal is narrow."""

    ALLOW_SELECT = False
    auto_links = reactive(False)  # a click on the language changes it

    def __init__(self, left: str = "", middle: str = "", place: str = ""):
        super().__init__()
        self.left, self.middle, self.place = left, middle, place

    def describe(self, run: Run | None, tree: Tree, lang: str) -> None:
        """Say what the run was meant to be, once it is read, and which tree is walked."""
        self.middle, self.place = described(run, lang) if run else "", placed(tree, lang)
        self.refresh()

    def render(self) -> Content:
        """tutor, what is open, and who reads it in which language."""
        who = Content.assemble(
            f"{plain(self.app.learner)} · ", (f"{self.app.lang.upper()} ", "@click=app.language")
        )
        left = Content.assemble((" tutor ", "bold $accent"), (f" {plain(self.left)}", "bold"))
        right = Content.assemble((plain(self.place), "$foreground-muted"), "  ", who)
        middle = f"   {plain(self.middle)}"
        room = self.size.width - left.cell_length - right.cell_length
        if room < len(middle) + 2:
            middle = ""
        if room < 1:
            right = who
            room = self.size.width - left.cell_length - right.cell_length
        gap = " " * max(1, room - len(middle))
        return Content.assemble(left, (middle, "$foreground-muted"), gap, right)


def placed(tree: Tree, lang: str) -> str:
    """Which tree is walked."""
    return say("walk.tree", lang, tree=tree.tree, title=tree.title(lang))


def _length(run: Run, lang: str) -> str:
    """How long it is: in steps where the log has a row for each, else in rows and to which step."""
    if not len(run):
        return say("walk.steps", lang, steps=0)
    first, last = int(run.steps[0]), int(run.steps[-1])
    if first <= 1 and len(run) == last + 1 - first:
        return say("walk.steps", lang, steps=len(run))
    return say("walk.rows_to", lang, rows=len(run), last=last)


def described(run: Run, lang: str) -> str:
    """What the run was meant to be, in a few words, as far as its manifest says."""
    manifest = run.manifest
    dtype = manifest.dtype or manifest.settings.get("dtype")
    seed = manifest.settings.get("seed", manifest.seed)
    words = [str(dtype)] if dtype else []
    words.append(_length(run, lang))
    if seed is not None:
        words.append(say("walk.seed", lang, seed=seed))
    return " · ".join(words)
