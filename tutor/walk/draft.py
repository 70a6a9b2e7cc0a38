"""A walk as plain data, and back: what the notebook keeps of a walk that was left."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from tutor.readers.common.beside import told
from tutor.run import Run
from tutor.run.facts import stated
from tutor.tree import UNDECIDED, Tree
from tutor.walk.machine import begin, leave_open, look, stands_at
from tutor.walk.standing import UNSURE, Answer, AtQuestion, Place, Prediction, Walk


def to_state(walk: Walk) -> dict[str, Any]:
    """The walk as plain data for a draft: JSON holds it."""
    return {
        "tree": walk.tree.tree,
        "run": str(walk.run.path),
        "id": walk.id,
        "attempt": walk.attempt,
        "at": walk.at,
        "start": list(walk.start),
        "focus": walk.focus,
        "answers": [asdict(answer) for answer in walk.answers],
        "spoken": [[*place, said] for place, said in walk.spoken.items()],
        "prediction": asdict(walk.prediction) if walk.prediction else None,
        "hints": walk.hints,
        "hinted": dict(walk.hinted),
        "given": {name: fact.value for name, fact in walk.run.origins.items() if not fact.place},
    }


def from_state(run: Run, tree: Tree, state: Mapping[str, Any]) -> Walk:
    """The walk that was left. It ends at the first answer that the tree no longer knows, or that the log
    no longer gives: a run that was still training has moved on. What was given of the run's configuration
    then holds, but for what has been given of it since.

    Raises:
        ValueError: the state isn't one.
    """
    try:
        return _read(run, tree, state)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"the saved walk can't be read: {error}") from None


def _read(run: Run, tree: Tree, state: Mapping[str, Any]) -> Walk:
    focus = _step(state["focus"])
    said_now = {name: fact for name, fact in run.origins.items() if not fact.place}
    run = told(run, {**stated(state.get("given") or {}, ""), **said_now})
    walk: Walk = begin(run, tree, _start(tree, state), attempt=max(1, int(state.get("attempt", 1))))
    hinted = {str(question): int(count) for question, count in (state.get("hinted") or {}).items()}
    walk = replace(walk, id=str(state.get("id") or walk.id), spoken=_spoken(state), hinted=hinted)
    steps = [*(_step(raw["focus"]) for raw in state["answers"]), focus]
    for raw, step, then in zip(state["answers"], steps, steps[1:], strict=False):
        if not isinstance(walk, AtQuestion) or walk.at != raw["question"]:
            return walk
        here = replace(walk, focus=step)
        if raw["outcome"] not in here.question.outcomes:
            return walk
        if raw["by"] == "log" and not _still(here, raw["outcome"], then):
            return walk
        said = _prediction(here, raw["prediction"])
        hit = raw["by"] == "log" and said is not None and here.question.same(said.outcome, raw["outcome"])
        answer = Answer(**raw | {"prediction": said, "hit": hit})
        if not isinstance(answer.facts, Mapping) or not isinstance(answer.hints, int):
            raise TypeError("an answer's facts or hints are of another kind")
        walk = stands_at(walk, here.question.outcomes[answer.outcome], answer, then)
    if not isinstance(walk, AtQuestion):
        return walk
    if state["at"] == UNDECIDED:
        return leave_open(replace(walk, focus=focus))
    hints = max(0, min(int(state["hints"]), len(walk.question.hints)))
    return replace(walk, prediction=_prediction(walk, state["prediction"]), hints=hints, focus=focus)


def _start(tree: Tree, state: Mapping[str, Any]) -> Place | None:
    """Where the walk began; None where the draft doesn't say, or the tree no longer has that question."""
    if "start" not in state:
        return None
    question, focus = state["start"]
    return (question, _step(focus)) if question in tree.questions else None


def _still(walk: AtQuestion, outcome: str, then: int | None) -> bool:
    """Whether the log still says `outcome` here and, where that finds the step, still finds `then`."""
    seen = look(walk)
    if not seen.answers or seen.outcome != outcome:
        return False
    return not walk.question.focus or then in (seen.finding.step, *seen.finding.others, walk.focus)


def _prediction(walk: AtQuestion, state: Mapping[str, Any] | None) -> Prediction | None:
    """The prediction in a draft; None where the question has no such outcome."""
    if not state or state["outcome"] not in (*walk.question.outcomes, UNSURE):
        return None
    confidence = max(1, min(int(state["confidence"]), 5))
    return Prediction(state["outcome"], confidence, seen_before=bool(state.get("seen_before")))


def _spoken(state: Mapping[str, Any]) -> Mapping[Place, str]:
    """Where the log has spoken, and what was said first there.

    A draft of tutor 0.1 doesn't say: then wherever a prediction stands.
    """
    if "spoken" in state:
        return {
            (str(question), _step(focus)): str(said[0]) if said else ""
            for question, focus, *said in state["spoken"]
        }
    places = [(str(raw["question"]), _step(raw["focus"])) for raw in state["answers"] if raw["prediction"]]
    if state.get("prediction"):
        places.append((str(state["at"]), _step(state["focus"])))
    return dict.fromkeys(places, "")


def _step(value: Any) -> int | None:
    if value is not None and not isinstance(value, int):
        raise TypeError("a step is no whole number")
    return value
