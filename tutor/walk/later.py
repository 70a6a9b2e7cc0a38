"""Later: a walk over a run that went on training: what the log says now of the answers behind us."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tutor.run import Run
from tutor.walk.ending import waiting
from tutor.walk.machine import look
from tutor.walk.standing import UNSURE, Answer, AtQuestion, Look, Place, Walk

W = TypeVar("W", bound=Walk)


@dataclass(frozen=True)
class Change:
    """The log answers otherwise than it did when a question was answered.

    Attributes:
        question: its id.
        before: the outcome then; UNSURE where the log couldn't tell and the learner didn't say.
        now: the outcome now; UNSURE where the log can't tell any more.
        step: where that shows, None where it is about the whole run.
    """

    question: str
    before: str
    now: str
    step: int | None


def grown(walk: W, run: Run) -> W:
    """The same walk over the run with the rows that came. Nothing that was said is taken back."""
    return replace(walk, run=run)


def change(question: str, before: str, now: Look) -> Change | None:
    """The change from the outcome `before`, if it is one."""
    outcome = now.outcome if now.answers else UNSURE
    return None if outcome == before else Change(question, before, outcome, now.finding.step)


def changes(walk: Walk, at: Callable[[AtQuestion], Look] = look) -> Mapping[Place, Change]:
    """The answers behind us that the log no longer gives, by question and step under discussion.

    An answer of the learner's, who was asked because the log couldn't tell, is one as soon as the log can
    and says something else.

    Args:
        walk: over the run with the rows that came.
        at: what the log says at a question.
    """
    found: dict[Place, Change] = {}
    for place, answer in enumerate(walk.answers):
        now = at(_before(walk, place))
        if now.answers or answer.by == "log":
            changed = change(answer.question, answer.outcome, now) or _elsewhere(walk, place, now)
            if changed:
                found[answer.question, answer.focus] = changed
    return found


def looked_back(walk: Walk) -> list[Look]:
    """What the log says of each question behind us, and of the one at hand or at which the walk ended."""
    stood = [_before(walk, place) for place in range(len(walk.answers))]
    return [look(one) for one in (*stood, waiting(walk)) if one is not None]


def _before(walk: Walk, place: int) -> AtQuestion:
    """The walk as it stood before its answer number `place`, counted from 0."""
    answer = walk.answers[place]
    return AtQuestion(
        walk.run, walk.tree, answer.question, walk.start, answers=walk.answers[:place], focus=answer.focus
    )


def _elsewhere(walk: Walk, place: int, now: Look) -> Change | None:
    """The same outcome, but the step that the answer found is none of those that the log finds now."""
    answer: Answer = walk.answers[place]
    if not walk.tree.questions[answer.question].focus or answer.by != "log":
        return None
    then = walk.answers[place + 1].focus if place + 1 < len(walk.answers) else walk.focus
    if then in (now.finding.step, *now.finding.others, answer.focus):
        return None
    return Change(answer.question, answer.outcome, now.outcome, now.finding.step)
