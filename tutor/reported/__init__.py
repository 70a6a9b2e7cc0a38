"""A run that was checked, as `tutor check --json` prints it: see `tutor.reported.keys`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, cast

from tutor import detectors, saying
from tutor.detectors import NOT_YET, Finding
from tutor.reported.keys import (
    FORMAT,
    AskedData,
    CheckData,
    FixData,
    LeafData,
    LineData,
    OutcomeData,
    QuestionData,
    Refused,
    RowData,
    SettlesData,
    SignalData,
    TreeData,
    Verdict,
)
from tutor.run import Run
from tutor.saying import Line, how_to_log
from tutor.saying.end import findings, missing
from tutor.saying.question import more_rows
from tutor.tree import Question
from tutor.walk import (
    Answer,
    AtQuestion,
    Look,
    Stage,
    Walk,
    deciding,
    fix_command,
    named,
    suspicions,
    unanswered,
    verdict,
)
from tutor.words import number


def checked(run: Run, stages: Sequence[Stage], lang: str) -> dict[str, Any]:
    """The run for programs, as `Checked` has it: strict JSON, what isn't finite as text."""
    decided = deciding(stages)
    place, walk = stages.index(decided), decided.walk
    whole = saying.verdict_of(stages)
    leaf = _leaf(walk, lang) if named(walk) and whole != "undecided" else None
    data = {
        "format": FORMAT,
        "run": str(run.path),
        **_tree(decided, lang),
        "verdict": whole,
        "leaf": leaf,
        "cause": leaf["means"] if leaf and whole == "flaw" else None,
        **_decision(decided, whole, lang),
        "settles": _settles(stages, lang) if leaf is None else None,
        "remarks": run.told(lang),
        "table": [
            RowData(label=line.label, state=line.verdict, sentence=line.text)
            for line in saying.of_table(walk, lang)
        ],
        "before": [_tree(stage, lang) for stage in stages[:place]],
        "after": [_tree(stage, lang) for stage in stages[place + 1 :]],
    }
    return strict(data)


def refused(run: str, error: Exception) -> Refused:
    """A run that can't be read, for programs."""
    return Refused(format=FORMAT, run=run, error=str(error))


def _decision(stage: Stage, whole: str, lang: str) -> dict[str, Any]:
    """What decided that something is wrong, as `Checked` has it."""
    seen = _decisive(stage) if whole == "flaw" else None
    keys = ("section", "question", "step", "value", "bound", "margin", "window", "signal")
    if seen is None:
        return dict.fromkeys(keys)
    question, finding, focus = stage.walk.tree.questions[seen.question], seen.finding, stage.walk.focus
    lines = saying.of_look(question, seen, lang)
    told = next((line for line in lines if line.decides or line.role == "finding"), Line("finding", ""))
    check = next((name for name, one in seen.checks.items() if one.outcome == seen.outcome), None)
    rule = question.checks[check].rule if check else question.rule
    return {
        "section": question.section_id,
        "question": seen.question,
        "step": _shows_from(question, finding, focus),
        "value": told.value if finding.measured is None else finding.measured,
        "bound": told.bound if finding.bound is None else finding.bound,
        "margin": finding.margin,
        "window": finding.window,
        "signal": _looked_at(finding, rule.detector, stage.walk.run) if rule else None,
    }


def _shows_from(question: Question, finding: Finding, focus: int | None) -> int | None:
    """The step where it shows: of what concerns the whole run, the first one that the rule looked at."""
    if finding.since is not None:
        return finding.since
    if finding.step is not None or question.view != "whole":
        return focus if finding.step is None else finding.step
    return finding.window[0] if finding.window else None


def _looked_at(finding: Finding, detector: str, run: Run) -> str | None:
    """The column that a rule measured: that of its curve, or what the detector looks at in that run."""
    return finding.curve.signal if finding.curve else detectors.signal_of(detector, run)


def _decisive(stage: Stage) -> Look | None:
    """The look that decided; None where only assumptions led there."""
    answered = {answer.question for answer in stage.walk.answers if answer.by == "log"}
    looks = [look for look in stage.looks if look.question in answered]
    symptoms = suspicions(stage.walk)  # a question on the way, answered with what is sound, decides nothing
    looks = [look for look in looks if look.question in symptoms] or looks
    measured = [look for look in looks if look.finding.measured is not None]
    return (measured or looks or [None])[-1]


def _settles(stages: Sequence[Stage], lang: str) -> SettlesData:
    """What would settle what the run is."""
    silent = [look for stage in stages for look in _silent(stage)]
    names = dict.fromkeys(name for look in silent if look.outcome != NOT_YET for name in missing(look))
    short = [one for look in silent for one in findings(look) if one.outcome == NOT_YET]
    walk = deciding(stages).walk
    return SettlesData(
        record=[SignalData(signal=name, how=how_to_log(name, lang)) for name in names],
        rows=max(map(more_rows, short), default=None),
        question=_asked(walk, lang) if isinstance(walk, AtQuestion) else None,
    )


def _silent(stage: Stage) -> Iterator[Look]:
    """What the log says of the questions that it couldn't answer, and that healthy needs."""
    asked = {*unanswered(stage.walk), stage.walk.at}
    return (look for look in stage.looks if look.question in asked and not look.answers)


def _asked(walk: AtQuestion, lang: str) -> AskedData:
    question = walk.question
    return AskedData(
        tree=walk.tree.tree,
        id=walk.at,
        ask=question.ask(lang, question.numbers),
        outcomes=[OutcomeData(id=id, label=one.label(lang)) for id, one in question.offered.items()],
    )


def _tree(stage: Stage, lang: str) -> TreeData:
    walk, looks = stage.walk, stage.looks
    return TreeData(
        tree=walk.tree.tree,
        verdict=cast(Verdict, verdict(walk)),
        too_early=saying.too_early(looks),
        assumed=saying.assumed(walk),
        questions=[_question(stage, look, lang) for look in looks],
        leaf=_leaf(walk, lang) if named(walk) else None,
    )


def _question(stage: Stage, look: Look, lang: str) -> QuestionData:
    question = stage.walk.tree.questions[look.question]
    answer = next((answer for answer in stage.walk.answers if answer.question == look.question), None)
    lines = saying.of_look(question, look, lang)
    return QuestionData(
        id=look.question,
        ask=question.ask(lang, question.numbers),
        log_says=look.outcome,
        outcome=answer.outcome if answer else None,
        by=_by(answer),
        step=look.finding.step,
        bound=look.finding.level,
        margin=look.finding.margin,
        close=look.close,
        facts=dict(look.finding.facts),
        checks={
            name: CheckData(outcome=finding.outcome, facts=dict(finding.facts))
            for name, finding in look.checks.items()
        },
        sources=[*saying.cited(question.rules, lang)],
        sentences=[sentence(line) for line in lines],
        lines=[cast(LineData, asdict(line)) for line in lines],
    )


def _by(answer: Answer | None) -> Literal["log", "assumed"] | None:
    return cast('Literal["log", "assumed"]', answer.by) if answer else None


def _leaf(walk: Walk, lang: str) -> LeafData | None:
    if walk.leaf is None:
        return None
    return LeafData(
        id=walk.at,
        name=walk.leaf.name(lang),
        means=saying.of_meaning(walk, lang),
        fix=saying.command(walk),
        fixes=[
            FixData(
                words=saying.of_fix(walk, fix, lang),
                command=fix_command(walk.run, fix.change),
                only_looks=fix.only_looks,
            )
            for fix in walk.leaf.fixes
        ],
    )


def sentence(line: Line) -> str:
    """A line as text, with its label, and what may follow a finding."""
    note = f" {line.note}" if line.note and line.role == "finding" else ""
    return f"{line.label} {line.text}{note}" if line.label else f"{line.text}{note}"


def strict(value: Any) -> Any:
    """`value` with its non-finite numbers as text, so that every JSON parser reads it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"Inf": "Infinity", "-Inf": "-Infinity"}.get(number(value), "NaN")
    if isinstance(value, Mapping):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return value
