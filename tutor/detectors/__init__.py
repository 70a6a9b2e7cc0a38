"""Detectors: pure functions (Run, numbers from the YAML) -> Finding.

A detector declares the signals it needs, so none of them checks: `apply` says "no data" when one is
missing. Its numbers are its keyword-only arguments, so a tree that misses or misspells one is told so
before a walk begins. To add a detector, write one function in the file of its signal.

What is called a constant of the method stands in the code: how many rows a level is made of, or of how many
pieces a trend is asked. It says how something is measured, not from where on a run is sick: no answer is
given for being above or below one, and no tree sets it.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from tutor.detectors.grouped import Grouped
from tutor.run import Run
from tutor.run.facts import Known

if TYPE_CHECKING:
    import polars as pl

NO_DATA = "no data"
NOT_YET = "not there yet"
_UNDECIDED = {NO_DATA: ("missing",), NOT_YET: ("rows", "needed")}


@dataclass(frozen=True)
class Smoothed:
    """The curve that a rule compared with its bound, where that isn't the logged one.

    Attributes:
        signal: what it is made of.
        steps: ascending.
        values: one for each step, in the signal's unit; null where there was too little to smooth.
    """

    signal: str
    steps: pl.Series
    values: pl.Series


@dataclass(frozen=True)
class Finding:
    """What a detector found.

    Attributes:
        outcome: one of the detector's outcomes, or NO_DATA, or NOT_YET.
        step: where it shows, None when it is about the whole run.
        since: from which step on it came to that, where that is earlier.
        facts: measured values, bounds and steps by name, for the sentence in the tree.
        level: the bound to draw across the panel, in the panel's unit.
        window: first and last step the rule looked at.
        others: further steps that a learner may take up instead of `step`.
        measured, bound: the number that decided and what it was held against, in one unit; None where the
            answer isn't a matter of degree.
        curve: what was compared with `level`, where that is a smoothed curve.
        origins: facts of the configuration it went by that the run doesn't say of itself.
        also: outcomes that hold as well, and decide less.
    """

    outcome: str
    step: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None
    window: tuple[int, int] | None = None
    others: tuple[int, ...] = ()
    measured: float | None = None
    bound: float | None = None
    curve: Smoothed | None = field(default=None, compare=False)
    origins: Mapping[str, Known] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    since: int | None = None

    @property
    def margin(self) -> float | None:
        """How far the deciding number is from its bound, as a share of the bound; None without one."""
        if self.measured is None or not self.bound or not math.isfinite(self.measured):
            return None
        return abs(self.measured - self.bound) / abs(self.bound)


Needed = str | tuple[str, ...]
"""A signal, or several of which one is enough, the best first."""


def any_of(*signals: str) -> Needed:
    """Signals that stand in for one another: the first that was recorded serves."""
    return signals


@dataclass(frozen=True)
class Detector:
    """A detector function with what it declares."""

    name: str
    function: Callable[..., Finding]
    signals: tuple[Needed, ...]
    manifest: tuple[str, ...]
    outcomes: tuple[str, ...]
    facts_by_outcome: Mapping[str, tuple[str, ...]]
    given: tuple[str, ...]
    every_row: bool
    configured: tuple[str, ...]
    scores: bool

    @cached_property
    def numbers(self) -> Mapping[str, Any]:
        """Its numbers by name, each with its type; read when a tree is checked, not when a walk begins."""
        parameters = inspect.signature(self.function, eval_str=True).parameters.values()
        keywords = {p.name: p.annotation for p in parameters if p.kind is p.KEYWORD_ONLY}
        return {name: kind for name, kind in keywords.items() if name not in self.given}

    @property
    def facts(self) -> tuple[str, ...]:
        """The names of every fact that some outcome gives."""
        return tuple(dict.fromkeys(fact for facts in self.facts_by_outcome.values() for fact in facts))

    def facts_of(self, outcome: str) -> tuple[str, ...]:
        """The names of the facts that come with `outcome`, which may be NO_DATA or NOT_YET."""
        return _UNDECIDED.get(outcome) or self.facts_by_outcome[outcome]

    @property
    def doc(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]


_REGISTRY: dict[str, Detector] = {}


def detector(
    *,
    outcomes: tuple[str, ...],
    facts: tuple[str, ...] | Mapping[str, tuple[str, ...]] = (),
    signals: tuple[Needed, ...] = (),
    manifest: tuple[str, ...] = (),
    given: tuple[str, ...] = (),
    every_row: bool = False,
    configured: tuple[str, ...] = (),
    scores: bool = False,
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Register the function under its own name.

    Args:
        outcomes: every outcome it can give, NO_DATA and NOT_YET aside.
        facts: the names of the facts it gives, so that a tree's sentences can be checked: by outcome, or
            once where every outcome gives the same.
        signals: columns without which the answer is NO_DATA; of those in `any_of`, one is enough.
        manifest: manifest keys without which the answer is NO_DATA.
        given: facts of the rules before it in the same question that it goes on from, as keyword arguments;
            None where they didn't give one.
        every_row: give it every row; else those that recorded the first of `signals`.
        configured: facts of the configuration it goes by where they are known, as `run.facts` names them.
        scores: it looks at scores and rewards, too, as a log calls them.
    """
    by_outcome = facts if isinstance(facts, Mapping) else dict.fromkeys(outcomes, facts)
    assert set(by_outcome) == set(outcomes), "facts are declared for every outcome and for no other"

    def register(function: Callable[..., Finding]) -> Callable[..., Finding]:
        name = function.__name__
        _REGISTRY[name] = Detector(
            name, function, signals, manifest, outcomes, by_outcome, given, every_row, configured, scores
        )
        return function

    return register


def registry() -> Mapping[str, Detector]:
    """Every detector by name."""
    _load()  # whatever is registered so far: a room may have imported one file of detectors by itself
    return _REGISTRY


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def looks_at_scores(name: str) -> bool:
    """Whether the detector `name` also looks at what a log scores answers by, which is no signal."""
    return registry()[name].scores


def signal_of(name: str, run: Run) -> str | None:
    """The signal that the detector `name` looks at in that run; None where it looks at none."""
    return next((_serving(run, signal)[0] for signal in registry()[name].signals), None)


def unrecorded(name: str, run: Run) -> list[str]:
    """The signals that the detector `name` needs and that run lacks."""
    served = (_serving(run, signal) for signal in registry()[name].signals)
    return [best for best, there in served if not there]


def apply(
    name: str,
    run: Run,
    numbers: Mapping[str, Any],
    at: int | None = None,
    given: Mapping[str, Any] | None = None,
) -> Finding:
    """Run the detector `name` over `run`.

    Args:
        name: the detector's.
        run: the run.
        numbers: the tree's, by name.
        at: the step under discussion, where there is one.
        given: the facts of the rules before it in the same question.

    Returns:
        The finding, or NO_DATA with the fact `missing`: the names of what was not recorded.
    """
    found = registry()[name]
    missing = [*unrecorded(name, run), *(key for key in found.manifest if not run.knows(key))]
    if missing:
        return Finding(NO_DATA, facts={"missing": missing})
    if found.signals and not found.every_row:
        run = run.logged(_serving(run, found.signals[0])[0])
    known = {fact: (given or {}).get(fact) for fact in found.given}
    fit = {one: number.of(run) if isinstance(number, Grouped) else number for one, number in numbers.items()}
    finding = found.function(run, at, **fit, **known)
    origins = {name: run.origins[name] for name in found.configured if name in run.origins}
    return replace(finding, origins=origins) if origins else finding


def _serving(run: Run, needed: Needed) -> tuple[str, bool]:
    """The signal that serves, the best one where none was recorded, and whether it was."""
    known = (needed,) if isinstance(needed, str) else needed
    there = next((signal for signal in known if run.has(signal)), None)
    return there or known[0], there is not None
