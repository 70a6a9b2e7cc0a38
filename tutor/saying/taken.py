"""What is said of an answer on the path: which it was, and whether it is the log's."""

from tutor.saying.question import answer_label
from tutor.tree import Tree
from tutor.walk import Answer, Walk
from tutor.words import say

BY = {"learner": "walk.by_you", "assumed": "walk.assumed"}
"""Whose answer it is where it isn't the log's."""


def of_taken(answer: Answer, tree: Tree, lang: str) -> str:
    """The answer, and whose it is where it isn't the log's.

    An optional question that nobody could answer was left out: what is assumed there is said of no run.
    """
    question = tree.questions[answer.question]
    if answer.by == "assumed" and question.optional:
        return say("walk.left_out", lang)
    label = answer_label(question, answer.outcome, lang)
    return f"{label} ({say(BY[answer.by], lang)})" if answer.by in BY else label


def of_path(walk: Walk, lang: str) -> list[str]:
    """Each answer on the path after its question's number."""
    return [f"{answer.question} {of_taken(answer, walk.tree, lang)}" for answer in walk.answers]


def of_guesses(walk: Walk, lang: str) -> list[str]:
    """The answers that the log didn't give and that the end of the walk rests on, each after its question."""
    asked = walk.tree.questions
    return [
        f"{one.question} {asked[one.question].title(lang)} {of_taken(one, walk.tree, lang)}"
        for one in walk.answers
        if one.by == "learner" or (one.by == "assumed" and not asked[one.question].optional)
    ]
