"""Seal: what a sealed run keeps to itself until its walk has ended, and whether that walk found it."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from tutor import card as cards
from tutor.card import Card, Expect
from tutor.run import Run
from tutor.runfolder import TRUTH
from tutor.runfolder.truth import SealError, read_truth
from tutor.walk import UNSURE, Answer, AtLeaf
from tutor.words import BadFileError

__all__ = ["Seal", "SealError", "found", "holds", "led_at", "seal_of"]


@dataclass(frozen=True)
class Seal:
    """What was hidden in a sealed run.

    Attributes:
        card: of its break; None for a run of none.
        broken: whether it has that break; a control, or a run with a fix, hasn't.
        expect: the tree and the leaves, one of which its walk should reach; None where nothing is promised.
        command: that records the run again.
    """

    card: Card | None
    broken: bool
    expect: Expect | None
    command: str


def seal_of(run: Run) -> Seal:
    """The opened seal of a sealed run. Reads files.

    Raises:
        SealError: what it holds is missing, was changed, or can't be understood; in one line.
    """
    truth, path = read_truth(run.path, run.manifest), str(run.path / TRUTH)
    name, command = truth.get("break"), truth.get("command")
    try:
        expect = Expect.model_validate(truth["expect"]) if truth.get("expect") else None
    except ValidationError:
        raise SealError("odd", path=path) from None
    if not (name is None or isinstance(name, str)) or not isinstance(command, str):
        raise SealError("odd", path=path)
    return Seal(_card(name, path) if name else None, truth.get("role") == "break", expect, command)


def holds(walk: AtLeaf, seal: Seal, opening: str) -> str | None:
    """The tree in which the walk has to go on, or to begin, before the seal opens; None once it is open.

    It opens at a leaf of the tree that it promises, and where the first tree ends without a way on.

    Args:
        walk: at its leaf.
        seal: what the run keeps to itself.
        opening: the tree in which a walk over the run begins.
    """
    here, ahead = walk.tree.tree, walk.leaf.next
    if seal.expect is None or here == seal.expect.tree:
        return None
    if here != opening:
        return opening
    return ahead.tree if ahead and not ahead.by_hand else None


def found(walk: AtLeaf, seal: Seal) -> bool:
    """Whether the walk ended where it should."""
    return seal.expect is not None and walk.tree.tree == seal.expect.tree and walk.at in seal.expect.leaf


def led_at(walk: AtLeaf) -> str | None:
    """The question at which the log's answer led the walk to its leaf, and not the learner's own.

    At a leaf that names a flaw it is the last one that the log answered; where nothing is wrong, any at which
    the learner saw what isn't there. None where the learner answered as the log does, or missed by a hair.
    """
    asked = [answer for answer in walk.answers if answer.by == "log"]
    if not asked:
        return None
    if walk.leaf.verdict != "flaw" and any(map(_told, asked)):
        asked = [answer for answer in asked if answer.prediction and answer.prediction.outcome != UNSURE]
        return next((answer.question for answer in asked if not _told(answer)), None)
    return None if _told(asked[-1]) else asked[-1].question


def _told(answer: Answer) -> bool:
    """Whether the learner said what the log says, before it spoke."""
    said = answer.prediction
    return said is not None and not said.seen_before and (answer.hit or answer.close)


def _card(name: str, path: str) -> Card:
    try:
        return cards.find(name, checked=False)
    except (ValueError, BadFileError, OSError):
        raise SealError("no_card", path=path, name=str(Path(name).name)) from None
