"""What stands beside a walk: the trees that come before its own, walked by the log or by the learner."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from tutor import tree as trees
from tutor import walk as walks
from tutor.walk import AtLeaf, Stage
from tutor.words import BadFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutor.run import Run
    from tutor.tree import Tree
    from tutor.ui.files import Files
    from tutor.ui.keeper import Keeper


def trees_before(run: Run, tree: Tree) -> Sequence[Stage]:
    """The trees before this one, walked by the log; none where one of them can't be read."""
    with suppress(BadFileError, ValueError):
        stages = walks.before(run, tree, trees.find)
        # Of a sealed run nothing is told that the learner has not found.
        return () if run.manifest.sealed and any(stage.flawed for stage in stages) else stages
    return ()


async def whole(walk: AtLeaf, keeper: Keeper, files: Files) -> list[Stage]:
    """The trees before `walk`, then itself: what a run that is called healthy has to have passed. A walk that
    ended undecided says by itself what is known.

    A tree that the learner has walked to its end counts as walked so: answers were given where the log can't
    tell.
    """
    if walk.left_open:
        return [await files.read(partial(_stage, walk))]
    stages = list(await files.read(partial(trees_before, walk.run, walk.tree)))
    for place, stage in enumerate(stages):
        own = await keeper.kept(walks.begin(walk.run, stage.walk.tree))
        if isinstance(own, AtLeaf):
            stages[place] = await files.read(partial(_stage, own))
    return [*stages, await files.read(partial(_stage, walk))]


def _stage(walk: AtLeaf) -> Stage:
    return Stage(walk, walks.looked_back(walk))
