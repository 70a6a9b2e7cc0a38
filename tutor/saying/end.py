"""What the log says of a whole run: how each tree ended, what that leaves undecided, and the smallest fix."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tutor.detectors import NOT_YET, Finding
from tutor.run.planned import over
from tutor.saying.leaf import of_fix, of_meaning, of_noticed
from tutor.saying.question import Line, how_to_log, look_yourself, more_rows, of_look, to_record
from tutor.walk import (
    AtQuestion,
    Look,
    Stage,
    Walk,
    deciding,
    fix_command,
    flawed,
    known_answers,
    named,
    suspicions,
    unanswered,
    verdict,
    waiting,
)
from tutor.words import plain, say


def too_early(looks: Sequence[Look]) -> list[str]:
    """The questions for which the run is too short."""
    return [look.question for look in looks if look.outcome == NOT_YET]


def assumed(walk: Walk) -> list[str]:
    """The questions answered by assumption, for want of data."""
    return [answer.question for answer in walk.answers if answer.by == "assumed"]


def command(walk: Walk) -> str | None:
    """The smallest fix as a command, where it is one."""
    fixes = walk.leaf.fixes if walk.leaf else ()
    return fix_command(walk.run, fixes[0].change) if fixes else None


def verdict_of(stages: Sequence[Stage]) -> str:
    """ "healthy", "flaw" or "undecided": healthy only where every tree walked says so."""
    if flawed(deciding(stages).walk):
        return "flaw"
    return "undecided" if "undecided" in {verdict(stage.walk) for stage in stages} else "healthy"


def folded(stage: Stage, lang: str) -> str:
    """A tree that only led on to the next, in a few words: what is wrong, or how much the log answered."""
    if stage.flawed and stage.walk.leaf is not None:
        return stage.walk.leaf.name(lang)
    return say("check.folded", lang, passed=stage.passed, count=len(stage.looks))


def open_questions(stages: Sequence[Stage], lang: str) -> Line | None:
    """In a short line how many questions keep walks undecided that found nothing; None where it isn't so."""
    if verdict_of(stages) != "undecided" or waiting(deciding(stages).walk):
        return None
    return _open(stages, lang)


def _open(stages: Sequence[Stage], lang: str) -> Line | None:
    count = sum(len(unanswered(stage.walk)) for stage in stages)
    return Line("undecided", say("check.open", lang, count=count), verdict="undecided") if count else None


def _undecided(stages: Sequence[Stage], lang: str) -> Iterator[Line]:
    """Why walks are undecided though they reached a leaf, and what would settle it."""
    unseen = [unanswered(stage.walk) for stage in stages]
    early = [
        [one for one in questions if one in too_early(stage.looks)]
        for stage, questions in zip(stages, unseen, strict=True)
    ]
    first, hidden = _open(stages, lang), say("check.unseen", lang)
    yield first or Line("undecided", hidden, verdict="undecided")
    if noticed := of_noticed(deciding(stages).walk, lang, harmless=False):
        yield Line("means", noticed)
    if first and stages[0].walk.run.unseen:
        yield Line("assumed", hidden)
    if found := _called(stages, early, lang):
        short = [
            one
            for stage, questions in zip(stages, early, strict=True)
            for look in stage.looks
            if look.question in questions
            for one in findings(look)
            if one.outcome == NOT_YET
        ]
        rows = max(map(more_rows, short), default=1)
        key = "check.too_sparse" if over(stages[0].walk.run) else "check.too_early"
        yield Line("assumed", say(key, lang, questions=found, rows=rows))
    yield from dict.fromkeys(
        line
        for stage, questions in zip(stages, unseen, strict=True)
        for line in _to_record(stage, questions, lang)
    )
    for stage, questions in zip(stages, unseen, strict=True):
        if questions:
            named = _called([stage], [questions], lang)
            of = f"{stage.walk.tree.tree}, " * (len(stages) > 1)
            yield Line("assumed", say("check.unanswered", lang, tree=of, questions=named))


def _to_record(stage: Stage, questions: Sequence[str], lang: str) -> Iterator[Line]:
    """A line for each signal that these questions lacked: how to record it."""
    looks = [look for look in stage.looks if look.question in questions and look.outcome != NOT_YET]
    precision = stage.walk.run.manifest.precision
    lacking = dict.fromkeys(name for look in looks for name in missing(look))
    if precision not in (None, "fp16"):  # which alone has a scale
        lacking.pop("loss_scale", None)
    for name in lacking:
        what, how = to_record(name, lang), how_to_log(name, lang)
        yield Line("assumed", say("check.not_recorded", lang, signal=what, how=how))


def _unnamed(stage: Stage, lang: str) -> Iterator[Line]:
    """That something is wrong which the log isn't enough to name: what shows it, and which answer would."""
    walk, at = stage.walk, waiting(stage.walk)
    walked = any(answer.prediction for answer in walk.answers)  # else nobody was there
    key = "check.unnamed" if at else "check.no_cause" if walked else "check.not_walked"
    shown = _first_symptom(stage, lang)
    yield Line("leaf", say(key, lang, found=shown, question=at.at if at else ""), verdict="flaw")
    seen = {look.question: look for look in stage.looks}
    for id in suspicions(walk):
        if id in seen:
            shown = of_look(walk.tree.questions[id], seen[id], lang)
            yield from (replace(line, role="means", label=f"{id}:") for line in shown if line.verdict)
    if at is not None:
        asked = at.question.ask(lang, at.question.numbers)
        answers = [outcome.label(lang) for outcome in at.by_hand.values()]
        yield Line("look", f"{asked} ({', '.join(answers)})", label=f"{at.at}:")
        yield from _to_settle(at, stage, lang)
    else:
        yield from _to_record(stage, unanswered(walk), lang)
    yield from _meanwhile(stage, lang)


def _meanwhile(stage: Stage, lang: str) -> Iterator[Line]:
    """What to do with the run, whatever the cause is."""
    for look in stage.looks:
        outcome = stage.walk.tree.questions[look.question].outcomes.get(look.outcome)
        if look.question in suspicions(stage.walk) and outcome and outcome.now:
            told = outcome.now(lang, look.finding.facts)
            yield Line("advice", told, label=f"{say('check.now', lang)}:")


def _first_symptom(stage: Stage, lang: str) -> str:
    """What first shows that something is wrong, in a few words: `NaN or Inf? yes, at step 3010`."""
    first = suspicions(stage.walk)[0]
    question = stage.walk.tree.questions[first]
    answer = next(one.outcome for one in stage.walk.answers if one.question == first)
    look = next((look for look in stage.looks if look.question == first), None)
    step = next((one.step for one in findings(look) if one.step is not None), None) if look else None
    words = {"question": question.title(lang), "answer": question.outcomes[answer].label(lang)}
    return (
        say("check.shown", lang, **words) if step is None else say("check.shown_at", lang, **words, step=step)
    )


def _to_settle(at: AtQuestion, stage: Stage, lang: str) -> Iterator[Line]:
    """How to answer the question at which a walk waits: by looking, and what to record for the next time."""
    yield replace(look_yourself(at.question, lang), label="")
    yield from _to_record(stage, [at.at], lang)


def findings(look: Look) -> tuple[Finding, ...]:
    """What a question's rules found."""
    return (look.finding, *look.checks.values())


def _left_out(stages: Sequence[Stage], lang: str) -> list[str]:
    """The optional questions that the log couldn't answer."""
    return _called(stages, [unanswered(stage.walk, optional=True) for stage in stages], lang)


def _called(stages: Sequence[Stage], questions: Sequence[Sequence[str]], lang: str) -> list[str]:
    """The questions of each stage as a sentence lists them: by title, with their ids and, of several trees,
    the tree.
    """
    return [
        f"{stage.walk.tree.questions[id].title(lang)} ({f'{stage.walk.tree.tree} ' * (len(stages) > 1)}{id})"
        for stage, asked in zip(stages, questions, strict=True)
        for id in asked
    ]


def missing(look: Look) -> list[str]:
    """What wasn't recorded, for a question that the log can't answer."""
    return [name for found in findings(look) for name in found.facts.get("missing", ())]


def of_end(stages: Sequence[Stage], lang: str) -> list[Line]:
    """Where the walk ended: its leaf, what that means and the smallest fix; or why it is undecided."""
    stage = deciding(stages)
    walk, found = stage.walk, verdict_of(stages)
    if found == "flaw" and named(walk) is None:
        return list(_unnamed(stage, lang))
    if at := waiting(walk):
        undecided = Line("undecided", say("check.undecided", lang, question=at.at), verdict="undecided")
        return [undecided, *_to_settle(at, stage, lang)]
    assert walk.leaf is not None, "a walk stands at a question or at a leaf"
    if found == "undecided":
        return list(_undecided(stages, lang))
    lines = [Line("leaf", walk.leaf.name(lang), verdict=found)]
    lines.append(Line("means", of_meaning(walk, lang)))
    if found == "healthy" and (noticed := of_noticed(walk, lang, harmless=True)):
        lines.append(Line("means", noticed))
    if found == "healthy" and (out := _left_out(stages, lang)):
        lines.append(Line("assumed", say("check.left_out", lang, questions=out)))
    for advice in walk.leaf.advice_for(known_answers(walk)):
        lines.append(Line("advice", advice.words(lang), label=f"{say('check.now', lang)}:"))
    if walk.leaf.fixes:
        first = walk.leaf.fixes[0]
        label = say("check.only_looks" if first.only_looks else "check.fix", lang)
        lines.append(Line("fix", of_fix(walk, first, lang), label=f"{label}:"))
    if runnable := command(walk):
        lines.append(Line("command", plain(runnable)))
    return lines
