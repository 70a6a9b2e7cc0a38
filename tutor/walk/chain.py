"""A chain: trees walked one after another with nobody watching, each where the leaf before it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tutor.run import Run
from tutor.tree import Handover, Tree
from tutor.walk.ending import flawed
from tutor.walk.machine import unattended
from tutor.walk.standing import AtLeaf, AtQuestion, Look, Place, Walk

Find = Callable[[str], Tree]
"""A tree by its name."""


@dataclass(frozen=True)
class Stage:
    """One tree of a chain, walked.

    Attributes:
        walk: where it ended.
        looks: what the log said, question by question.
    """

    walk: Walk
    looks: Sequence[Look]

    @property
    def flawed(self) -> bool:
        """Whether something is wrong."""
        return flawed(self.walk)

    @property
    def passed(self) -> int:
        """How many questions the log answered."""
        return sum(look.answers for look in self.looks)


def chain(run: Run, tree: Tree, find: Find | None = None) -> list[Stage]:
    """`tree` and, with `find`, those to which its leaves lead, each once.

    A leaf that only opens a tree to be walked by hand ends the chain.
    """
    stages: list[Stage] = []
    start: Place | None = None
    walked = {tree.tree}
    while True:
        stages.append(Stage(*unattended(run, tree, start)))
        ahead = _ahead(stages[-1].walk)
        if find is None or ahead is None or ahead.tree in walked:
            return stages
        walked.add(ahead.tree)
        tree = find(ahead.tree)
        start = (ahead.question or tree.start, stages[-1].walk.focus)


def _ahead(walk: Walk) -> Handover | None:
    """Where the leaf leads with nobody watching."""
    ahead = walk.leaf.next if isinstance(walk, AtLeaf) else None
    return None if ahead is None or ahead.by_hand else ahead


def before(run: Run, tree: Tree, find: Find) -> list[Stage]:
    """The trees whose questions come before `tree`'s, the first one first, each walked from its top."""
    stages: list[Stage] = []
    walked = {tree.tree}
    while (name := tree.after) and name not in walked:
        walked.add(name)
        tree = find(name)
        stages.insert(0, Stage(*unattended(run, tree)))
    return stages


def deciding(stages: Sequence[Stage]) -> Stage:
    """The stage that says what the run is: the last that found a flaw, else one that stood still, else the
    last.
    """
    for says in (flawed, lambda walk: isinstance(walk, AtQuestion)):
        for stage in reversed(stages):
            if says(stage.walk):
                return stage
    return stages[-1]


def first_found(stages: Sequence[Stage]) -> Stage:
    """The stage where a learner stops: the first that found a flaw, else the one that decides.

    Its leaf may lead on to a tree that finds more; nobody has to go there.
    """
    return next((stage for stage in stages if stage.flawed), deciding(stages))
