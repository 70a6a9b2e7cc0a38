"""What is said of a question's windows over a log with few rows: which of them are taken in rows."""

from collections.abc import Iterator

from tutor.detectors.windows import Window, cadence
from tutor.run import Run
from tutor.tree import Question
from tutor.words import say


def of_windows(question: Question, run: Run, lang: str) -> str:
    """How many rows stand for the windows that the question names in steps; "" where each is as it says."""
    taken = [
        say(
            "walk.as_rows", lang, steps=window.steps, rows=window.rows, span=round(window.rows * cadence(run))
        )
        for window in _asked(question, run, lang)
        if window.rows * cadence(run) > window.steps
    ]
    return say("walk.in_rows", lang, every=cadence(run), windows=taken) if taken else ""


def _asked(question: Question, run: Run, lang: str) -> Iterator[Window]:
    """The windows of its rule that its sentence names."""
    if question.rule is None or not len(run):
        return
    asked = question.ask(lang)
    for name, number in question.rule.numbers.items():
        if isinstance(number, Window) and f"{{{name}}}" in asked:
            yield number.of(run)
