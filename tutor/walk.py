"""Walk: where a learner stands in a tree, over one run. Frozen: every step gives a new Walk.

walk = begin(run, tree)
look(walk)                          what the log says of the question at hand
walk = predict(walk, "yes", 3)      the learner commits
walk = go_on(walk)                  and goes where the log (or, without data, the learner) says
unattended(run, tree)               the same walk with nobody watching
"""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from tutor import detectors
from tutor.detectors import NO_DATA, NOT_YET, Finding
from tutor.run import Run
from tutor.tree import Leaf, Question, Times, Tree

UNSURE = "?"
"""The prediction that the log can't tell."""


@dataclass(frozen=True)
class Look:
    """What the log says of one question.

    Attributes:
        outcome: one of the question's, or NO_DATA, or NOT_YET.
        finding: of the rule, or of the check that decided.
        checks: every check's finding by its name, where the question has several.
    """

    question: str
    outcome: str
    finding: Finding
    checks: Mapping[str, Finding]

    @property
    def answers(self) -> bool:
        """Whether the log can tell."""
        return self.outcome not in (NO_DATA, NOT_YET)


@dataclass(frozen=True)
class Prediction:
    """What the learner said before the log spoke. `confidence` runs from 1 to 5."""

    outcome: str
    confidence: int


@dataclass(frozen=True)
class Answer:
    """A question that lies behind us.

    Attributes:
        outcome: the one taken.
        by: "log", "learner" (the log couldn't tell) or "assumed" (nor was anybody there).
        focus: the step under discussion when the question was asked.
        facts: what was measured.
    """

    question: str
    outcome: str
    by: str
    prediction: Prediction | None
    hints: int
    focus: int | None
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Walk:
    """Where we stand. `at` is the id of a question or, at the end, of a leaf."""

    run: Run
    tree: Tree
    at: str
    answers: tuple[Answer, ...] = ()
    focus: int | None = None
    prediction: Prediction | None = None
    hints: int = 0

    @property
    def question(self) -> Question | None:
        """The question at hand, or None at a leaf."""
        return self.tree.questions.get(self.at)

    @property
    def leaf(self) -> Leaf | None:
        """The leaf we stand on, or None."""
        return self.tree.leaves.get(self.at)

    @property
    def facts(self) -> dict[str, Any]:
        """What was measured on the path, the later over the earlier, and `focus`, the step discussed."""
        gathered: dict[str, Any] = {}
        for answer in self.answers:
            gathered |= answer.facts
        return gathered | {"focus": self.focus}


def begin(run: Run, tree: Tree) -> Walk:
    """A walk at the tree's first question."""
    return Walk(run, tree, tree.start)


def look(walk: Walk) -> Look:
    """What the log says of the question at hand."""
    question = walk.question
    assert question is not None, "a leaf asks nothing"
    if question.rule:
        finding = detectors.apply(question.rule.detector, walk.run, question.rule.numbers, walk.focus)
        return Look(walk.at, finding.outcome, finding, {})
    if not question.checks:
        return Look(walk.at, NO_DATA, Finding(NO_DATA, facts={"missing": []}), {})
    checks: dict[str, Finding] = {}
    facts: dict[str, Any] = {}  # of the checks so far: a later one may go on from an earlier one's
    decided = None
    for name, check in question.checks.items():
        found = detectors.apply(check.rule.detector, walk.run, check.rule.numbers, walk.focus, facts)
        checks[name] = found
        if found.outcome not in (NO_DATA, NOT_YET):
            facts = {**facts, **found.facts}
        if decided is None and found.outcome in question.outcomes:
            decided = replace(found, facts=facts)
    if decided:
        return Look(walk.at, decided.outcome, decided, checks)
    for silent in (NO_DATA, NOT_YET):
        if all(finding.outcome == silent for finding in checks.values()):
            return Look(walk.at, silent, next(iter(checks.values())), checks)
    return Look(walk.at, question.otherwise, Finding(question.otherwise, walk.focus), checks)


def predict(walk: Walk, outcome: str, confidence: int) -> Walk:
    """The learner commits to an outcome (or to UNSURE), before the log speaks."""
    assert walk.question, "a leaf asks nothing"
    assert outcome == UNSURE or outcome in walk.question.outcomes, outcome
    assert 1 <= confidence <= 5, confidence
    return replace(walk, prediction=Prediction(outcome, confidence))


def take(walk: Walk, outcome: str, by: str, seen: Look) -> Walk:
    """The walk after `outcome`: at the next question or leaf."""
    question = walk.question
    goal = question.outcomes[outcome]
    answer = Answer(walk.at, outcome, by, walk.prediction, walk.hints, walk.focus, dict(seen.finding.facts))
    focus = (
        seen.finding.step if question.focus and seen.answers and seen.finding.step is not None else walk.focus
    )
    return replace(
        walk,
        at=goal.next or goal.leaf,
        answers=(*walk.answers, answer),
        focus=focus,
        prediction=None,
        hints=0,
    )


def go_on(walk: Walk, seen: Look, outcome: str | None = None) -> Walk:
    """On to where the log says or, where it can't tell, to where the learner's `outcome` leads.

    Raises:
        ValueError: the log can't tell and no outcome was given.
    """
    if seen.answers:
        return take(walk, seen.outcome, "log", seen)
    if outcome is None or outcome not in walk.question.outcomes:
        raise ValueError("the log can't tell: an answer is needed")
    return take(walk, outcome, "learner", seen)


def pick(walk: Walk, step: int) -> Walk:
    """Take up another step as the one under discussion."""
    return replace(walk, focus=step)


def reveal(walk: Walk) -> Walk:
    """One more hint, while there are any."""
    question = walk.question
    return replace(walk, hints=min(walk.hints + 1, len(question.hints))) if question else walk


def back(walk: Walk) -> Walk:
    """Undo: the prediction if one is committed, else the last answer (with its prediction kept)."""
    if walk.prediction is not None:
        return replace(walk, prediction=None)
    if not walk.answers:
        return walk
    last = walk.answers[-1]
    return replace(
        walk, at=last.question, answers=walk.answers[:-1], focus=last.focus, prediction=None, hints=last.hints
    )


def unattended(run: Run, tree: Tree) -> tuple[Walk, list[Look]]:
    """The walk with nobody watching, and what the log said on the way.

    Where the log can't tell, it goes on with the question's `assume`; without one it stops there, so the
    walk may end at a question.
    """
    walk, looks = begin(run, tree), []
    while walk.question:
        seen = look(walk)
        looks.append(seen)
        if seen.answers:
            walk = take(walk, seen.outcome, "log", seen)
        elif walk.question.assume:
            walk = take(walk, walk.question.assume, "assumed", seen)
        else:
            break
    return walk, looks


def flawed(walk: Walk) -> bool:
    """Whether something is wrong: the leaf is a flaw, or an answer on the way to it was a symptom."""
    if walk.leaf and walk.leaf.verdict == "flaw":
        return True
    return any(walk.tree.questions[a.question].outcomes[a.outcome].symptom for a in walk.answers)


def verdict(walk: Walk) -> str:
    """ "healthy", "flaw" or "undecided": no leaf yet, or a healthy one though a symptom was found."""
    if walk.leaf is None or (walk.leaf.verdict == "healthy" and flawed(walk)):
        return "undecided"
    return walk.leaf.verdict


def ruled_out(walk: Walk) -> list[Any]:
    """The look-alikes (Words) that the answers on the path rule out, in order."""
    taken = (walk.tree.questions[a.question].outcomes[a.outcome] for a in walk.answers)
    return [outcome.rules_out for outcome in taken if outcome.rules_out]


def fix_command(run: Run, change: Mapping[str, Any]) -> str | None:
    """The command that trains the run again with `change`, or None for a run that tutor didn't train."""
    try:
        words = [word for word in shlex.split(run.manifest.command or "") if word != "--control"]
    except ValueError:  # a quote without its other half
        return None
    if words[:2] != ["tutor", "train"] or not change:
        return None
    if "--out" in words:
        at = words.index("--out")
        del words[at : at + 2]
    from tutor import settings  # a walk begins without them

    was = run.manifest.settings
    try:
        values = {
            name: settings.scaled(was.get(name), value.times) if isinstance(value, Times) else value
            for name, value in change.items()
        }
    except ValueError:
        return None
    if all(name in was and was[name] == value for name, value in values.items()):
        return None
    for assignment in settings.assignments(values):
        words += ["--set", assignment]
    return shlex.join(words)


def to_state(walk: Walk) -> dict[str, Any]:
    """The walk as plain data for a draft."""
    state = asdict(replace(walk, run=None, tree=None))
    return state | {"tree": walk.tree.tree, "run": str(walk.run.path)}


def from_state(run: Run, tree: Tree, state: Mapping[str, Any]) -> Walk:
    """The walk that was left. It ends at the first answer that the tree no longer knows, or that the log
    no longer gives: a run that was still training has moved on.

    Raises:
        ValueError: the state isn't one.
    """
    try:
        walk, focus = begin(run, tree), state["focus"]
        if focus is not None and not isinstance(focus, int):
            raise TypeError("its step is no whole number")
        steps = [*(raw["focus"] for raw in state["answers"]), focus]
        for raw, step, then in zip(state["answers"], steps, steps[1:], strict=False):
            if (
                walk.question is None
                or walk.at != raw["question"]
                or raw["outcome"] not in walk.question.outcomes
                or (raw["by"] == "log" and not _still(replace(walk, focus=step), raw["outcome"], then))
            ):
                break
            answer = Answer(**raw | {"prediction": _prediction(walk, raw["prediction"])})
            if not isinstance(answer.facts, Mapping) or not isinstance(answer.hints, int):
                raise TypeError("an answer's facts or hints are of another kind")
            goal = walk.question.outcomes[answer.outcome]
            walk = replace(walk, at=goal.next or goal.leaf, answers=(*walk.answers, answer), focus=then)
        else:
            if walk.question:
                hints = max(0, min(int(state["hints"]), len(walk.question.hints)))
                return replace(
                    walk, prediction=_prediction(walk, state["prediction"]), hints=hints, focus=focus
                )
        return walk
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"the saved walk can't be read: {error}") from None


def _still(walk: Walk, outcome: str, then: int | None) -> bool:
    """Whether the log still says `outcome` here and, where that finds the step, still finds `then`."""
    seen = look(walk)
    if not seen.answers or seen.outcome != outcome:
        return False
    return not walk.question.focus or then in (seen.finding.step, *seen.finding.others, walk.focus)


def _prediction(walk: Walk, state: Mapping[str, Any] | None) -> Prediction | None:
    """The prediction in a draft; None where the question has no such outcome."""
    if not state or state["outcome"] not in (*walk.question.outcomes, UNSURE):
        return None
    return Prediction(state["outcome"], max(1, min(int(state["confidence"]), 5)))
