"""Probabilities checked against the evidence, and bounds against the tolerance: what the form points at."""

from collections.abc import Iterator
from math import isfinite
from statistics import median
from typing import NamedTuple

from tutor.postmortem.form import Bound, Cell, Hypothesis, PostMortem
from tutor.postmortem.parsing import at_end, number, window
from tutor.postmortem.thresholds import DOUBTED, FEWEST_AT_END, KEPT_IN_CASE, LEVEL_SHARE
from tutor.run import PANELS, Run


class Tension(NamedTuple):
    """A probability that a filled cell contradicts: `verdict` is what the cell says of the hypothesis."""

    hypothesis: Hypothesis
    panel: str
    verdict: Cell


def tensions(pm: PostMortem) -> list[Tension]:
    """The probabilities that the evidence contradicts, one for a hypothesis at most.

    Only cells that the learner has filled count, and the log's word where a rule judged them: a hypothesis
    that is ruled out and still likely, or favoured, not ruled out and hardly considered.
    """
    return [found for hypothesis in pm.hypotheses if (found := _tension(pm, hypothesis))]


def _tension(pm: PostMortem, hypothesis: Hypothesis) -> Tension | None:
    given = number(hypothesis.probability)
    if given is None:
        return None
    said = {panel: verdict for panel in PANELS if (verdict := settled(pm, panel, hypothesis.key))}
    against = next((panel for panel, verdict in said.items() if verdict == "rules_out"), None)
    if against:
        return Tension(hypothesis, against, "rules_out") if given > DOUBTED else None
    speaks = next((panel for panel, verdict in said.items() if verdict == "favours"), None)
    return Tension(hypothesis, speaks, "favours") if speaks and given <= KEPT_IN_CASE else None


def settled(pm: PostMortem, panel: str, key: str) -> Cell:
    """What a filled cell comes to: the log's word where a rule judged it, else the learner's; "" if empty."""
    verdict, reading = pm.cell(panel, key), pm.reading(panel, key)
    return reading.verdict if verdict and reading and reading.judged else verdict


def limit(bound: Bound, tolerance: str) -> float | None:
    """How far a bound reaches with the tolerance: `tolerance` of its value beyond it. None if unreadable."""
    value, share = number(bound.value), number(tolerance)
    if value is None or share is None or not 0 <= share < 1:
        return None
    slack = abs(value) * share
    return value + slack if bound.comparison.startswith("<") else value - slack


class Worst(NamedTuple):
    """Where a run comes closest to a bound or breaks it: the `value` there, and whether all steps `hold`."""

    step: int
    value: float
    holds: bool


def worst(bound: Bound, tolerance: str, run: Run) -> Worst | None:
    """A bound checked on a run, with the tolerance: the worst step of its window, or the level at its end.

    Returns:
        None where the bound can't be read or the run holds no row of its window. NaN and Inf hold no bound.
    """
    reach, name = limit(bound, tolerance), bound.signal.strip()
    if reach is None or not run.has(name):
        return None
    inside = _inside(bound, run, name)
    if not inside:
        return None
    below = bound.comparison.startswith("<")
    broken = next(((step, value) for step, value in inside if not isfinite(value)), None)
    if broken:
        return Worst(*broken, holds=False)
    step, value = (max if below else min)(inside, key=lambda pair: pair[1])
    if at_end(bound.window):
        step, value = inside[-1][0], median(value for _, value in inside)
    strict = "=" not in bound.comparison
    within = value < reach if below else value > reach
    return Worst(step, value, within or (value == reach and not strict))


def _inside(bound: Bound, run: Run, name: str) -> list[tuple[int, float]]:
    """The steps of a bound's window with their values; at the end of a run those that make a level."""
    if at_end(bound.window):
        known = list(_values(run, name))
        return known[-max(FEWEST_AT_END, round(LEVEL_SHARE * len(known))) :]
    steps = window(bound.window)
    if steps is None:
        return []
    return [(step, value) for step, value in _values(run, name) if steps[0] <= step <= steps[1]]


def _values(run: Run, name: str) -> Iterator[tuple[int, float]]:
    for step, value in zip(run.steps, run[name], strict=True):
        if value is not None:
            yield step, float(value)
