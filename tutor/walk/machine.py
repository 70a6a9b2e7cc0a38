"""The machine: begin, look, predict, go on, back. It knows neither screens nor files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from tutor import detectors
from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.run import Run
from tutor.tree import Leaf, Outcome, Question, Tree

UNSURE = "?"
"""The prediction that the log can't tell."""

Place = tuple[str, int | None]
"""A question and the step under discussion: what the log says of it depends on both."""


@dataclass(frozen=True)
class Look:
    """What the log says of one question.

    Attributes:
        outcome: one of the question's, or NO_DATA, or NOT_YET.
        finding: of the rule, or of the check that decided, with the facts of those before it.
        checks: every check's finding by its name, where the question has several.
        close: the rule decided by a hair, as the tree has it.
    """

    question: str
    outcome: str
    finding: Finding
    checks: Mapping[str, Finding]
    close: bool = False

    @property
    def answers(self) -> bool:
        """Whether the log can tell."""
        return self.outcome not in (NO_DATA, NOT_YET)


@dataclass(frozen=True)
class Prediction:
    """What the learner said before going on.

    Attributes:
        outcome: one of the question's, or UNSURE.
        confidence: from 1 to 5.
        seen_before: the log had spoken of this question before the prediction was made, so it tests nothing.
    """

    outcome: str
    confidence: int
    seen_before: bool = False


@dataclass(frozen=True)
class Answer:
    """A question that lies behind us.

    Attributes:
        outcome: the one taken.
        by: "log", "learner" (the log couldn't tell) or "assumed" (nor did anybody know, or nobody was there).
        focus: the step under discussion when the question was asked.
        facts: what was measured.
        close: the log decided by a hair.
    """

    question: str
    outcome: str
    by: str
    prediction: Prediction | None
    hints: int
    focus: int | None
    facts: Mapping[str, Any]
    close: bool = False


@dataclass(frozen=True)
class _Walk:
    """What a walk has wherever it stands.

    Attributes:
        run: the run walked.
        tree: the tree walked.
        at: the id of the question or leaf.
        start: where it began: the tree's first question, or the one to which a leaf of another tree led.
        id: of this attempt: 32 hexadecimal digits.
        attempt: counts from 1, and up with each `again`.
        answers: the path.
        focus: the step under discussion, or None.
        spoken: of which questions, at which step, the learner has seen what the log says. Undoing an answer
            leaves it as it is.
    """

    run: Run
    tree: Tree
    at: str
    start: Place
    id: str = field(default_factory=lambda: uuid4().hex)
    attempt: int = 1
    answers: tuple[Answer, ...] = ()
    focus: int | None = None
    spoken: frozenset[Place] = frozenset()

    @property
    def facts(self) -> dict[str, Any]:
        """What was measured on the path, the later over the earlier, and `focus`, the step discussed."""
        gathered: dict[str, Any] = {}
        for answer in self.answers:
            gathered |= answer.facts
        return gathered | {"focus": self.focus}


@dataclass(frozen=True)
class AtQuestion(_Walk):
    """A walk at a question.

    Attributes:
        prediction: the one committed for it, or None.
        hints: how many of the question's are shown.
    """

    prediction: Prediction | None = None
    hints: int = 0

    @property
    def question(self) -> Question:
        """The question at hand."""
        return self.tree.questions[self.at]

    @property
    def leaf(self) -> None:
        """None: the walk goes on."""


@dataclass(frozen=True)
class AtLeaf(_Walk):
    """A walk at its end."""

    prediction: None = field(default=None, init=False)
    hints: int = field(default=0, init=False)

    @property
    def question(self) -> None:
        """None: a leaf asks nothing."""

    @property
    def leaf(self) -> Leaf:
        """The leaf."""
        return self.tree.leaves[self.at]


Walk = AtQuestion | AtLeaf


def begin(run: Run, tree: Tree, start: Place | None = None, *, attempt: int = 1) -> AtQuestion:
    """A walk at `start`, or at the tree's first question."""
    start = start or (tree.start, None)
    question, focus = start
    return AtQuestion(run, tree, question, start, attempt=attempt, focus=focus)


def again(walk: Walk, start: Place | None = None) -> AtQuestion:
    """The next attempt, from `start` or where this one began. It knows that it isn't the first."""
    return begin(walk.run, walk.tree, start or walk.start, attempt=walk.attempt + 1)


def look(walk: AtQuestion) -> Look:
    """What the log says of the question at hand."""
    seen = _look(walk)
    margin = seen.finding.margin
    return replace(seen, close=seen.answers and margin is not None and margin <= walk.tree.close)


def _look(walk: AtQuestion) -> Look:
    question = walk.question
    if question.rule:
        finding = detectors.apply(question.rule.detector, walk.run, question.rule.numbers, walk.focus)
        return Look(walk.at, finding.outcome, finding, {})
    if not question.checks:
        return Look(walk.at, NO_DATA, Finding(NO_DATA, facts={"missing": []}), {})
    checks: dict[str, Finding] = {}
    facts: dict[str, Any] = {}  # of the checks so far: a later one may go on from an earlier one's
    decided: Finding | None = None
    for name, check in question.checks.items():
        found = detectors.apply(check.rule.detector, walk.run, check.rule.numbers, walk.focus, facts)
        checks[name] = found
        if found.outcome not in (NO_DATA, NOT_YET):
            facts = {**facts, **found.facts}
        if decided is None and found.outcome in question.outcomes:
            decided = replace(found, facts=facts)
    if decided:
        return Look(walk.at, decided.outcome, decided, checks)
    for silent in (NO_DATA, NOT_YET):
        if all(finding.outcome == silent for finding in checks.values()):
            return Look(walk.at, silent, next(iter(checks.values())), checks)
    otherwise = question.otherwise
    assert otherwise, "a question with checks says what holds when none decides"
    return Look(walk.at, otherwise, Finding(otherwise, walk.focus), checks)


def tabled(walk: Walk) -> Look | None:
    """What the log says of the question whose checks the leaf shows as a table, walked or not."""
    if not isinstance(walk, AtLeaf) or walk.leaf.table is None:
        return None
    there = AtQuestion(
        walk.run, walk.tree, walk.leaf.table, walk.start, answers=walk.answers, focus=walk.focus
    )
    return look(there)


def predict(walk: AtQuestion, outcome: str, confidence: int) -> AtQuestion:
    """The learner commits to an outcome (or to UNSURE). From now on the log has spoken of this question."""
    assert outcome == UNSURE or outcome in walk.question.outcomes, outcome
    assert 1 <= confidence <= 5, confidence
    place = walk.at, walk.focus
    prediction = Prediction(outcome, confidence, seen_before=place in walk.spoken)
    return replace(walk, prediction=prediction, spoken=walk.spoken | {place})


def take(walk: AtQuestion, outcome: str, by: str, seen: Look) -> Walk:
    """The walk after `outcome`: at the next question or leaf."""
    facts = dict(seen.finding.facts)
    answer = Answer(walk.at, outcome, by, walk.prediction, walk.hints, walk.focus, facts, seen.close)
    found = seen.finding.step if walk.question.focus and seen.answers else None
    return stands_at(walk, walk.question.outcomes[outcome], answer, walk.focus if found is None else found)


def stands_at(walk: AtQuestion, outcome: Outcome, answer: Answer, focus: int | None) -> Walk:
    """The walk where `outcome` leads, `answer` added to its path."""
    if outcome.next:
        return replace(
            walk,
            at=outcome.next,
            answers=(*walk.answers, answer),
            focus=focus,
            prediction=None,
            hints=0,
        )
    assert outcome.leaf, "an outcome leads to a question or to a leaf"
    return AtLeaf(
        walk.run,
        walk.tree,
        outcome.leaf,
        walk.start,
        walk.id,
        walk.attempt,
        (*walk.answers, answer),
        focus,
        walk.spoken,
    )


def go_on(walk: AtQuestion, seen: Look, outcome: str | None = None) -> Walk:
    """On to where the log says or, where it can't tell, to where the learner's `outcome` leads. With UNSURE
    nobody knows: on with what the question assumes.

    Raises:
        ValueError: the log can't tell and no outcome was given, or UNSURE where the question assumes nothing.
    """
    if seen.answers:
        return take(walk, seen.outcome, "log", seen)
    if outcome == UNSURE and walk.question.assume:
        return take(walk, walk.question.assume, "assumed", seen)
    if outcome is None or outcome not in walk.question.outcomes:
        raise ValueError("the log can't tell: an answer is needed")
    return take(walk, outcome, "learner", seen)


def pick(walk: Walk, step: int) -> Walk:
    """Take up another step as the one under discussion."""
    return replace(walk, focus=step)


def reveal(walk: AtQuestion) -> AtQuestion:
    """One more hint, while there are any."""
    return replace(walk, hints=min(walk.hints + 1, len(walk.question.hints)))


def back(walk: Walk) -> AtQuestion:
    """Undo: the prediction if one is committed, else the last answer. What the log said stays seen."""
    if isinstance(walk, AtQuestion):
        if walk.prediction is not None:
            return replace(walk, prediction=None)
        if not walk.answers:
            return walk
    last = walk.answers[-1]
    return AtQuestion(
        walk.run,
        walk.tree,
        last.question,
        walk.start,
        walk.id,
        walk.attempt,
        walk.answers[:-1],
        last.focus,
        walk.spoken,
        hints=last.hints,
    )


def unattended(run: Run, tree: Tree, start: Place | None = None) -> tuple[Walk, list[Look]]:
    """The walk from `start` with nobody watching, and what the log said on the way.

    Where the log can't tell, it goes on with the question's `assume`; without one it stops there, so the
    walk may end at a question.
    """
    walk: Walk = begin(run, tree, start)
    looks: list[Look] = []
    while isinstance(walk, AtQuestion):
        seen = look(walk)
        looks.append(seen)
        if not (seen.answers or walk.question.assume):
            break
        walk = go_on(walk, seen, UNSURE)
    return walk, looks
