"""Looks: what the log says of a question, computed once: a rule takes a while over a long log."""

from collections.abc import Hashable

from tutor import walk as walks
from tutor.tree import Question
from tutor.walk import AtQuestion, Look


class Looks:
    """Looks by question, step under discussion and revision of the run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int | None, Hashable], Look] = {}

    def at(self, walk: AtQuestion) -> Look:
        """What the log says at `walk`."""
        key = walk.at, walk.focus, walk.run.revision
        if key not in self._known:
            self._known[key] = walks.look(walk)
        return self._known[key]


def bounds(question: Question, seen: Look) -> dict[str, float | None]:
    """The bounds of the rules that were applied, by the panel they are drawn on."""
    if seen.checks:
        return {question.checks[name].panel: finding.level for name, finding in seen.checks.items()}
    return {question.panel: seen.finding.level}


def steps_to_pick(walk: AtQuestion, seen: Look | None, looks: Looks) -> tuple[int, ...]:
    """The steps that may be taken up: what the question just answered, or the one before, has found."""
    if seen and seen.answers and walk.question.focus:
        finding = seen.finding
    elif walk.answers and walk.tree.questions[walk.answers[-1].question].focus:
        before = walks.back(walk)
        finding = looks.at(walks.back(before) if walk.prediction else before).finding
    else:
        return ()
    return (finding.step, *finding.others) if finding.step is not None else ()
