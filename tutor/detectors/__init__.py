"""Detectors: pure functions (Run, numbers from the YAML) -> Finding.

A detector declares the signals it needs, so none of them checks: `apply` says "no data" when one is
missing. Its numbers are its keyword-only arguments, so a tree that misses or misspells one is told so
before a walk begins. To add a detector, write one function in the file of its signal.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tutor.run import Run

NO_DATA = "no data"
NOT_YET = "not there yet"
_UNDECIDED = {NO_DATA: ("missing",), NOT_YET: ("rows", "needed")}


@dataclass(frozen=True)
class Finding:
    """What a detector found.

    Attributes:
        outcome: one of the detector's outcomes, or NO_DATA, or NOT_YET.
        step: where it shows, None when it is about the whole run.
        facts: measured values, bounds and steps by name, for the sentence in the tree.
        level: the bound to draw across the panel, in the panel's unit.
        window: first and last step the rule looked at.
        others: further steps that a learner may take up instead of `step`.
    """

    outcome: str
    step: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None
    window: tuple[int, int] | None = None
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class Detector:
    """A detector function with what it declares."""

    name: str
    function: Callable[..., Finding]
    signals: tuple[str, ...]
    manifest: tuple[str, ...]
    outcomes: tuple[str, ...]
    facts_by_outcome: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, type]
    every_row: bool

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
    signals: tuple[str, ...] = (),
    manifest: tuple[str, ...] = (),
    every_row: bool = False,
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Register the function under its own name.

    Args:
        outcomes: every outcome it can give, NO_DATA and NOT_YET aside.
        facts: the names of the facts it gives, so that a tree's sentences can be checked: by outcome, or
            once where every outcome gives the same.
        signals: columns without which the answer is NO_DATA.
        manifest: manifest keys without which the answer is NO_DATA.
        every_row: give it every row; else those that recorded the first of `signals`.
    """
    by_outcome = facts if isinstance(facts, Mapping) else dict.fromkeys(outcomes, facts)
    assert set(by_outcome) == set(outcomes), "facts are declared for every outcome and for no other"

    def register(function: Callable[..., Finding]) -> Callable[..., Finding]:
        parameters = inspect.signature(function).parameters.values()
        numbers = {p.name: p.annotation for p in parameters if p.kind is p.KEYWORD_ONLY}
        name = function.__name__
        _REGISTRY[name] = Detector(
            name, function, signals, manifest, outcomes, by_outcome, numbers, every_row
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


def apply(name: str, run: Run, numbers: Mapping[str, Any], at: int | None = None) -> Finding:
    """Run the detector `name` over `run`; `at` is the step under discussion, where there is one.

    Returns:
        The finding, or NO_DATA with the fact `missing`: the names of what was not recorded.
    """
    found = registry()[name]
    missing = [signal for signal in found.signals if not run.has(signal)]
    missing += [key for key in found.manifest if not run.knows(key)]
    if missing:
        return Finding(NO_DATA, facts={"missing": missing})
    if found.signals and not found.every_row:
        run = run.logged(found.signals[0])
    return found.function(run, at, **numbers)
