"""The machine: begin, look, predict, go on, back. It knows neither screens nor files."""

from dataclasses import replace
from typing import Any, Literal

from tutor import detectors
from tutor.detectors import NO_DATA, Finding
from tutor.run import Run
from tutor.tree import UNDECIDED, Outcome, Question, Tree
from tutor.walk.standing import SILENT, UNSURE, Answer, AtLeaf, AtQuestion, Look, Place, Prediction, Walk


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
    if not seen.answers:
        return seen
    margin, outcome, step = seen.finding.margin, walk.question.outcomes[seen.outcome], seen.finding.step
    return replace(
        seen,
        began=walk.run.span_of(step, outcome.onset) if outcome.onset and step is not None else None,
        close=margin is not None and margin <= walk.tree.close,
        in_part=seen.in_part or outcome.open,
    )


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
        if found.outcome not in SILENT:
            facts = {**facts, **found.facts}
        if decided is None and found.outcome in question.outcomes:
            decided = replace(found, facts=facts)
    if decided:
        return Look(walk.at, decided.outcome, decided, checks)
    for silent in SILENT:
        if all(finding.outcome == silent for finding in checks.values()):
            return Look(walk.at, silent, next(iter(checks.values())), checks)
    otherwise = question.otherwise
    assert otherwise, "a question with checks says what holds when none decides"
    in_part = any(finding.outcome in SILENT for finding in checks.values())
    return Look(walk.at, otherwise, Finding(otherwise, walk.focus), checks, in_part=in_part)


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
    first = walk.spoken.get(
        place, outcome
    )  # who comes back to it and says the same has learned nothing since
    prediction = Prediction(outcome, confidence, seen_before=outcome != first)
    return replace(walk, prediction=prediction, spoken={place: outcome, **walk.spoken})


def excuse(
    question: Question, said: Prediction | None, seen: Look
) -> Literal["close", "also", "open", "in_part"] | None:
    """Why a prediction that missed doesn't count: the log decided by a hair, what was said holds as well, the
    log leaves the question open, or something of it and the learner said so.
    """
    if said is not None and any(question.same(said.outcome, one) for one in seen.finding.also):
        return "also"
    if seen.close:
        return "close"
    if said is None:
        return None
    if seen.outcome in question.outcomes and question.outcomes[seen.outcome].open:
        return "open"
    if seen.outcome == question.otherwise and _untold(question, said.outcome, seen):
        return "open"
    stays_open = said.outcome == UNSURE or question.outcomes[said.outcome].open
    return "in_part" if seen.in_part and stays_open else None


def _untold(question: Question, said: str, seen: Look) -> bool:
    """Whether only a check that couldn't tell would have had that outcome."""
    known = detectors.registry()
    judges = [name for name, check in question.checks.items() if said in known[check.rule.detector].outcomes]
    return bool(judges) and all(seen.checks[name].outcome in SILENT for name in judges)


def take(walk: AtQuestion, outcome: str, by: str, seen: Look) -> Walk:
    """The walk after `outcome`: at the next question or leaf."""
    facts, forgiven = dict(seen.finding.facts), excuse(walk.question, walk.prediction, seen) is not None
    said = walk.prediction
    hit = by == "log" and said is not None and walk.question.same(said.outcome, outcome)
    answer = Answer(walk.at, outcome, by, said, walk.hints, walk.focus, facts, forgiven, hit)
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
            hints=_hints(walk, outcome.next),
        )
    assert outcome.leaf, "an outcome leads to a question or to a leaf"
    return _at_leaf(walk, outcome.leaf, (*walk.answers, answer), focus)


def _at_leaf(walk: AtQuestion, leaf: str, answers: tuple[Answer, ...], focus: int | None) -> AtLeaf:
    return AtLeaf(at=leaf, answers=answers, focus=focus, **_lasting(walk))


def _lasting(walk: Walk) -> dict[str, Any]:
    """What a walk keeps wherever it goes."""
    names = ("run", "tree", "start", "id", "attempt", "spoken", "hinted")
    return {name: getattr(walk, name) for name in names}


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


def unrecorded(walk: AtQuestion) -> bool:
    """Whether this run recorded nothing that the question's rules look at, and the question says what holds
    then. What a learner may know of the configuration is asked.
    """
    rules = walk.question.rules
    assumes = bool(rules and walk.question.assume) and not _decides(walk)
    return assumes and all(detectors.unrecorded(rule.detector, walk.run) for rule in rules)


def pass_over(walk: AtQuestion) -> Walk:
    """On with what is assumed, to the first question of which this run recorded something."""
    ahead: Walk = walk
    while isinstance(ahead, AtQuestion) and unrecorded(ahead):
        ahead = go_on(ahead, look(ahead), UNSURE)
    return ahead


def leave_open(walk: AtQuestion) -> AtLeaf:
    """End undecided, at a question that neither the log nor the learner can answer."""
    return _at_leaf(walk, UNDECIDED, walk.answers, walk.focus)


def pick(walk: Walk, step: int) -> Walk:
    """Take up another step as the one under discussion."""
    return replace(walk, focus=step)


def reveal(walk: AtQuestion) -> AtQuestion:
    """One more hint, while there are any."""
    shown = min(walk.hints + 1, len(walk.question.hints))
    return replace(walk, hints=shown, hinted={**walk.hinted, walk.at: shown})


def back(walk: Walk) -> AtQuestion:
    """Undo: the prediction if one is committed, else the last answer; from an end that is undecided, back to
    its question. What the log said stays seen.
    """
    if isinstance(walk, AtQuestion):
        if walk.prediction is not None:
            return replace(walk, prediction=None)
        if not walk.answers:
            return walk
    elif walk.left_open:
        return _at_question(walk, walk.left_open, walk.answers, walk.focus)
    last = walk.answers[-1]
    return _at_question(walk, last.question, walk.answers[:-1], last.focus, last.hints)


def _at_question(
    walk: Walk, question: str, answers: tuple[Answer, ...], focus: int | None, hints: int = 0
) -> AtQuestion:
    shown = max(hints, _hints(walk, question))
    return AtQuestion(at=question, answers=answers, focus=focus, hints=shown, **_lasting(walk))


def _hints(walk: Walk, question: str) -> int:
    """How many of a question's hints were shown before, as many as it has at most."""
    return max(0, min(walk.hinted.get(question, 0), len(walk.tree.questions[question].hints)))


def _decides(walk: AtQuestion) -> bool:
    """Whether the answer before leaves it to the question at hand what is wrong."""
    if not walk.answers:
        return False
    last = walk.answers[-1]
    return walk.tree.questions[last.question].outcomes[last.outcome].next_decides


def unattended(run: Run, tree: Tree, start: Place | None = None) -> tuple[Walk, list[Look]]:
    """The walk from `start` with nobody watching, and what the log said on the way.

    Where the log can't tell, it goes on with the question's `assume`; without one, or where the answer before
    leaves it to this question what is wrong, it stops there, so the walk may end at a question.
    """
    walk: Walk = begin(run, tree, start)
    looks: list[Look] = []
    while isinstance(walk, AtQuestion):
        seen = look(walk)
        looks.append(seen)
        if not seen.answers and (_decides(walk) or not walk.question.assume):
            break
        walk = go_on(walk, seen, UNSURE)
    return walk, looks
