"""What a schema can't see of a tree's leaves, and of the hypotheses that stand for them."""

from collections.abc import Iterator

from tutor import catalog, paths, settings
from tutor.tree.leaves import UNDECIDED, Advice, Leaf, Times
from tutor.tree.schema import Outcome, Tree
from tutor.words.document import Where

Found = Iterator[tuple[Where, str]]
"""Keys and indexes that lead to the place in the tree's files, and the sentence."""


def of_hypotheses(tree: Tree) -> Found:
    """Leaves named by a hypothesis that aren't there."""
    for id, one in tree.hypotheses.items():
        for leaf in one.leaves:
            if leaf not in tree.leaves:
                what = catalog.unknown("leaf", leaf, tree.leaves)
                yield ("hypotheses", id, "leaves"), f"hypothesis {id}: {what}"


def of_leaf(tree: Tree, id: str, leaf: Leaf) -> Found:
    """Of a leaf: what its fixes change, when its advice holds, what it shows, and where it leads on."""
    here = ("leaves", id)
    if UNDECIDED in (id, leaf.verdict):
        yield here, f"leaf {id}: where nobody can answer, a walk ends {UNDECIDED} by itself; no leaf is"
    for fix, remedy in leaf.remedies.items():
        for name, value in remedy.change.items():
            try:
                settings.build({name: 1 if isinstance(value, Times) else value})
            except ValueError as error:
                yield (*here, "fixes", fix, "change", name), f"leaf {id}: {error}"
    for name, advice in leaf.advice.items():
        yield from _advice(tree, (*here, "advice", name, "when"), id, advice)
    yield from _table(tree, (*here, "table"), f"leaf {id}", leaf)
    for name in leaf.breaks:
        if not any((folder / "breaks" / f"{name}.yaml").is_file() for folder in paths.folders("trees")):
            yield (*here, "breaks"), f"leaf {id}: there is no break {name!r}"
    if leaf.next:
        yield from _handover(tree, (*here, "next"), f"leaf {id}", leaf)


def _advice(tree: Tree, here: Where, id: str, advice: Advice) -> Found:
    """Questions that aren't there, and answers that nobody gives on the way to the leaf."""
    for question, outcome in advice.when.items():
        if question not in tree.questions:
            yield (*here, question), f"leaf {id}: there is no question {question!r}"
        elif outcome is None:
            continue
        elif outcome not in tree.questions[question].outcomes:
            yield (*here, question), f"leaf {id}: question {question} has no outcome {outcome!r}"
        elif id not in _reached(tree, tree.questions[question].outcomes[outcome]):
            yield (*here, question), f"leaf {id}: no path leads from {question}, {outcome}, to here"


def _table(tree: Tree, where: Where, what: str, leaf: Leaf) -> Found:
    """A table of a question that isn't there, or that has no checks to make one of."""
    if leaf.table is None:
        return
    if leaf.table not in tree.questions:
        yield where, f"{what}: {catalog.unknown('question', leaf.table, tree.questions)}"
    elif not tree.questions[leaf.table].checks:
        yield where, f"{what}: question {leaf.table} has no checks to make a table of"


def _handover(tree: Tree, where: Where, what: str, leaf: Leaf) -> Found:
    from tutor import tree as trees

    assert leaf.next
    if leaf.next.tree == tree.tree:
        yield (*where, "tree"), f"{what}: leads on to its own tree; an outcome's `next` does that"
        return
    known = trees.available()
    if leaf.next.tree not in known:
        yield (*where, "tree"), f"{what}: {catalog.unknown('tree', leaf.next.tree, known)}"
        return
    try:
        other = trees.load(known[leaf.next.tree], checked=False)  # its check could lead back here
    except ValueError as error:
        yield (*where, "tree"), f"{what}: {error}"
        return
    if leaf.next.question is not None and leaf.next.question not in other.questions:
        yield (
            (*where, "question"),
            f"{what}: {catalog.unknown(f'question of {other.tree}', leaf.next.question, other.questions)}",
        )


def _reached(tree: Tree, outcome: Outcome) -> set[str]:
    """The ids of questions and leaves that an outcome may lead to."""
    found, open_ids = set(), [outcome.goal]
    while open_ids:
        id = open_ids.pop()
        if id not in found:
            found.add(id)
            open_ids += [goal for _, goal in tree.nexts(id)] if id in tree.questions else []
    return found
