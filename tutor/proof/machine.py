"""The machine: begin, reveal, answer, go on, conclude. It knows neither screens nor files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tutor.card import Card, Rung
from tutor.proof.log import Truth, right, said_facts, truth
from tutor.run import Run
from tutor.tree import Tree
from tutor.words import plain


@dataclass(frozen=True)
class Given:
    """An answer to a rung, and what the log says to it.

    Attributes:
        rung: the rung's id.
        said: the learner's: a step, a token, or one of the answer's outcomes.
        outcome: the log's; None where it can't tell.
        right: whether they agree; None where the log can't tell.
        hints: how many were shown before.
        facts: what was measured, for the rung's sentence.
        missing: what would have to be recorded for the log to tell.
    """

    rung: str
    said: str
    outcome: str | None
    right: bool | None
    hints: int
    facts: Mapping[str, Any]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """Where a learner stands on the ladder of a card, over one run. Frozen: every step gives a new one.

    Attributes:
        run: the run.
        tree: the tree that was walked: its numbers are those of the ladder.
        card: the card whose break the run has, or is the control of.
        at: the step under discussion.
        broken: whether the run has the break.
        given: the answers so far.
        told: whether what the log says to the last of them is on the screen.
        hints: how many of the rung at hand are shown.
        cause: the learner's root cause, "" until it is written.
    """

    run: Run
    tree: Tree
    card: Card
    at: int
    broken: bool = True
    given: tuple[Given, ...] = ()
    told: bool = False
    hints: int = 0
    cause: str = ""

    @property
    def id(self) -> str | None:
        """The rung at hand; None once the last has been answered and left."""
        rungs = list(self.card.ladder)
        here = len(self.given) - self.told
        return rungs[here] if here < len(rungs) else None

    @property
    def rung(self) -> Rung:
        """The rung at hand, where there is one."""
        assert self.id is not None, "every rung is answered"
        return self.card.ladder[self.id]

    @property
    def number(self) -> int:
        """The rung at hand, counted from 1."""
        return len(self.given) - self.told + 1

    @property
    def last(self) -> Given | None:
        """The answer whose evidence is on the screen."""
        return self.given[-1] if self.told else None

    @property
    def finished(self) -> bool:
        """Whether every rung is answered and the cause is written."""
        return self.id is None and bool(self.cause)

    @property
    def score(self) -> tuple[int, int]:
        """How many rungs were answered as the log has it, and how many the ladder has, but for those of which
        it can't tell.
        """
        untold = sum(given.right is None for given in self.given)
        return sum(given.right is True for given in self.given), len(self.card.ladder) - untold

    @property
    def hints_used(self) -> int:
        """Over all rungs answered."""
        return sum(given.hints for given in self.given)

    def mechanism(self, lang: str) -> str:
        """The card's own sentence of what happened in this run: the break's, or its control's."""
        return (self.card.diagnosis if self.broken else self.card.control)(lang)


def begin(run: Run, tree: Tree, card: Card, at: int, *, broken: bool = True) -> Proof:
    """At the foot of the ladder."""
    return Proof(run, tree, card, at, broken)


def reveal(proof: Proof) -> Proof:
    """One more hint."""
    count = len(proof.rung.hints.in_order)
    return replace(proof, hints=min(proof.hints + 1, count))


def answer(proof: Proof, said: str) -> Proof:
    """The learner commits: now the log speaks.

    Raises:
        ValueError: no answer to this rung: a word where a step belongs, an outcome that isn't one.
    """
    assert proof.id is not None, "every rung is answered"
    assert not proof.told, "a rung is answered once"
    asked = proof.rung.answer
    if (asked.choices and said not in asked.choices) or not said.strip():
        raise ValueError(f"{said!r} is no answer to {proof.id}")
    told = asks(proof)
    given = Given(
        proof.id, said, told.outcome, right(asked, told, said), proof.hints, said_facts(asked, told, said),
        told.missing,
    )  # fmt: skip
    return replace(proof, given=(*proof.given, given), told=True)


def asks(proof: Proof) -> Truth:
    """What the log says to the rung at hand."""
    return truth(proof.rung.answer, proof.run, proof.tree, proof.at)


def go_on(proof: Proof) -> Proof:
    """On to the next rung, or to the root cause."""
    return replace(proof, told=False, hints=0)


def conclude(proof: Proof, cause: str) -> Proof:
    """The learner's root cause, in their own words."""
    assert proof.id is None, "the cause comes after the last rung"
    return replace(proof, cause=" ".join(cause.split()))


def says(proof: Proof, given: Given, lang: str) -> str | None:
    """What the log says to an answer, in words, safe to draw; None where it can't tell."""
    if given.outcome is None:
        return None
    facts = {name: plain(value) if isinstance(value, str) else value for name, value in given.facts.items()}
    return proof.card.ladder[given.rung].says[given.outcome](lang, facts)
