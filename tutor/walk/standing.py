"""Standing: where a walk stands, what the log says there, and what the learner has said. All of it frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.run import Run
from tutor.tree import UNDECIDED, Leaf, Outcome, Question, Tree

UNSURE = "?"
"""The prediction that the log can't tell."""

SILENT = (NO_DATA, NOT_YET)
"""What a rule finds where the log can't tell."""

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
        began: the first and the last of the steps in one of which it began, where something did.
        in_part: the answer leaves something open: no check decided and some couldn't tell, or the outcome is
            that there is nothing to go by.
    """

    question: str
    outcome: str
    finding: Finding
    checks: Mapping[str, Finding]
    close: bool = False
    in_part: bool = False
    began: tuple[int, int] | None = None

    @property
    def answers(self) -> bool:
        """Whether the log can tell."""
        return self.outcome not in SILENT


@dataclass(frozen=True)
class Prediction:
    """What the learner said before going on.

    Attributes:
        outcome: one of the question's, or UNSURE.
        confidence: from 1 to 5.
        seen_before: the log had spoken of this question before the prediction was made, and it isn't the one
            that was made first, so it tests nothing.
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
        close: a miss doesn't count, for the log decided by a hair, or only in part.
        hit: the prediction says what the log says.
    """

    question: str
    outcome: str
    by: str
    prediction: Prediction | None
    hints: int
    focus: int | None
    facts: Mapping[str, Any]
    close: bool = False
    hit: bool = False


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
        spoken: of which questions, at which step, the learner has seen what the log says, and what they had
            said first, or "" where that isn't known. Undoing an answer leaves it as it is.
        hinted: how many hints of a question were shown so far; undoing leaves that, too.
    """

    run: Run
    tree: Tree
    at: str
    start: Place
    id: str = field(default_factory=lambda: uuid4().hex)
    attempt: int = 1
    answers: tuple[Answer, ...] = ()
    focus: int | None = None
    spoken: Mapping[Place, str] = field(default_factory=dict)
    hinted: Mapping[str, int] = field(default_factory=dict)

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
    def offered(self) -> Mapping[str, Outcome]:
        """The outcomes that a learner can see in this run's log, or rule out."""
        return {id: one for id, one in self.question.offered.items() if one.shows_in(self.run)}

    @property
    def by_hand(self) -> Mapping[str, Outcome]:
        """The outcomes that a learner may give where the log can't tell: those that were offered before.

        Where that is no choice, those that a validation loss shows, too: it may be known from elsewhere.
        """
        if len(self.offered) > 1:
            return self.offered
        return {id: one for id, one in self.question.offered.items() if one.needs in (None, "val_loss")}

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
        return self.tree.ends[self.at]

    @property
    def left_open(self) -> str | None:
        """The question that nobody could answer, where the walk ended undecided at it."""
        if self.at != UNDECIDED:
            return None
        if not self.answers:
            return self.start[0]
        last = self.answers[-1]
        return self.tree.questions[last.question].outcomes[last.outcome].next


Walk = AtQuestion | AtLeaf
