"""Branches: a tree as the lines of a drawing, with each question once, however many ways lead to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from tutor.tree.schema import Tree

FORK, LAST, DOWN, GAP = "├─ ", "└─ ", "│  ", "   "


@dataclass(frozen=True)
class Twig:
    """One line of the drawing.

    Attributes:
        rails: the lines to the left of it.
        question: the id of the question that it is of.
        outcomes: the answers that lead to `goal`; none where the line is the question's own.
        goal: the id of a question or of a leaf.
        on: how it goes on to a goal that is a question: "below", its branch begins on the next line; "trunk",
            it is the next question down; "elsewhere", it stands on another branch. "" for a leaf.
    """

    rails: str
    question: str
    outcomes: tuple[str, ...] = ()
    goal: str = ""
    on: str = ""


def branches(tree: Tree) -> Iterator[Twig]:
    """The lines, from the first question down.

    A branch runs straight down through the questions that come last in reading order; what leads
    elsewhere hangs off to its right.
    """
    yield from _branch(tree, tree.start, "", set())


def _branch(tree: Tree, start: str, rails: str, drawn: set[str]) -> Iterator[Twig]:
    trunk = _trunk(tree, start, drawn)
    for question, following in zip(trunk, [*trunk[1:], None], strict=True):
        yield Twig(rails, question)
        goals: dict[str, list[str]] = {}
        for name, goal in tree.nexts(question):
            goals.setdefault(goal, []).append(name)
        onward = goals.pop(following, None) if following else None
        for number, (goal, names) in enumerate(goals.items(), 1):
            last = number == len(goals) and not following
            below = goal in tree.questions and goal not in drawn
            on = "" if goal in tree.leaves else "below" if below else "elsewhere"
            yield Twig(rails + (LAST if last else FORK), question, tuple(names), goal, on)
            if below:
                yield from _branch(tree, goal, rails + (GAP if last else DOWN), drawn)
        if following and onward:
            yield Twig(rails + DOWN, question, tuple(onward), following, "trunk")


def _trunk(tree: Tree, start: str, drawn: set[str]) -> list[str]:
    """The questions from `start` straight down, which count as drawn from here on."""
    order = list(tree.questions)
    trunk = [start]
    drawn.add(start)
    while ahead := {goal for _, goal in tree.nexts(trunk[-1]) if goal in tree.questions} - drawn:
        trunk.append(max(ahead, key=order.index))
        drawn.add(trunk[-1])
    return trunk
