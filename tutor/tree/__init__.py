"""Tree: a graph of questions that ends in leaves. Finding, loading and checking.

`tutor trees check FILE` runs `load` over one file: every fault is named with file and line.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from tutor import paths
from tutor.tree.schema import Check, Fix, Leaf, Number, Outcome, Question, Rule, Times, Tree
from tutor.words import BadFileError, Document

__all__ = [
    "Check",
    "Fix",
    "Leaf",
    "Outcome",
    "Question",
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
    """The tree in the YAML file at `path`, checked whole, or only its schema when `checked` is False.

    Raises:
        BadFileError: with every fault found, each with its line.
    """
    document = Document(path)
    tree = document.parse(Tree)
    tree._document = document
    if checked:
        check(tree)
    return tree


def check(tree: Tree) -> None:
    """Find what a schema can't see: names that lead nowhere, numbers that no rule takes, loops.

    Raises:
        BadFileError: with every fault found, each with its line.
    """
    from tutor.tree.faults import find_faults  # with every detector and setting: a walk begins without them

    document = tree._document
    if faults := [(document.line(*where), what) for where, what in find_faults(tree)]:
        raise BadFileError(document.path, faults)


def find(name: str, *, checked: bool = True) -> Tree:
    """The tree of that name, or in that file. `checked=False` leaves the check of a shipped one for later.

    Raises:
        BadFileError: a file with faults.
        ValueError: no such tree; the nearest name is offered.
    """
    if name.endswith((".yaml", ".yml")):
        return load(Path(name))
    for folder in paths.folders("trees"):
        if (path := folder / f"{name}.yaml").is_file():
            return load(path, checked=checked or folder != paths.shipped() / "trees")
    known = available()
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    raise ValueError(
        f"there is no tree {name!r}; "
        + (f"did you mean {near[0]}?" if near else f"they are: {', '.join(known)}")
    )


def available() -> dict[str, Path]:
    """Every tree's file by name, the user's own before the shipped one of the same name."""
    found: dict[str, Path] = {}
    for folder in paths.folders("trees"):
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, path)
    return found


def numbers(detector: str, asked: Tree | None = None) -> Mapping[str, Number]:
    """The numbers by which a question of `asked`, else of phase-19, runs the detector.

    For tables beside a walk, so that the two never disagree.
    """
    for tree in filter(None, (asked, find("phase-19"))):
        for question in tree.questions.values():
            for rule in filter(None, (question.rule, *(check.rule for check in question.checks.values()))):
                if rule.detector == detector:
                    return rule.numbers
    raise ValueError(f"no question of phase-19 uses the detector {detector!r}")
