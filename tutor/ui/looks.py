"""Looks: what the log says of a question, computed once, and ahead where a long log makes a rule slow."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING

from tutor import detectors, signals
from tutor import walk as walks
from tutor.detectors import Finding
from tutor.run import scoring
from tutor.tree import Question
from tutor.walk import AtQuestion, Look

if TYPE_CHECKING:
    from tutor.plots import Ruling, View


LONG = 20_000
"""Rows from which a rule may take longer than a key: the log is looked at while the question is read."""


class Looks:
    """Looks by question, step under discussion and revision of the run. Any thread may ask."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int | None, Hashable], Future[Look]] = {}
        self._lock = Lock()

    def at(self, walk: AtQuestion) -> Look:
        """What the log says at `walk`; waits where another thread is at it."""
        key, begun = _key(walk), Future()
        with self._lock:
            found = self._known.setdefault(key, begun)
        if found is begun:
            try:
                begun.set_result(walks.look(walk))
            except BaseException as error:
                self._known.pop(key)
                begun.set_exception(error)
        return found.result()

    def quick(self, walk: AtQuestion) -> bool:
        """Whether `at` needs no thread of its own: the log is short, or has been looked at."""
        found = self._known.get(_key(walk))
        return len(walk.run) < LONG or (found is not None and found.done())


def _key(walk: AtQuestion) -> tuple[str, int | None, Hashable]:
    return walk.at, walk.focus, walk.run.revision


def _by_panel(question: Question, seen: Look) -> dict[str, Finding]:
    """What each rule found, by the panel that it is asked over."""
    if seen.checks:
        return {question.checks[name].panel: finding for name, finding in seen.checks.items()}
    return {panel_of(question, seen): seen.finding}


def bounds(question: Question, seen: Look) -> dict[str, float | None]:
    """The bounds of the rules that were applied, by the panel they are drawn on."""
    return {panel: finding.level for panel, finding in _by_panel(question, seen).items()}


def ruling(question: Question, seen: Look, panel: str) -> Ruling | None:
    """What a rule showed on `panel`, and on each the step that decided; None where the log can't tell."""
    from tutor.plots import Ruling

    if not seen.answers:
        return None
    found, step = _by_panel(question, seen).get(panel), seen.finding.step
    if found is None:
        return Ruling(step=step)
    curve = found.curve
    if curve is None:
        return Ruling(found.window, step)
    return Ruling(found.window, step, curve.signal, curve.steps, curve.values)


def asked(walk: AtQuestion, panel: str) -> str:
    """The signal that the question's rule looks at, where `panel` is the question's, else ""; "scores" where
    it looks at those of the log, too, and validation needs no axis of its own.
    """
    rule = walk.question.rule
    if rule is None or panel != walk.question.panel:
        return ""
    signal = detectors.signal_of(rule.detector, walk.run)
    if signal not in ("val_loss", "step") and detectors.looks_at_scores(rule.detector):
        return scoring.SCORES if scoring.among(walk.run.frame.columns) else signal or ""
    return "" if signal in (None, "step") else signal  # of steps alone nothing is drawn


def first_panel(walk: AtQuestion) -> str:
    """The panel to open a question with: its own or, where nothing of it was recorded, one of a check's, or
    that of what its rule looks at instead.
    """
    question = walk.question
    instead = (
        signals.find(detectors.signal_of(question.rule.detector, walk.run) or "") if question.rule else None
    )
    panels = [question.panel, *(check.panel for check in question.checks.values())]
    panels += [instead.panel] if instead and instead.panel else []
    return next((one for one in panels if any(map(walk.run.has, _drawn_on(one)))), question.panel)


def _drawn_on(panel: str) -> list[str]:
    return [signal.name for signal in signals.of_panel(panel)]


def panel_of(question: Question, seen: Look) -> str:
    """The panel of the check that decided; the question's own where it has one rule, or none decided.

    A rule that looked at a signal of another panel, for want of its own, is shown there.
    """
    decided = (name for name, finding in seen.checks.items() if finding.outcome == seen.outcome)
    if name := next(decided, None):
        return question.checks[name].panel
    drawn = signals.find(seen.finding.curve.signal) if seen.finding.curve else None
    return drawn.panel if drawn and drawn.panel and not seen.checks else question.panel


def view_of(walk: AtQuestion, seen: Look, mark: int | None) -> View:
    """The steps that show what the answer rests on."""
    from tutor import plots

    found = _by_panel(walk.question, seen).get(panel_of(walk.question, seen), seen.finding)
    if found.window is None and walk.question.view != "mark":
        return opening(walk)
    return plots.around_ruling(walk.run, mark, found.window, seen.finding.step)


def opening(walk: AtQuestion) -> View:
    """The steps that show what the question asks about."""
    from tutor import plots

    match walk.question.view:
        case "whole":
            return plots.whole(walk.run)
        case "start":
            first = plots.whole(walk.run)[0]
            return first, first
        case "checkpoints":
            return plots.around_checkpoints(walk.run, walk.focus)
        case _:
            return plots.default_view(walk.run, walk.question.panel, walk.focus)


def steps_to_pick(walk: AtQuestion, seen: Look | None, looks: Looks) -> tuple[int, ...]:
    """The steps that may be taken up: what the question just answered, or the one before, has found."""
    if seen and seen.answers and walk.question.focus:
        finding = seen.finding
    elif walk.answers and walk.tree.questions[walk.answers[-1].question].focus:
        before = walks.back(walk)
        finding = looks.at(walks.back(before) if walk.prediction else before).finding
    else:
        return ()
    return (finding.step, *finding.others) if finding.step is not None else ()
