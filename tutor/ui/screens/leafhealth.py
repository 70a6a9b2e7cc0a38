"""LeafHealth: what a leaf needs to know before it says healthy: the trees before it, the assumed answers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content

from tutor import walk as walks
from tutor.saying import of_end, verdict_of
from tutor.tree import Tree
from tutor.ui.before import whole
from tutor.ui.looks import Looks
from tutor.ui.screens.growing import GrowingWalk
from tutor.walk import AtLeaf, Change, Place, Stage

if TYPE_CHECKING:
    from tutor.ui.keeper import Keeper


class LeafHealth(GrowingWalk[AtLeaf]):
    """The leaf on which `walk` stands; says why it isn't healthy where it only seems so."""

    def __init__(self, walk: AtLeaf, keeper: "Keeper"):
        super().__init__(walk)
        self._keeper = keeper
        self._whole: Sequence[Stage] | None = None

    @work(exclusive=True, group="whole")
    async def find_whole(self) -> None:
        """Find out what a healthy leaf has to know, and what is known at one that is undecided."""
        if self.walk.leaf.verdict != "flaw":
            self._whole = await whole(self.walk, self._keeper, self.app.files)
            if self.stands:
                self.relabel()
                self.refresh_bindings()

    def grow(self, walk: AtLeaf, looks: Looks, changed: Mapping[Place, Change]) -> None:
        """Hold it against the rows that came, too."""
        super().grow(walk, looks, changed)
        self.find_whole()

    @property
    def doubted(self) -> bool:
        """Whether the walk ended undecided, or a healthy leaf says more than the trees before it and the
        answers on the way bear out; also until that is known.
        """
        if self.walk.leaf.verdict != "healthy":
            return self.walk.left_open is not None
        return self._whole is None or verdict_of(self._whole) != "healthy"

    def doubts(self, lang: str) -> Content:
        """Why the run isn't healthy at a healthy leaf or is undecided, and what would settle it."""
        if self._whole is None:
            return Content(self.say("walk.reading"))
        first, *more = of_end(self._whole, lang)
        parts = [(f"! {first.text}", "bold $accent")]
        if tree := self.tree_to_mend:
            named = self.say("walk.tree", tree=tree.tree, title=tree.title(lang))
            parts.append((f"   {named}", "$foreground-muted"))
        for line in more:
            label = f"\n{line.label} " if line.label else "\n"
            parts += [(label, "$foreground-muted"), (line.text, "")]
        return Content.assemble(*parts)

    @property
    def tree_to_mend(self) -> Tree | None:
        """The tree before this one that found a flaw, where this one is healthy."""
        if self._whole is None or walks.flawed(self.walk):
            return None
        stage = walks.deciding(self._whole)
        return stage.walk.tree if stage.flawed else None

    def action_before(self) -> None:
        """The tree before this one, which found a flaw: to walk it by hand."""
        if tree := self.tree_to_mend:
            self.app.open_walk(self.walk.run, tree)
