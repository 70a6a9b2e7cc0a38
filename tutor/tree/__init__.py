"""Tree: a graph of questions that ends in leaves. Finding, loading and checking.

A tree is a graph, `trees/phase-19.yaml`, and its prose in one file per language beside it. `tutor trees
check` runs `load` over it: every problem is named with file and line.
"""

from collections.abc import Mapping
from pathlib import Path

from tutor import catalog, paths
from tutor.tree.leaves import UNDECIDED, Advice, Handover, Leaf, Remedy, Times
from tutor.tree.numbers import Group, Number
from tutor.tree.schema import Check, Hypothesis, Outcome, Question, Rule, Tree
from tutor.words import BadFileError
from tutor.words.prose import Joined, graph_of, named_graphs

__all__ = [
    "UNDECIDED",
    "Advice",
    "Check",
    "Handover",
    "Hypothesis",
    "Leaf",
    "Outcome",
    "Question",
    "Remedy",
    "Rule",
    "Times",
    "Tree",
    "available",
    "check",
    "find",
    "load",
    "numbers",
]


def load(path: Path, *, checked: bool = True) -> Tree:
    """The tree whose graph, or whose prose, is the YAML file at `path`.

    Args:
        checked: whole, or only its schema.

    Raises:
        BadFileError: with every problem found, each with its file and line.
    """
    files = Joined(graph_of(path), Tree)
    tree = files.parse()
    tree._files = files
    if checked:
        check(tree)
    return tree


def check(tree: Tree) -> None:
    """Find what a schema can't see: sentences that one language lacks, names that lead nowhere, loops.

    Raises:
        BadFileError: with every problem found, each with its file and line.
    """
    from tutor.tree.problems import (
        find_problems,  # with every detector and setting: a walk begins without them
    )

    files = tree._files
    assert files, "a tree is checked as it lies in its files"
    if problems := [*files.problems, *(files.problem(where, what) for where, what in find_problems(tree))]:
        raise BadFileError(problems)


BY_HAND = "scale"
"""The tree that asks what to do now, not what is wrong: no other leads to it with nobody watching, so that a
walk over it begins there.
"""


def find(name: str, *, checked: bool = True) -> Tree:
    """The tree of that name, or in that file. `checked=False` leaves the check of a shipped one for later.

    Raises:
        BadFileError: a file with problems.
        ValueError: no such tree; the nearest name is offered.
    """
    if name.endswith((".yaml", ".yml")):
        return load(Path(name))
    known = available()
    if name not in known:
        raise ValueError(catalog.unknown("tree", name, known))
    return load(known[name], checked=checked or known[name].parent != paths.shipped() / "trees")


def available() -> dict[str, Path]:
    """Every tree's graph by name, the user's own before the shipped one of the same name."""
    return catalog.listing("trees", named_graphs)


def numbers(detector: str, tree: Tree) -> Mapping[str, Number | Group] | None:
    """The numbers by which a question of the tree runs the detector, or None where no question does.

    For tables beside a walk, so that the two never disagree.
    """
    rules = (rule for question in tree.questions.values() for rule in question.rules)
    return next((rule.numbers for rule in rules if rule.detector == detector), None)
