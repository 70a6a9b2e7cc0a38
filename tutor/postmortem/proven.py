"""What was proven before the post-mortem: observations by panel, and the learner's own root cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from tutor.words import Strict

if TYPE_CHECKING:
    from tutor.postmortem.form import PostMortem


class Proven(Strict):
    """An observation: the panel, and what the log said to the learner who was right, in their language."""

    panel: str
    text: str


P = TypeVar("P", bound="PostMortem")


def with_proven(pm: P, proven: Sequence[Proven], cause: str) -> P:
    """The post-mortem with what was proven: kept as evidence, and filled in where the learner left it empty.

    A cell of a panel that was proven takes what the log says of it, where a rule can tell.
    """
    panels = {one.panel for one in proven}
    filled = {
        cell: reading.verdict
        for cell, reading in pm.log.items()
        if cell.partition("/")[0] in panels and reading.verdict != "silent" and not pm.evidence.get(cell)
    }
    evidence = {**pm.evidence, **filled}
    return pm.but(proven=tuple(proven), evidence=evidence, cause=pm.cause or cause)
