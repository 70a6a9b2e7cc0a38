"""What the log says to a rung: the outcome, with what was measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tutor import detectors
from tutor import tree as trees
from tutor.card import ladder
from tutor.detectors.windows import finite
from tutor.run import Run
from tutor.tree import Tree

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Truth:
    """What the log says to one rung.

    Attributes:
        outcome: one of the answer's; None where the log can't tell.
        facts: what was measured, by the names of the answer's FACTS.
        missing: what would have to be recorded for the log to tell.
    """

    outcome: str | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def truth(answer: ladder.Answer, run: Run, tree: Tree, at: int) -> Truth:
    """What the log of `run` says to a rung, about the step `at`.

    Args:
        tree: whose numbers its detectors run with.
    """
    return _KINDS[type(answer)](answer, run, tree, at)


def right(answer: ladder.Answer, told: Truth, said: str) -> bool | None:
    """Whether what the learner said is what the log says; None where the log can't tell."""
    if told.outcome is None:
        return None
    if isinstance(answer, ladder.PointAtStep):
        return abs(int(said) - told.facts["step"]) <= answer.tolerance
    if isinstance(answer, ladder.NameToken):
        return _bare(said) == _bare(told.facts["token"])
    return said == told.outcome


def said_facts(answer: ladder.Answer, told: Truth, said: str) -> dict[str, Any]:
    """What was measured, with what the learner said set beside it."""
    beside: dict[str, Any] = {}
    if isinstance(answer, ladder.PointAtStep) and told.outcome:
        beside = {"said": int(said), "off": abs(int(said) - told.facts["step"])}
    elif isinstance(answer, ladder.NameToken):
        beside = {"said": said.strip()}
    return {**told.facts, **beside}


def _bare(token: str) -> str:
    """A token as people write it: without the space or the sign for one that it begins with."""
    return token.strip().strip("'\"`Ġ▁ ").casefold()


def _not_there(*signals: str) -> Truth:
    return Truth(None, missing=signals)


def _between(run: Run, signal: str, first: int, last: int) -> pl.Series:
    """The finite values at steps from `first` to before `last`."""
    inside = (run.steps >= first) & (run.steps < last)
    return finite(run[signal]).filter(inside).drop_nulls()


def _step(answer: ladder.PointAtStep, run: Run, tree: Tree, at: int) -> Truth:
    if answer.detector:
        numbers = trees.numbers(answer.detector, tree)
        if numbers is None:
            return _not_there(answer.detector)
        finding = detectors.apply(answer.detector, run, numbers, at)
        if finding.step is None:
            return _not_there(*finding.facts.get("missing", ()))
        value = run.value("loss", finding.step)
        return Truth(ladder.FOUND, {"step": finding.step, "value": value, "tolerance": answer.tolerance})
    assert answer.signal, "a step is a detector's or a signal's"
    if not run.has(answer.signal):
        return _not_there(answer.signal)
    values = finite(run[answer.signal])
    if answer.within is not None:
        inside = (run.steps >= at) & (run.steps <= at + answer.within)
        values = values.set(~inside, None)
    row = values.arg_max() if answer.extreme == "highest" else values.arg_min()
    if row is None:
        return _not_there(answer.signal)
    return Truth(
        ladder.FOUND,
        {"step": int(run.steps[row]), "value": values[row], "tolerance": answer.tolerance},
    )


def _equal(answer: ladder.PickEqual, run: Run, tree: Tree, at: int) -> Truth:
    if absent := [signal for signal in answer.signals if not _finite_at(run, signal, at)]:
        return _not_there(*absent)
    first, second = (float(run.value(signal, at)) for signal in answer.signals)
    facts = {"step": at, "first": first, "second": second, "share": 100 * second / first if first else None}
    if abs(second - first) <= answer.tolerance * abs(first):
        return Truth("equal", facts)
    return Truth("smaller" if second < first else "larger", facts)


def _finite_at(run: Run, signal: str, at: int) -> bool:
    value = run.value(signal, at)
    return value is not None and math.isfinite(value)


def _token(answer: ladder.NameToken, run: Run, tree: Tree, at: int) -> Truth:
    names = run.value(answer.signal, at)
    counts = run.value(answer.counts, at) if answer.counts else None
    if names is None or not len(names):
        return _not_there(answer.signal)
    if answer.counts and counts is None:
        return _not_there(answer.counts)
    found: Counter[str] = Counter()
    for name, count in zip(names, [1] * len(names) if counts is None else counts, strict=False):
        found[str(name)] += int(count or 0)
    token, count = found.most_common(1)[0]
    return Truth(ladder.FOUND, {"step": at, "token": token, "count": count})


def _trend(answer: ladder.PickTrend, run: Run, tree: Tree, at: int) -> Truth:
    if not run.has(answer.signal):
        return _not_there(answer.signal)
    before = _between(run, answer.signal, at - answer.before, at)
    after = _between(run, answer.signal, at + 1, at + 1 + answer.after)
    usual = before.median()
    if not isinstance(usual, float) or not usual or not len(after):
        return _not_there(answer.signal)
    ratios = after / usual
    farthest = ratios[(ratios - 1).abs().arg_max() or 0]
    facts = {"step": at, "at": answer.after, "usual": usual, "factor": answer.factor}
    facts |= {"value": farthest * usual, "ratio": farthest}
    if farthest > answer.factor:
        return Truth("rises", facts)
    return Truth("falls" if farthest < 1 / answer.factor else "holds", facts)


def _signal(answer: ladder.PickSignal, run: Run, tree: Tree, at: int) -> Truth:
    lifted: dict[str, float] = {}
    for signal in answer.signals:
        if not run.has(signal):
            return _not_there(signal)
        usual = _between(run, signal, at - answer.before, at).median()
        then = _between(run, signal, at + answer.after, at + answer.after + answer.before).median()
        if not isinstance(usual, float) or not isinstance(then, float) or not usual:
            return _not_there(signal)
        lifted[signal] = then / usual
    most, *others = sorted(lifted, key=lambda signal: -lifted[signal])
    facts = {"step": at, "at": answer.after, "signal": most, "ratio": lifted[most], "factor": answer.factor}
    facts |= {"others": lifted[others[0]]}
    return Truth(most if lifted[most] > answer.factor else ladder.NONE, facts)


def _share(answer: ladder.PickShare, run: Run, tree: Tree, at: int) -> Truth:
    edges, vocabulary = run.manifest.token_loss_edges, run.manifest.vocab_size
    if not edges or not vocabulary or vocabulary < 2:
        return _not_there("vocab_size" if edges else "token_loss_edges")
    counts, nats = run.value(answer.signal, at), math.log(vocabulary)
    first = next((index for index, edge in enumerate(edges) if edge >= nats), None)
    if counts is None or first is None or not (tokens := float(counts.sum())):
        return _not_there(answer.signal)
    tall = float(counts[first:].sum())
    facts = {"step": at, "share": 100 * tall / tokens, "tall": int(tall), "tokens": int(tokens)}
    outcome = "few" if tall < answer.few * tokens else "most" if tall > answer.most * tokens else "some"
    return Truth(outcome, facts | {"nats": edges[first]})


_KINDS: dict[type, Callable[[Any, Run, Tree, int], Truth]] = {
    ladder.PointAtStep: _step,
    ladder.PickEqual: _equal,
    ladder.NameToken: _token,
    ladder.PickTrend: _trend,
    ladder.PickSignal: _signal,
    ladder.PickShare: _share,
}
