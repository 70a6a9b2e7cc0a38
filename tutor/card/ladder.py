"""The ladder of a card: panel questions, one after another, each answered by the learner and then by the log.

A rung says its panel, its question, three hints, and in `answer` how it is answered and what the log is asked
for. Every number of an answer has a source in the prose. To add a kind of answer, write its model here, say
how the log answers it in `tutor/proof/log.py`, and how a learner does in `tutor/ui/widgets/prove.py`.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tutor.run import PANELS
from tutor.signals import find
from tutor.words import Strict, Words

FOUND, NONE = "found", "none"
"""What the log says where the answer is a step or a token; where none of several signals is the one."""


def _recorded(name: str) -> str:
    if find(name) is None:
        raise ValueError(f"there is no signal {name!r}")
    return name


Signal = Annotated[str, AfterValidator(_recorded)]
Steps = Annotated[int, Field(gt=0, le=100_000)]


class _Answer(Strict):
    """How a rung is answered.

    Attributes:
        NUMBERS: its fields that are numbers, each of which has a source.
        FACTS: what the log measures, for the rung's sentences.
    """

    NUMBERS: ClassVar[tuple[str, ...]] = ()
    FACTS: ClassVar[tuple[str, ...]] = ()

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Everything that the log can say."""
        return (FOUND,)

    @property
    def numbers(self) -> Mapping[str, float]:
        """The numbers that it gives, by name."""
        return {name: value for name in self.NUMBERS if (value := getattr(self, name)) is not None}

    @property
    def choices(self) -> tuple[str, ...]:
        """What a learner chooses from; none where the answer is pointed at or typed."""
        return () if self.outcomes == (FOUND,) else self.outcomes


class PointAtStep(_Answer):
    """Point at a step: one that the tree's `detector` finds, or where `signal` is highest or lowest.

    Attributes:
        detector: its numbers are those of the tree in which the card's walk ends.
        signal: searched through the whole run, or over `within` steps from the step under discussion on.
        tolerance: as many steps off is right.
    """

    NUMBERS = ("tolerance", "within")
    FACTS = ("step", "value", "said", "off", "tolerance")

    kind: Literal["step"]
    detector: str | None = None
    signal: Signal | None = None
    extreme: Literal["highest", "lowest"] = "highest"
    within: Steps | None = None
    tolerance: int = Field(ge=0)

    @model_validator(mode="after")
    def _asks_one(self) -> Self:
        if (self.detector is None) == (self.signal is None):
            raise ValueError("a step is a detector's, or one of a signal: give one of the two")
        if self.detector and self.within:
            raise ValueError("within is for a signal: a detector has its own window")
        return self


class PickEqual(_Answer):
    """Whether the second of two signals equals the first at the step: the same, smaller or larger.

    Attributes:
        tolerance: so large a share of the first is still the same.
    """

    NUMBERS = ("tolerance",)
    FACTS = ("step", "first", "second", "share")

    kind: Literal["equal"]
    signals: tuple[Signal, Signal]
    tolerance: float = Field(ge=0, lt=1)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The second against the first."""
        return ("equal", "smaller", "larger")


class NameToken(_Answer):
    """Name the token of `signal` at the step: the one with the most `counts`, or the most frequent."""

    FACTS = ("step", "token", "count", "said")

    kind: Literal["token"]
    signal: Signal
    counts: Signal | None = None


class PickTrend(_Answer):
    """What a signal does within `after` steps of the step: rises, holds or falls.

    Measured is the value farthest from its median over the `before` steps, as a multiple of that median.

    Attributes:
        factor: it rises above so many times the median, and falls below the median over it.
    """

    NUMBERS = ("before", "after", "factor")
    FACTS = ("step", "at", "value", "usual", "ratio", "factor")

    kind: Literal["trend"]
    signal: Signal
    before: Steps
    after: Steps
    factor: float = Field(gt=1)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What it does."""
        return ("rises", "holds", "falls")


class PickSignal(_Answer):
    """Which of several signals is still lifted `after` steps past the step: one of them, or none.

    Measured is the median of each over the `before` steps from there on, as a multiple of its median over the
    `before` steps that end at the step.

    Attributes:
        factor: below so many times its median before, none is.
    """

    NUMBERS = ("before", "after", "factor")
    FACTS = ("step", "at", "signal", "ratio", "factor", "others")

    kind: Literal["signal"]
    signals: tuple[Signal, ...] = Field(min_length=2)
    before: Steps
    after: Steps
    factor: float = Field(gt=1)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Each of the signals, and none."""
        return (*self.signals, NONE)


class PickShare(_Answer):
    """How many tokens of the batch cost more than a uniform guess, ln V: few, some or most.

    Attributes:
        few, most: under the one share and over the other, from 0 to 1.
    """

    NUMBERS = ("few", "most")
    FACTS = ("step", "share", "tall", "tokens", "nats")

    kind: Literal["share"]
    signal: Literal["token_loss_hist"] = "token_loss_hist"
    few: float = Field(gt=0, lt=1)
    most: float = Field(gt=0, lt=1)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Under `few`, between, over `most`."""
        return ("few", "some", "most")


Answer = Annotated[
    PointAtStep | PickEqual | NameToken | PickTrend | PickSignal | PickShare, Field(discriminator="kind")
]


class Hints(Strict):
    """Three hints, revealed one at a time."""

    mild: Words
    medium: Words
    direct: Words

    @property
    def in_order(self) -> tuple[Words, ...]:
        """From mild to direct."""
        return (self.mild, self.medium, self.direct)


class Rung(Strict):
    """One rung of the diagnostic ladder.

    Attributes:
        panel: to look at, 1 to 9.
        check: what to look for, as the card says it.
        ask: the question, put to the learner; like its hints it may name the answer's numbers.
        hints: for that question.
        answer: how it is answered, by the learner and by the log.
        says: by outcome, what it means, with what the log measured.
        sources: where each number of the answer comes from.
    """

    panel: int = Field(ge=1, le=len(PANELS))
    check: Words
    ask: Words
    hints: Hints
    answer: Answer
    says: Mapping[str, Words]
    sources: Mapping[str, Words] = Field(default_factory=dict)

    @property
    def numbers(self) -> Mapping[str, float]:
        """The answer's numbers by name, for the question and its hints."""
        return self.answer.numbers

    @property
    def panel_name(self) -> str:
        """The panel, as `tutor.run.PANELS` names it."""
        return PANELS[self.panel - 1]


class RuledOut(Strict):
    """What rules a look-alike out in a run: a question of the tree, answered by the log in one of these ways.

    Attributes:
        question: its id in the tree in which the card's walk ends.
        check: one of the question's checks, where it has several.
        outcomes: any of these rules it out.
    """

    question: str
    check: str | None = None
    outcomes: tuple[str, ...] = Field(min_length=1)


class LookAlike(Strict):
    """What this break is not.

    Attributes:
        by: what rules it out in a run.
        why: what tells them apart, as the card says it.
        measured: the same in one run, with what the log measured there.
    """

    name: Words
    why: Words
    by: RuledOut
    measured: Words
