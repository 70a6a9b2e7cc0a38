"""What is said of an answer that the log has changed, since a run went on training or a fact was given."""

from collections.abc import Sequence

from tutor.saying.question import Line, after_prediction, answer_label
from tutor.tree import Question
from tutor.walk import UNSURE, Change, Look, Prediction, change
from tutor.words import say


def of_change(change: Change, question: Question, lang: str) -> str:
    """From which answer the log has gone to which, and the step at which that shows."""
    before, now = (answer_label(question, outcome, lang) for outcome in (change.before, change.now))
    key = "follow.changed" if change.step is None else "follow.changed_at"
    return say(key, lang, before=before, now=now, step=change.step)


def since_prediction(
    question: Question, said: Prediction, then: Look, seen: Look, lang: str, given: Sequence[str] = ()
) -> list[Line]:
    """As `after_prediction`, of a question to which the log gives another answer than when it was committed:
    since rows came, or since the learner gave the facts named in `given`.

    The prediction is judged by the answer `then`. One that was right had no need to look so: nothing is said
    of why a wrong one would have.
    """
    outcome = then.outcome if then.answers else UNSURE
    changed = change(then.question, outcome, seen)
    assert changed, "the log says the same as then"
    right = said.outcome == outcome
    key = f"follow.{'right_then' if right else 'since'}{'_given' if given else ''}"
    told = say(key, lang, change=of_change(changed, question, lang), facts=given)
    judged, *_ = after_prediction(question, said, then, lang)
    _, *rest = after_prediction(question, said, seen, lang)
    kept = (line for line in rest if not (right and line.role == "tempting"))
    return [judged, Line("changed", told), *kept]
