"""The flaws there are: each leaf of each tree that names one, with the cards whose break ends there."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from tutor import card as cards
from tutor import catalog, detectors, paths, readers, walk
from tutor import tree as trees
from tutor.card import Card
from tutor.run import BadRunError, Run
from tutor.runfolder.manifest import read_manifest
from tutor.tree import Leaf, Outcome, Question, Tree
from tutor.words import BadFileError


@dataclass(frozen=True)
class Flaw:
    """One flaw.

    Attributes:
        tree: the tree that ends there.
        id: the leaf's.
        ways: the answers that lead to it: questions with their outcomes, in reading order.
        cards: the breaks whose cards promise it.
        called: what to ask for it by: its id, or `tree/leaf` where another tree has one of that id.
    """

    tree: Tree
    id: str
    ways: tuple[tuple[str, str], ...]
    cards: tuple[Card, ...] = ()
    called: str = ""

    @property
    def leaf(self) -> Leaf:
        """Its leaf."""
        return self.tree.leaves[self.id]

    @property
    def name(self) -> str:
        """Its name among all trees: `tree/leaf`."""
        return f"{self.tree.tree}/{self.id}"

    @property
    def question(self) -> Question:
        """The question whose answer first leads to it."""
        return self.tree.questions[self.ways[0][0]]

    @property
    def answers(self) -> Iterator[tuple[Question, Outcome]]:
        """The questions and their answers that lead to it."""
        for question, outcome in self.ways:
            asked = self.tree.questions[question]
            yield asked, asked.outcomes[outcome]

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that the rules of these questions need, each once."""
        known = detectors.registry()
        rules = [rule for question, _ in self.answers for rule in question.rules]
        needed = [one for rule in rules for one in known[rule.detector].signals]
        flat = [name for one in needed for name in ((one,) if isinstance(one, str) else one)]
        return tuple(dict.fromkeys(flat))

    def look_alikes(self) -> Iterator[tuple[Question, Outcome, Leaf]]:
        """Other flaws, each with the question and the answer that tell it from this one.

        They hang off the same question, or off the next one behind its other answers.
        """
        seen = {self.id}
        for id, mine in self.ways:
            question = self.tree.questions[id]
            for name, outcome in question.outcomes.items():
                if name == mine:
                    continue
                behind = self.tree.nexts(outcome.next) if outcome.next else ((name, outcome.goal),)
                for _, goal in behind:
                    leaf = self.tree.leaves.get(goal)
                    if leaf and leaf.verdict == "flaw" and goal not in seen:
                        seen.add(goal)
                        yield question, outcome, leaf


def all_flaws() -> list[Flaw]:
    """Every flaw of every tree, in the order of the trees and of their leaves."""
    known = list(_cards())
    found = [
        Flaw(tree, id, ways, tuple(card for card in known if _promises(card, tree, id)))
        for tree in _trees()
        for id, leaf in tree.leaves.items()
        if leaf.verdict == "flaw" and (ways := tuple(_ways(tree, id)))
    ]
    ids = Counter(flaw.id for flaw in found)
    return [replace(flaw, called=flaw.id if ids[flaw.id] == 1 else flaw.name) for flaw in found]


def _trees() -> Iterator[Tree]:
    for path in trees.available().values():
        try:
            yield trees.load(path, checked=False)
        except BadFileError:
            continue  # `tutor trees check` says what is wrong with it


def _cards() -> Iterator[Card]:
    for path in cards.available().values():
        try:
            yield cards.load(path, checked=False)
        except BadFileError:
            continue


def _ways(tree: Tree, leaf: str) -> Iterator[tuple[str, str]]:
    for question in tree.questions:
        for outcome, goal in tree.nexts(question):
            if goal == leaf:
                yield question, outcome


def _promises(card: Card, tree: Tree, leaf: str) -> bool:
    return bool(card.expect and leaf in card.expect.leaves.get(tree.tree, ()))


def find(name: str) -> Flaw:
    """The flaw of that name: a leaf's id, `tree/leaf` where two trees have it, or a break's name.

    Raises:
        ValueError: there is none, or several; the nearest name is offered.
    """
    known = all_flaws()
    named = [flaw for flaw in known if name in (flaw.id, flaw.name)]
    named = named or [flaw for flaw in known if name in (card.name for card in flaw.cards)]
    if len(named) > 1:
        raise ValueError(f"{name!r} is {' and '.join(flaw.name for flaw in named)}: name one of them")
    if not named:
        ids = [flaw.id for flaw in known] + [card.name for flaw in known for card in flaw.cards]
        raise ValueError(catalog.unknown("flaw", name, dict.fromkeys(ids)))
    return named[0]


def own_walk(flaw: Flaw) -> walk.Walk | None:
    """A walk that ends at the flaw, over a run that ships with tutor and was trained with its break.

    None where none ships. A sealed run is never looked at: it would be given away.
    """
    names = {card.name for card in flaw.cards}
    for run in _recorded():
        if run.manifest.break_name in names:
            ended, _ = walk.unattended(run, flaw.tree)
            if ended.at == flaw.id:
                return ended
    return None


@cache
def _recorded() -> list[Run]:
    """The runs of a break that ship unsealed."""
    folder = paths.shipped() / "runs"
    found: list[Run] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(BadRunError, OSError):
            manifest, _ = read_manifest(path)
            if manifest.role == "break" and not manifest.sealed:
                found.append(readers.read(path))
    return found
