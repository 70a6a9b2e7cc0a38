"""Cases: the sealed runs to practise on, which of them were solved, and what opens at the leaf of one."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

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


Result = Literal["solved", "led", "missed"]
"""Whether the first walk ended where it should by the learner's own answers, by the log's, or elsewhere."""


@dataclass(frozen=True)
class Cases:
    """The sealed runs that there are, and how the walks over them ended.

    Attributes:
        entries: by name.
        results: by the run's folder, how the first walk to its end went.
    """

    entries: Sequence[RunEntry] = ()
    results: Mapping[str, Result] | None = None

    @property
    def next(self) -> RunEntry | None:
        """The first that wasn't walked to its end."""
        return next((entry for entry in self.entries if self.result(entry) is None), None)

    @property
    def tally(self) -> dict[str, int]:
        """How many were walked, how many of these were solved, and how many are left."""
        ended = [result for entry in self.entries if (result := self.result(entry))]
        return {
            "right": ended.count("solved"),
            "count": len(ended),
            "left": len(self.entries) - len(ended),
        }

    def result(self, entry: RunEntry) -> Result | None:
        """How the walk over it went; None where none has ended yet."""
        return (self.results or {}).get(str(entry.path.resolve()))


@dataclass(frozen=True)
class Opened:
    """What is told at the leaf of a sealed run.

    Attributes:
        seal: what was hidden; None where it can't be told.
        wrong: why not.
        holds: the tree in which to walk before the seal opens; `onward` whether this leaf leads there.
        found: whether this walk ended where it should.
        led_at: the question at which the log's answer led it there; None where the learner's own did.
        leaf: where it should end; None where nothing is promised, or the tree isn't there.
        cases: all of them, this one among those that were walked.
    """

    seal: Seal | None
    wrong: SealError | None = None
    holds: str | None = None
    onward: bool = False
    found: bool = False
    led_at: str | None = None
    leaf: Leaf | None = None
    cases: Cases = Cases()


def cases_of(entries: Iterable[RunEntry], drafts: Iterable[Draft]) -> Cases:
    """The cases among the runs, with what the notebook keeps of them."""
    results: dict[str, Result] = {
        str(one.data.get("run")): _result(one) for one in drafts if one.kind == KIND
    }
    return Cases(sorted((one for one in entries if one.sealed), key=lambda one: one.name), results)


def _result(kept: Draft) -> Result:
    if kept.data.get("found") is not True:
        return "missed"
    return "led" if kept.data.get("led_at") else "solved"


def open_seal(walk: AtLeaf, notebook: Notebook) -> Opened:
    """Open the seal of the run of a walk that stands at its leaf, if this is the end; keep how it went."""
    try:
        seal = seals.seal_of(walk.run)
    except SealError as error:
        return Opened(None, error, cases=_all(notebook))
    if tree := seals.holds(walk, seal, opening(walk.run.path)):
        ahead = walk.leaf.next
        return Opened(seal, holds=tree, onward=ahead is not None and ahead.tree == tree)
    found, led_at = seals.found(walk, seal), seals.led_at(walk)
    key = draft_key(walk.run.name, KIND, walk.run.path)
    if seal.expect and notebook.draft(KIND, key) is None:
        kept = {"name": walk.run.name, "run": str(walk.run.path.resolve()), "found": found, "led_at": led_at}
        with suppress(NotebookError):  # the walk's own keeper has said so already
            notebook.save_draft(KIND, key, kept | {"tree": walk.tree.tree, "leaf": walk.at})
    return Opened(seal, found=found, led_at=led_at, leaf=_promised(seal), cases=_all(notebook))


def _promised(seal: Seal) -> Leaf | None:
    with suppress(ValueError, BadFileError):
        if seal.expect:
            return trees.find(seal.expect.tree, checked=False).leaves.get(seal.expect.leaf[0])
    return None


def _all(notebook: Notebook) -> Cases:
    return cases_of(runs.available(), notebook.drafts())
