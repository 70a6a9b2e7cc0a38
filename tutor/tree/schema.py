"""What a tree's files hold: questions with their rules and outcomes; leaves lie in leaves.py.

Every field of `Words` is written in the prose files, one per language; every other one in the graph.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from tutor.detectors.grouped import Grouped
from tutor.run import Run, names, scoring
from tutor.signals import Panel
from tutor.tree.leaves import UNDECIDED, Leaf, undecided
from tutor.tree.numbers import Given, Number
from tutor.words import Problem, Strict, Words
from tutor.words.document import Where
from tutor.words.prose import Joined

Kind = Literal["fine", "remark", "symptom"]


def _name_detectors(schema: dict[str, Any]) -> None:
    """Offer an editor every detector by name, with what it looks for, answers and takes."""
    from tutor.detectors import registry

    schema["oneOf"] = [
        {
            "const": one.name,
            "description": f"{one.doc} Answers: {', '.join(one.outcomes)}."
            + (f" Numbers: {', '.join(one.numbers)}." if one.numbers else ""),
        }
        for _, one in sorted(registry().items())
    ]


class Rule(Strict):
    """A detector and its numbers.

    Attributes:
        detector: the detector's name.
        numbers: its numbers by name; some belong together, as a window's, `{steps: 100, rows: 20}`.
        source_ids: where each number comes from: an id of the tree's `sources`. A window has one for its
            steps, under its name, and one for its rows, under `name.rows`; so has any other group.
    """

    detector: str = Field(json_schema_extra=_name_detectors)
    numbers: Mapping[str, Given] = Field(default_factory=dict)
    source_ids: Mapping[str, str] = Field(default_factory=dict, alias="sources")
    _sources: Mapping[str, Words] = PrivateAttr(default_factory=dict)

    @property
    def sources(self) -> Mapping[str, Words]:
        """Where its numbers come from, in words, by number."""
        return self._sources

    @property
    def plain_numbers(self) -> Mapping[str, Number]:
        """Its numbers, by which prose is filled: a window's steps as `window`, its rows as `window_rows`."""
        groups = {name: one for name, one in self.numbers.items() if isinstance(one, Grouped)}
        single = {name: one for name, one in self.numbers.items() if not isinstance(one, Grouped)}
        return single | {named: one for name, group in groups.items() for named, one in group.named(name)}


class Outcome(Strict):
    """One answer to a question, and where it leads: to `next` (a question) or to `leaf`.

    Attributes:
        label: the answer, in a word or two.
        says: what the log says when this is its answer; placeholders are the detector's facts.
        tempting: why someone may give this answer when the log gives another, whose facts it may name.
        rules_out: the look-alike that this answer rules out.
        now: what to do with this run meanwhile, where the log can't say why it is so.
        kind: what it says of the run: fine, a remark (worth a look, no harm), or a symptom of a flaw.
        onset: the signal whose value shows, at the step found, that something has begun; a log with few rows
            says between which steps it did.
        open: it leaves the question open: nobody is wrong who says that the log can't tell.
        next_decides: the next question says what is wrong: with nobody watching its answer isn't assumed.
        under: the answer that a learner gives for this one, which isn't offered: both say the same of the run
            and lead to the same place, and only the log can tell how it shows.
        needs: what a log has to have for this answer to be seen in it: a validation loss, or that alone, the
            losses of several held-out sets or of two opposed networks, terms of the loss, scores, or one kind
            of these. Where it has none, the answer isn't offered.
    """

    label: Words
    says: Words
    tempting: Words | None = None
    rules_out: Words | None = None
    now: Words | None = None
    kind: Kind = "fine"
    onset: Literal["loss", "val_loss"] | None = None
    open: bool = False
    next_decides: bool = False
    under: str | None = None
    needs: (
        Literal["val_loss", "alone", "sets", "scores", "rewards", "finds", "explained", "ranking"]
        | Literal["groups", "lengths", "sides", "terms", "transcribed"]
        | None
    ) = None
    next: str | None = None
    leaf: str | None = None

    @property
    def symptom(self) -> bool:
        """Whether this answer shows that something is wrong."""
        return self.kind == "symptom"

    @property
    def goal(self) -> str:
        """The id of the question or the leaf that it leads to."""
        return self.next or self.leaf or ""

    def shows_in(self, run: Run) -> bool:
        """Whether the run's log has what this answer is seen by."""
        columns = run.frame.columns
        if self.needs == "sets":
            return len(names.losses_of_sets(columns)) > 1
        if kind := scoring.KINDS.get(self.needs or ""):
            return any(map(kind, columns))
        if self.needs == "alone":
            return run.has("val_loss") and not run.has("loss")
        return self.needs is None or run.has(self.needs)

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if (self.next is None) == (self.leaf is None):
            raise ValueError("an outcome leads either to `next` or to `leaf`")
        return self


class Check(Strict):
    """One of several checks of a question, by its own rule: one whose outcome the question knows decides."""

    label: Words
    panel: Panel
    rule: Rule
    says: Mapping[str, Words]


class Question(Strict):
    """A question with the panel to look at, and how the log answers it.

    The placeholders of `ask`, `why`, `look` and `hints` are the numbers of its rule.

    Attributes:
        section_id: the section it belongs to: an id of the tree's `sections`.
        ask: the sentence asked, whole.
        title: the question in three words, for the path and the map.
        why: what is at stake, for the reading pane.
        panel: the panel to look at first.
        view: the steps to look at first: those around the step under discussion, these and the checkpoints
            next to it, the whole run, or its first step alone.
        rule: how the log answers; None with `checks`, or where only the learner can answer.
        checks: several rules, all shown; the first one with an outcome of the question decides.
        otherwise: the outcome when no check decides.
        focus: whether the step that is found becomes the step under discussion.
        assume: the outcome a walk that nobody watches goes on with, where the log can't tell.
        optional: whether such a walk may then still end healthy, and says what it left out: no ordinary log
            holds what the question needs, or a later question settles the same.
        look: how to look for oneself, where the log can't tell.
        hints: one revealed at a time.
    """

    section_id: str = Field(alias="section")
    title: Words
    ask: Words
    why: Words
    panel: Panel
    view: Literal["mark", "checkpoints", "whole", "start"] = "mark"
    rule: Rule | None = None
    checks: Mapping[str, Check] = Field(default_factory=dict)
    otherwise: str | None = None
    focus: bool = False
    assume: str | None = None
    optional: bool = False
    look: Words
    hints: tuple[Words, ...] = Field(min_length=1)
    outcomes: Mapping[str, Outcome] = Field(min_length=2)
    _section: Words | None = PrivateAttr(default=None)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Its rule, or those of its checks."""
        return (self.rule,) if self.rule else tuple(check.rule for check in self.checks.values())

    @property
    def offered(self) -> Mapping[str, Outcome]:
        """The outcomes that a learner can choose: those that stand under no other."""
        return {name: one for name, one in self.outcomes.items() if one.under is None}

    def offered_as(self, outcome: str) -> str:
        """The outcome that a learner chooses for this one; as it is where it is none of the question's."""
        known = self.outcomes.get(outcome)
        return known.under or outcome if known else outcome

    def same(self, said: str, found: str) -> bool:
        """Whether who says `said` is right where the log says `found`."""
        return self.offered_as(said) == self.offered_as(found)

    @property
    def numbers(self) -> Mapping[str, Number]:
        """The numbers of its rule, by which its prose is filled, a window by its steps; with checks, none."""
        return self.rule.plain_numbers if self.rule else {}

    @property
    def sources(self) -> Mapping[str, Words]:
        """Where each number of its rule comes from, by number; those of its checks lie with their rules."""
        return self.rule.sources if self.rule else {}

    @property
    def section(self) -> Words:
        """What its section is called."""
        assert self._section, "a question of a sound tree has a section"
        return self._section


class Cause(Strict):
    """A cause in a few words, and its fingerprint: by what it is known in a log."""

    words: Words
    fingerprint: Words | None = None


class Hypothesis(Cause):
    """A cause that the post-mortem offers. The rules of postmortem/evidence.py know it by its id.

    Attributes:
        elsewhere: its words for a run that isn't known to train on tokens, where they differ.
        sections: at whose leaves it is offered; none named: at every leaf.
        no_bearing: panels that have nothing to say of it, whatever they show.
        leaves: the flaws whose cause it is.
    """

    elsewhere: Cause | None = None
    sections: tuple[str, ...] = ()
    no_bearing: tuple[Panel, ...] = ()
    leaves: tuple[str, ...] = ()


class Tree(Strict):
    """A decision tree: questions by id, in reading order, and leaves by id.

    Attributes:
        tree: its name.
        after: the tree whose questions come before this one's, which takes their answers for granted.
        start: the id of the first question.
        sections: what the groups of questions are called, by id.
        sources: where numbers come from, by id: a paper, a document, or ours, with the command that re-makes
            them where one does.
        hypotheses: what the post-mortem after a walk offers to consider, by id.
        incident: whether its post-mortem is that of an incident in a long run, with its type and its cost.
        close: a rule that decides by no more than this share of its bound decides by a hair: the walk says
            so, and nobody is wrong who saw it the other way.
    """

    tree: str
    title: Words
    about: Words
    after: str | None = None
    start: str
    incident: bool = False
    close: float = Field(default=0.0, ge=0, lt=1)
    sections: Mapping[str, Words] = Field(min_length=1)
    sources: Mapping[str, Words] = Field(default_factory=dict)
    questions: Mapping[str, Question] = Field(min_length=1)
    leaves: Mapping[str, Leaf] = Field(min_length=1)
    hypotheses: Mapping[str, Hypothesis] = Field(default_factory=dict)
    _files: Joined | None = PrivateAttr(default=None)  # know the lines

    @model_validator(mode="after")
    def _name_by_id(self) -> Self:
        for question in self.questions.values():
            question._section = self.sections.get(question.section_id)
            for rule in question.rules:
                cited = {name: self.sources.get(id) for name, id in rule.source_ids.items()}
                rule._sources = {name: source for name, source in cited.items() if source}
        return self

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        assert self._files, "a tree lies in its files"
        return self._files.graph.path.parent

    @property
    def ends(self) -> Mapping[str, Leaf]:
        """Where a walk may end, by id: the leaves, and undecided."""
        return {**self.leaves, UNDECIDED: undecided()}

    def problem(self, where: Where, what: str) -> Problem:
        """What is wrong at `where` in the tree, with its file and line."""
        assert self._files, "a tree is checked as it lies in its files"
        return self._files.problem(where, what)

    def considered(self, section: str) -> dict[str, Hypothesis]:
        """The hypotheses offered at a leaf of `section`, by id."""
        return {id: one for id, one in self.hypotheses.items() if not one.sections or section in one.sections}

    def nexts(self, question: str) -> Iterator[tuple[str, str]]:
        """The outcomes of a question, each with the id it leads to (a question's or a leaf's)."""
        for name, outcome in self.questions[question].outcomes.items():
            yield name, outcome.goal
