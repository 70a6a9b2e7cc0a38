"""What a run is not: each look-alike of its card, with the measurement that rules it out in this run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tutor import walk as walks
from tutor.card import Card, LookAlike
from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.walk import AtLeaf, AtQuestion
from tutor.words import plain, say
from tutor.words.prose import placeholders

Status = Literal["ruled_out", "stands", "open"]


@dataclass(frozen=True)
class Compared:
    """One look-alike, checked against a run.

    Attributes:
        status: "ruled_out" by what was measured; "stands" where the log says otherwise; "open" where the run
            didn't record what would tell.
        text: what was measured, or why it can't be.
        question: the question of the tree that was asked about it; None where only one of its checks was.
    """

    name: str
    question: str | None
    status: Status
    text: str


def look_alikes(walk: AtLeaf, card: Card, lang: str) -> list[Compared]:
    """Every look-alike of the card over the walked run, in the card's order."""
    return [_compared(walk, other, lang) for other in card.not_this.values()]


def _compared(walk: AtLeaf, other: LookAlike, lang: str) -> Compared:
    name, by, finding = other.name(lang), other.by, _asked(walk, other)
    asked = None if by.check else by.question
    if finding.outcome in (NO_DATA, NOT_YET):
        missing = [plain(signal) for signal in finding.facts.get("missing", ())]
        return Compared(name, asked, "open", say("prove.not_recorded", lang, signals=missing or "–"))
    if finding.outcome not in by.outcomes:
        return Compared(name, asked, "stands", say("prove.stands", lang, question=by.question))
    facts = {key: plain(value) if isinstance(value, str) else value for key, value in finding.facts.items()}
    if unknown := [fact for fact in _named(other) if facts.get(fact) is None]:
        return Compared(name, asked, "open", say("prove.not_recorded", lang, signals=unknown))
    return Compared(name, asked, "ruled_out", other.measured(lang, facts))


def _asked(walk: AtLeaf, other: LookAlike) -> Finding:
    """What the log says to the question that rules it out, at the step where the walk asked it."""
    by = other.by
    focus = next((one.focus for one in walk.answers if one.question == by.question), walk.focus)
    seen = walks.look(AtQuestion(walk.run, walk.tree, by.question, walk.start, focus=focus))
    if by.check:
        return seen.checks[by.check]
    return Finding(seen.outcome, seen.finding.step, seen.finding.facts)


def _named(other: LookAlike) -> Iterator[str]:
    """The facts that its sentence names."""
    yield from sorted(placeholders(other.measured("en")))
