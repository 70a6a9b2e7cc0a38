"""Cases: the sealed runs to practise on, which of them were solved, and what opens at the leaf of one."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tutor import seal as seals
from tutor import tree as trees
from tutor.notebook import Draft, Notebook, NotebookError, draft_key
from tutor.opening import opening
from tutor.seal import Seal, SealError
from tutor.tree import Leaf
from tutor.ui import runs
from tutor.ui.runs import RunEntry
from tutor.walk import AtLeaf
from tutor.words import BadFileError

KIND = "case"
"""Drafts that say how the first walk over a case ended; a later one knows what was put in."""


@dataclass(frozen=True)
class Cases:
    """The sealed runs that there are, and how the walks over them ended.

    Attributes:
        entries: by name.
        solved: by the run's folder, whether the first walk to its end found what was put in.
    """

    entries: Sequence[RunEntry] = ()
    solved: Mapping[str, bool] | None = None

    @property
    def next(self) -> RunEntry | None:
        """The first that wasn't walked to its end."""
        return next((entry for entry in self.entries if self.result(entry) is None), None)

    @property
    def tally(self) -> dict[str, int]:
        """How many were walked, how many of these were solved, and how many are left."""
        ended = [result for entry in self.entries if (result := self.result(entry)) is not None]
        return {"right": sum(ended), "count": len(ended), "left": len(self.entries) - len(ended)}

    def result(self, entry: RunEntry) -> bool | None:
        """Whether the walk over it found what was put in; None where none has ended yet."""
        return (self.solved or {}).get(str(entry.path.resolve()))


@dataclass(frozen=True)
class Opened:
    """What is told at the leaf of a sealed run.

    Attributes:
        seal: what was hidden; None where it can't be told.
        wrong: why not.
        holds: the tree in which to walk before the seal opens; `onward` whether this leaf leads there.
        found: whether this walk ended where it should.
        leaf: where it should end; None where nothing is promised, or the tree isn't there.
        cases: all of them, this one among those that were walked.
    """

    seal: Seal | None
    wrong: SealError | None = None
    holds: str | None = None
    onward: bool = False
    found: bool = False
    leaf: Leaf | None = None
    cases: Cases = Cases()


def cases_of(entries: Iterable[RunEntry], drafts: Iterable[Draft]) -> Cases:
    """The cases among the runs, with what the notebook keeps of them."""
    solved = {str(one.data.get("run")): one.data.get("found") is True for one in drafts if one.kind == KIND}
    return Cases(sorted((one for one in entries if one.sealed), key=lambda one: one.name), solved)


def open_seal(walk: AtLeaf, notebook: Notebook) -> Opened:
    """Open the seal of the run of a walk that stands at its leaf, if this is the end; keep how it went."""
    try:
        seal = seals.seal_of(walk.run)
    except SealError as error:
        return Opened(None, error, cases=_all(notebook))
    if tree := seals.holds(walk, seal, opening(walk.run.path)):
        ahead = walk.leaf.next
        return Opened(seal, holds=tree, onward=ahead is not None and ahead.tree == tree)
    found = seals.found(walk, seal)
    key = draft_key(walk.run.name, KIND, walk.run.path)
    if seal.expect and notebook.draft(KIND, key) is None:
        kept = {"name": walk.run.name, "run": str(walk.run.path.resolve()), "found": found}
        with suppress(NotebookError):  # the walk's own keeper has said so already
            notebook.save_draft(KIND, key, kept | {"tree": walk.tree.tree, "leaf": walk.at})
    return Opened(seal, found=found, leaf=_promised(seal), cases=_all(notebook))


def _promised(seal: Seal) -> Leaf | None:
    with suppress(ValueError, BadFileError):
        if seal.expect:
            return trees.find(seal.expect.tree, checked=False).leaves.get(seal.expect.leaf[0])
    return None


def _all(notebook: Notebook) -> Cases:
    return cases_of(runs.available(), notebook.drafts())
