"""What the log says of one question, or of the table of checks that a leaf shows."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.detectors.grouped import Grouped
from tutor.detectors.windows import Window
from tutor.tree import Check, Question, Rule
from tutor.tree.numbers import Group, Number
from tutor.walk import (
    UNSURE,
    Answer,
    Look,
    Prediction,
    Walk,
    excuse,
    tabled,
)
from tutor.words import number, plain, say

Role = Literal[
    "prediction",  # what was said: "right", "wrong", "close", "also", "in_part", "seen_before"; "": who knows
    "changed",  # that the log, which has grown, says something else than when the learner committed
    "finding",  # what the log says of the question
    "check",  # what it says of one of several checks
    "tempting",  # why a wrong prediction looked right
    "rule",  # how a rule came to its answer: its numbers, where it looked, its margin
    "silent",  # why the log can't tell
    "look",  # how to see for oneself
    "answer",  # the answer taken
    "undecided",  # a walk that ended without a leaf, or at one that can't be trusted
    "leaf",  # where it ended: "healthy" or "flaw"
    "means",  # what that leaf means
    "advice",  # what to do with this run now, after these answers
    "assumed",  # what was assumed for want of data
    "fix",  # the smallest fix in words
    "command",  # and as a command
    "table",  # a row of the leaf's table: one check
]

MEASURED = ("value", "peak", "ratio", "growth", "rise", "change", "share", "after", "grad_norm", "lr")
"""What detectors call the value they hold against their bound, in the order in which it is looked for."""


@dataclass(frozen=True)
class Line:
    """One line of what the log says.

    Attributes:
        role: what it tells; whoever draws it chooses place and style by that.
        text: the sentence.
        label: what leads it in, or "".
        note: what may follow it where there is room, or "".
        verdict: the outcome that was found, or how the prediction did, or "".
        decides: whether it is the check that decides, or one that could.
        value: what was measured, in its signal's unit, where the rule measures one thing.
        bound: what it was checked against, in the same unit.
        step: where it shows, None where it is about the whole run.
        window: first and last step the rule looked at.
        sources: where the rule's numbers come from, each once, in the order of the numbers.
    """

    role: Role
    text: str
    label: str = ""
    note: str = ""
    verdict: str = ""
    decides: bool = False
    value: Any = None
    bound: float | None = None
    step: int | None = None
    window: tuple[int, int] | None = None
    sources: tuple[str, ...] = ()


# One question


def of_look(question: Question, seen: Look, lang: str) -> list[Line]:
    """What the log says of a question: a line, or one for each check; why it can't tell where it can't."""
    if question.checks:
        return list(_checks(question, seen, lang))
    if not seen.answers:
        return why_silent(seen.finding, lang)
    return [_finding(question, seen, lang)]


def after_prediction(question: Question, said: Prediction, seen: Look, lang: str) -> list[Line]:
    """What the log says to a learner who has committed: does it hold, what is so, why it looked otherwise."""
    lines = [_prediction(question, said, seen, lang)]
    if not seen.answers:
        return [*lines, *of_look(question, seen, lang), look_yourself(question, lang)]
    lines.append(_finding(question, seen, lang))
    predicted = question.outcomes.get(said.outcome)
    excused = excuse(question, said, seen) in ("also", "open")
    missed = not question.same(said.outcome, seen.outcome) and not excused
    if predicted and missed and predicted.tempting:
        why = predicted.tempting(lang, safe(seen.finding.facts))
        lines.append(Line("tempting", why, label=say("walk.looked_right", lang)))
    return [*lines, *_checks(question, seen, lang)]


def why_silent(finding: Finding, lang: str) -> list[Line]:
    """Why the log can't tell: a line for each signal that is missing, with how to record it, or one line."""
    facts = safe(finding.facts)
    if finding.outcome == NOT_YET:
        rows = {name: facts[name] for name in ("rows", "needed")}
        said = say("walk.too_short", lang, **rows, more=more_rows(finding))
        return [Line("silent", said, verdict=NOT_YET)]
    assert finding.outcome == NO_DATA, finding.outcome
    if not (missing := facts.get("missing")):
        return [Line("silent", say("walk.only_you", lang), verdict=NO_DATA)]
    return [
        Line(
            "silent",
            _not_recorded(name, lang),
            note=say("walk.to_have_it", lang, how=how_to_log(name, lang)),
            verdict=NO_DATA,
        )
        for name in missing
    ]


FIRST_ROW = "[0]"
"""Behind a signal's name: its value at the run's first step, which a log that begins later lacks."""
_PART = re.compile(r"(?P<signal>.+)\[(?P<first>[0-9]+)\.\.(?P<last>[0-9]+)\]")
"""A signal's name and steps of which the log lacks it, though it has others."""


def _not_recorded(signal: str, lang: str) -> str:
    if signal.endswith(FIRST_ROW):
        return say("walk.begins_late", lang, signal=signal.removesuffix(FIRST_ROW))
    if part := _PART.fullmatch(signal):
        return say("walk.not_there", lang, signal=part["signal"], where=_where(part, lang))
    return say("walk.not_recorded", lang, signal=signal)


def _where(part: re.Match[str], lang: str) -> str:
    """At which steps a signal's part is missing."""
    key = "walk.began_at" if part["first"] == part["last"] else "walk.over_steps"
    return say(key, lang, first=part["first"], last=part["last"])


def to_record(signal: str, lang: str) -> str:
    """What is to be recorded, in words."""
    if signal.endswith(FIRST_ROW):
        return say("walk.of_first_step", lang, signal=plain(signal.removesuffix(FIRST_ROW)))
    if part := _PART.fullmatch(signal):
        return f"{plain(part['signal'])} {_where(part, lang)}"
    return plain(signal)


def how_to_log(signal: str, lang: str) -> str:
    """How to record a signal; for one that tutor has no words for, a line that fits any."""
    if signal.endswith(FIRST_ROW):
        return say("walk.log_first", lang)
    if part := _PART.fullmatch(signal):
        return say("walk.log_all", lang, signal=plain(part["signal"]))
    try:
        return say(f"signals.{signal}.how", lang)
    except (KeyError, TypeError):
        return say("walk.log_it", lang, signal=plain(signal))


def look_yourself(question: Question, lang: str) -> Line:
    """How to see for oneself what the log can't tell."""
    return Line("look", question.look(lang, question.numbers), label=say("walk.look_yourself", lang))


def answer_label(question: Question, outcome: str, lang: str) -> str:
    """An answer in a word or two, that the log can't tell among them."""
    return say("walk.cant_tell", lang) if outcome == UNSURE else question.outcomes[outcome].label(lang)


def _prediction(question: Question, said: Prediction, seen: Look, lang: str) -> Line:
    answer = answer_label(question, said.outcome, lang)
    you_said = Line("prediction", say("walk.you_said", lang, answer=answer, confidence=said.confidence))
    right = question.same(said.outcome, seen.outcome) if seen.answers else said.outcome == UNSURE
    if not seen.answers and (not right or said.seen_before):
        return you_said  # nobody can tell, or knows by now that nobody can
    missed = excuse(question, said, seen) or "wrong"
    held = "seen_before" if said.seen_before else "right" if right else missed
    return replace(you_said, label=say(f"walk.{held}", lang), verdict=held)


def _checks(question: Question, seen: Look, lang: str) -> Iterator[Line]:
    """A line for each check; one that can't tell has a further line for each further missing signal."""
    decider = _decider(question, seen)
    for name, finding in seen.checks.items():
        check = question.checks[name]
        says = check.says.get(finding.outcome)
        if says:
            first, *more = [_found("check", says(lang, safe(finding.facts)), finding, (check.rule,), lang)]
        else:
            first, *more = why_silent(finding, lang)
        yield replace(first, role="check", label=f"{check.label(lang)}:", decides=name == decider)
        yield from more


def _decider(question: Question, seen: Look) -> str | None:
    """The check that decides: the first with an outcome of the question. None where no check does."""
    return next((name for name, found in seen.checks.items() if found.outcome in question.outcomes), None)


def _finding(question: Question, seen: Look, lang: str) -> Line:
    """The answer: what was measured is its check's own, its sentence may name what earlier checks found."""
    text = question.outcomes[seen.outcome].says(lang, safe(seen.finding.facts))
    decider = _decider(question, seen)
    finding = seen.checks[decider] if decider else seen.finding
    notes = [say("walk.just", lang, margin=100 * finding.margin)] if seen.close and finding.margin else []
    if seen.began and seen.began[0] < seen.began[1]:
        first, last = seen.began
        notes.append(
            say("walk.it_began", lang, where=say("walk.began_between", lang, first=first, last=last))
        )
    line = _found("finding", text, finding, _deciding(question, seen), lang)
    return replace(line, note=" ".join((*notes, *_origins(finding, lang))))


def _deciding(question: Question, seen: Look) -> Iterable[Rule]:
    """The rules that the answer rests on."""
    decider = _decider(question, seen)
    return (question.checks[decider].rule,) if decider else question.rules


def of_sources(question: Question, seen: Look, lang: str) -> list[str]:
    """Where the numbers come from by which the log answers a question, a line each; [] where it doesn't."""
    return [*cited(_deciding(question, seen), lang)] if seen.answers else []


def _origins(finding: Finding, lang: str) -> list[str]:
    """Where each fact comes from that the run doesn't say of itself."""
    return [
        say("walk.fact_from" if one.place else "walk.fact_given", lang, fact=name, place=plain(one.place))
        for name, one in finding.origins.items()
    ]


def _found(role: Role, text: str, finding: Finding, rules: Iterable[Rule], lang: str) -> Line:
    facts = safe(finding.facts)
    return Line(
        role,
        text,
        verdict=finding.outcome,
        value=next((facts[name] for name in MEASURED if facts.get(name) is not None), None),
        bound=finding.level if finding.level is not None else facts.get("bound"),
        step=finding.step,
        window=finding.window,
        sources=cited(rules, lang),
    )


def cited(rules: Iterable[Rule], lang: str) -> tuple[str, ...]:
    """Where the numbers of `rules` come from, each source once, in the order of the numbers.

    One that another says more of is left out: "the original tree" beside "the original tree: 5.0".
    """
    every = dict.fromkeys(source(lang) for rule in rules for source in rule.sources.values())
    return tuple(one for one in every if not any(other.startswith(f"{one}: ") for other in every))


def safe(value: Any) -> Any:
    """Facts, safe to draw: a log's strings may hold what steers a terminal."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: safe(item) for key, item in value.items()}
    return [safe(item) for item in value] if isinstance(value, list | tuple) else value


def of_rules(question: Question, seen: Look, lang: str) -> list[Line]:
    """How the log was asked: a line for each rule with its numbers, the steps it looked at and its margin."""
    findings = [(check.rule, seen.checks[name]) for name, check in question.checks.items()]
    if question.rule:
        findings.append((question.rule, seen.finding))
    return [_rule(rule, finding, lang) for rule, finding in findings]


def _rule(rule: Rule, finding: Finding, lang: str) -> Line:
    numbers = ", ".join(f"{name} {_number(value)}" for name, value in rule.numbers.items())
    parts = [f"{rule.detector}({numbers})"]
    if finding.window:
        first, last = finding.window
        parts.append(say("check.looked_at", lang, first=first, last=last))
    if finding.margin is not None:
        facts = {"measured": finding.measured, "bound": finding.bound, "margin": 100 * finding.margin}
        parts.append(say("check.held_against", lang, **facts))
    return Line("rule", " · ".join(parts), window=finding.window, sources=cited((rule,), lang))


def _number(value: Number | Group) -> str:
    if isinstance(value, Window):
        return f"{value.steps} steps/{value.rows} rows"
    if isinstance(value, Grouped):
        (_, first), *others = value.values.items()
        return f"{number(first)} ({', '.join(f'{name} {number(one)}' for name, one in others)})"
    return number(value)


def of_answer(question: Question, answer: Answer, lang: str) -> Line:
    """The answer taken, or that none is known and which is taken in its place."""
    label = answer_label(question, answer.outcome, lang)
    text = say("check.assumed", lang, answer=label) if answer.by == "assumed" else label
    return Line("answer", text, verdict=answer.outcome)


def more_rows(finding: Finding) -> int:
    """How many rows more a log needs that is too short for a rule."""
    return max(1, int(finding.facts["needed"] - finding.facts["rows"]))


def of_table(walk: Walk, lang: str) -> list[Line]:
    """A line for each check of the table that the walk's leaf shows; [] where it shows none.

    Their verdict is the check's outcome, NO_DATA where nobody recorded what it asks for.
    """
    seen = tabled(walk)
    if seen is None:
        return []
    question = walk.tree.questions[seen.question]
    rows = {name: _row(question.checks[name], finding, lang) for name, finding in seen.checks.items()}
    return [
        replace(row, decides=seen.checks[name].outcome in question.outcomes) for name, row in rows.items()
    ]


def mark_of(row: Line) -> str:
    """The mark of a table's row: a check that decides speaks for its flaw, another one has found none."""
    return "?" if row.verdict in (NO_DATA, NOT_YET) else "✗" if row.decides else "✓"


def _row(check: Check, finding: Finding, lang: str) -> Line:
    says = check.says.get(finding.outcome)
    if says:
        line = _found("table", says(lang, safe(finding.facts)), finding, (check.rule,), lang)
    else:
        missing = [plain(name) for name in finding.facts.get("missing", ())]
        line = Line("table", say("walk.unknown", lang, missing=missing), verdict=finding.outcome)
    return replace(line, label=check.label(lang))
