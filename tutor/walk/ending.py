"""What a walk came to: the answers that were symptoms, its verdict, and what it rules out."""

from collections.abc import Collection

from tutor.tree import Leaf, Outcome
from tutor.walk.machine import back
from tutor.walk.standing import AtLeaf, AtQuestion, Walk
from tutor.words import Words


def taken(walk: Walk) -> list[Outcome]:
    """The outcomes on the path, in order."""
    return [walk.tree.questions[answer.question].outcomes[answer.outcome] for answer in walk.answers]


def flawed(walk: Walk) -> bool:
    """Whether something is wrong: the leaf is a flaw, or an answer on the way to it was a symptom."""
    if isinstance(walk, AtLeaf) and walk.leaf.verdict == "flaw":
        return True
    return any(outcome.symptom for outcome in taken(walk))


def unanswered(walk: Walk, *, optional: bool = False) -> list[str]:
    """The questions answered by assumption, in order: those that healthy needs, or the optional ones."""
    assumed = (answer.question for answer in walk.answers if answer.by == "assumed")
    return [question for question in assumed if walk.tree.questions[question].optional == optional]


def verdict(walk: Walk) -> str:
    """ "healthy", "flaw" or "undecided".

    "flaw" wherever something is wrong, also where the log is not enough to name it. Undecided without a leaf,
    and at a healthy one where what healthy needs was only assumed, or a part of the log went unseen.
    """
    if flawed(walk):
        return "flaw"
    if isinstance(walk, AtQuestion) or walk.run.unseen or unanswered(walk):
        return "undecided"
    return walk.leaf.verdict


def named(walk: Walk) -> Leaf | None:
    """The leaf that says what is wrong or that nothing is; None where the log is not enough for either."""
    leaf = walk.leaf
    return leaf if leaf is not None and leaf.verdict == verdict(walk) != "undecided" else None


def waiting(walk: Walk) -> AtQuestion | None:
    """The walk at the question that it waits for, or ended undecided at; None at a leaf of its tree."""
    if isinstance(walk, AtQuestion):
        return walk
    return back(walk) if walk.left_open else None


def suspicions(walk: Walk) -> list[str]:
    """The questions whose answers were symptoms, in order."""
    outcomes = zip(walk.answers, taken(walk), strict=True)
    return [answer.question for answer, outcome in outcomes if outcome.symptom]


def known_answers(walk: Walk) -> dict[str, str]:
    """The outcomes by question that the log or the learner gave: what was assumed is no ground for advice."""
    return {answer.question: answer.outcome for answer in walk.answers if answer.by != "assumed"}


def remarked(walk: Walk) -> list[tuple[str, Outcome]]:
    """The questions that the log answered with a remark, worth a look and no flaw, with these, in order."""
    outcomes = zip(walk.answers, taken(walk), strict=True)
    return [
        (answer.question, outcome)
        for answer, outcome in outcomes
        if answer.by == "log" and outcome.kind == "remark"
    ]


def ruled_out(walk: Walk, but: Collection[str] = ()) -> list[Words]:
    """The look-alikes that the log's answers on the path rule out, in order; a guess rules none out.

    Args:
        walk: where it stands.
        but: questions whose look-alike has been named already.
    """
    outcomes = zip(walk.answers, taken(walk), strict=True)
    told = [one for answer, one in outcomes if answer.by == "log" and answer.question not in but]
    return [one.rules_out for one in told if one.rules_out]
