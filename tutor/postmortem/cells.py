"""Cell rules: what one panel says of one hypothesis, each a named function that declares what it needs.

To add one, write a function in evidence.py under `@cell(panel, hypothesis, ...)`. None of them checks that
what it needs was recorded: a cell whose signals are missing is answered here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tutor.postmortem.form import Offer, Reading, Verdict
from tutor.postmortem.incident import Incident
from tutor.run import PANELS, Run, scoring
from tutor.signals import find
from tutor.words import number, plain


def reading(verdict: Verdict, why: str, **facts: Any) -> Reading | None:
    """What a rule says: a verdict, the reason's key in tutor/words, and its figures.

    Returns:
        None where one of the figures isn't known: then there is no reason to give.
    """
    if None in facts.values():
        return None
    return Reading(
        verdict=verdict, why=why, facts={name: plain(number(value)) for name, value in facts.items()}
    )


Function = Callable[[Incident], Reading | None]


@dataclass(frozen=True)
class CellRule:
    """A rule with what it declares.

    Attributes:
        signals: columns that must all have been recorded.
        any_of: columns of which one will do.
        manifest: manifest keys that must be known.
        numbers: detectors whose numbers the tree must have.
        at_step: whether it needs a step where it began.
    """

    panel: str
    hypothesis: str
    function: Function
    signals: tuple[str, ...]
    any_of: tuple[str, ...]
    manifest: tuple[str, ...]
    numbers: tuple[str, ...]
    at_step: bool

    @property
    def name(self) -> str:
        """The function's."""
        return self.function.__name__

    def missing(self, run: Run) -> list[str]:
        """The names of what it needs and the run didn't record."""
        missing = [signal for signal in self.signals if not run.has(signal)]
        missing += [key for key in self.manifest if not run.knows(key)]
        if self.any_of and not any(run.has(signal) for signal in self.any_of):
            missing.append(self.any_of[0])
        return missing

    def applies(self, incident: Incident) -> bool:
        """Whether there is a step and the tree has the numbers that it needs."""
        return (incident.rows is not None or not self.at_step) and set(self.numbers) <= set(incident.numbers)


_RULES: dict[tuple[str, str], CellRule] = {}


def cell(
    panel: str,
    hypothesis: str,
    *,
    signals: tuple[str, ...] = (),
    any_of: tuple[str, ...] = (),
    manifest: tuple[str, ...] = (),
    numbers: tuple[str, ...] = (),
    at_step: bool = False,
) -> Callable[[Function], Function]:
    """Register the function as the rule of a cell; see CellRule."""

    def register(function: Function) -> Function:
        assert (panel, hypothesis) not in _RULES, f"{panel}/{hypothesis} has two rules"
        rule = CellRule(panel, hypothesis, function, signals, any_of, manifest, numbers, at_step)
        _RULES[panel, hypothesis] = rule
        return function

    return register


def registry() -> Mapping[tuple[str, str], CellRule]:
    """Every rule by panel and hypothesis, once evidence.py is imported."""
    return _RULES


def readings(incident: Incident, hypotheses: Iterable[Offer]) -> dict[str, Reading]:
    """What the log says, by "panel/hypothesis"; cells where it can't tell are left out."""
    found = {
        f"{panel}/{hypothesis.key}": _reading(incident, panel, hypothesis)
        for hypothesis in hypotheses
        for panel in PANELS
    }
    return {cell: said for cell, said in found.items() if said}


def _reading(incident: Incident, panel: str, hypothesis: Offer) -> Reading | None:
    if panel in hypothesis.no_bearing:
        return reading("silent", "no_bearing")
    rule, run = _RULES.get((panel, hypothesis.key)), incident.run
    missing = rule.missing(run) if rule else []
    if rule and not missing and rule.applies(incident) and (said := rule.function(incident)):
        return said
    if panel not in drawn(run):
        return reading("silent", "not_recorded")
    return reading("silent", "missing", missing=missing) if missing else None


def drawn(run: Run) -> tuple[str, ...]:
    """The panels of which the run recorded anything, of the model or of one optimizer group.

    Scores are drawn on that of the loss.
    """
    recorded = {signal.panel for column in run.frame.columns if run.has(column) and (signal := find(column))}
    if scoring.among(run.frame.columns):
        recorded.add("loss")
    return tuple(panel for panel in PANELS if panel in recorded)
