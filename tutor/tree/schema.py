"""What a tree's YAML file holds: questions with their rules and outcomes, and leaves with their fixes."""

from collections.abc import Iterator, Mapping
from typing import Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from tutor.run import PANELS
from tutor.words import Document, Strict, Words

Number = int | float
Panel = Literal[PANELS]


class Rule(Strict):
    """A detector and its numbers."""

    detector: str
    numbers: Mapping[str, Number] = Field(default_factory=dict)


class Outcome(Strict):
    """One answer to a question, and where it leads: to `next` (a question) or to `leaf`.

    Attributes:
        label: the answer, in a word or two.
        says: what the log says when this is its answer; placeholders are the detector's facts.
        tempting: why someone may give this answer when the log gives another.
        rules_out: the look-alike that this answer rules out.
        symptom: whether this answer shows that something is wrong.
    """

    label: Words
    says: Words
    tempting: Words | None = None
    rules_out: Words | None = None
    symptom: bool = False
    next: str | None = None
    leaf: str | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if (self.next is None) == (self.leaf is None):
            raise ValueError("an outcome leads either to `next` or to `leaf`")
        return self


class Check(Strict):
    """One of several checks of a question, each with its own rule. Its first outcome that the question
    knows decides; its other outcomes only inform.
    """

    label: Words
    panel: Panel
    rule: Rule
    says: Mapping[str, Words]


class Question(Strict):
    """A question with the panel to look at, and how the log answers it.

    The placeholders of `ask`, `why`, `look` and `hints` are the numbers of its rule.

    Attributes:
        ask: the sentence asked, whole.
        title: the question in three words, for the path and the map.
        why: what is at stake, for the reading pane.
        panel: the panel to look at first.
        rule: how the log answers; None with `checks`, or where only the learner can answer.
        checks: several rules, all shown; the first one with an outcome of the question decides.
        otherwise: the outcome when no check decides.
        focus: whether the step that is found becomes the step under discussion.
        assume: the outcome a walk that nobody watches goes on with, where the log can't tell.
        look: how to look for oneself, where the log can't tell.
        hints: one revealed at a time.
    """

    section: Words
    title: Words
    ask: Words
    why: Words
    panel: Panel
    rule: Rule | None = None
    checks: Mapping[str, Check] = Field(default_factory=dict)
    otherwise: str | None = None
    focus: bool = False
    assume: str | None = None
    look: Words
    hints: tuple[Words, ...] = Field(min_length=1)
    outcomes: Mapping[str, Outcome] = Field(min_length=2)

    @property
    def numbers(self) -> Mapping[str, Number]:
        """The numbers of its rule, by which its prose is filled; with checks or no rule, none."""
        return self.rule.numbers if self.rule else {}


class Times(Strict):
    """A change against what the run had: half the learning rate is `{times: 0.5}`."""

    times: float = Field(gt=0, allow_inf_nan=False)


class Fix(Strict):
    """A remedy: in words and, where it is a change of settings, as one that can be run."""

    words: Words
    change: Mapping[str, Times | float | int | str | None] = Field(default_factory=dict)


class Leaf(Strict):
    """Where a walk ends.

    Attributes:
        name: the flaw, or the good news.
        verdict: "healthy" or "flaw".
        means: what it means; placeholders are the facts of the path.
        fixes: the smallest first.
        breaks: names of the breaks that reproduce it.
        post_mortem: whether one is due.
        again: whether to apply, re-run and walk again from the top.
        tree: the tree to go on with.
    """

    name: Words
    verdict: Literal["healthy", "flaw"]
    means: Words
    fixes: tuple[Fix, ...] = ()
    breaks: tuple[str, ...] = ()
    post_mortem: bool = False
    again: bool = False
    tree: str | None = None


class Tree(Strict):
    """A decision tree: questions by id, in reading order, and leaves by id."""

    tree: str
    title: Words
    about: Words
    start: str
    questions: Mapping[str, Question] = Field(min_length=1)
    leaves: Mapping[str, Leaf] = Field(min_length=1)
    _document: Document | None = PrivateAttr(default=None)  # knows the lines

    def nexts(self, question: str) -> Iterator[tuple[str, str]]:
        """The outcomes of a question, each with the id it leads to (a question's or a leaf's)."""
        for name, outcome in self.questions[question].outcomes.items():
            yield name, outcome.next or outcome.leaf
