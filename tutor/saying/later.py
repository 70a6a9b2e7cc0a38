"""What is said of an answer that the log has changed, since a run went on training."""

from tutor.saying.question import answer_label
from tutor.tree import Question
from tutor.walk import Change
from tutor.words import say


def of_change(change: Change, question: Question, lang: str) -> str:
    """From which answer the log has gone to which, and the step at which that shows."""
    before, now = (answer_label(question, outcome, lang) for outcome in (change.before, change.now))
    key = "follow.changed" if change.step is None else "follow.changed_at"
    return say(key, lang, before=before, now=now, step=change.step)
