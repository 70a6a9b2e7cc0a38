"""Detectors of the network before training: its weights as drawn, and how its layers pass the stream on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import median

from tutor.detectors import NO_DATA, Finding, detector
from tutor.detectors.grouped import Beyond
from tutor.run import Run
from tutor.run.manifest import Weights

FROM_FAN = {
    "Kaiming": lambda fan_in, _: math.sqrt(2 / fan_in),
    "Xavier": lambda fan_in, fan_out: math.sqrt(2 / (fan_in + fan_out)),
}
"""Standard deviation of a linear weight by its inputs and outputs: He et al. 2015, Glorot, Bengio 2010."""

NORMAL = "GPT-2"
"""One std for every linear weight, with residual projections as much smaller as the depth asks."""


def _design(linear: Mapping[str, Weights], std: float, near: float) -> tuple[str, Callable[[Weights], float]]:
    """The init that the linear weights follow in the median, within `near` times; else that of one std."""
    designs: dict[str, Callable[[Weights], float]] = {NORMAL: lambda _: std}
    for name, of in FROM_FAN.items():
        designs[name] = lambda one, of=of: of(one.shape[-1], one.shape[0])

    def off(name: str) -> float:
        ratios = [one.std / designs[name](one) for one in linear.values() if one.std]
        return abs(math.log(median(ratios))) if ratios else 0.0

    nearest = min(designs, key=off)
    name = nearest if off(nearest) <= math.log(near) else NORMAL
    return name, designs[name]


_WEIGHTS = ("name", "std", "mean", "expected", "times", "design", "kaiming", "xavier", "count")


@detector(manifest=("initial",), outcomes=("designed", "off", "hot", "biased"), facts=_WEIGHTS)
def weights_as_designed(
    run: Run, at: int | None, *, std: float, times: float, mean: Beyond, near: float, off: float
) -> Finding:
    """Whether the initial weights have the spread and the mean that their design gives them.

    The flaw: a std more than `times` the expected one, or a linear weight whose mean is beyond `mean` and
    beyond chance, `mean.sigmas` standard errors of it. Expected is `std` for embeddings and, for linear
    weights, the design that most of them follow within `near` times (Kaiming's, Xavier's, or `std` as
    in GPT-2). More than `off` times the expected one is a remark. Source: the tree; ours: which design is
    compared.
    """
    initial = run.manifest.initial
    linear = {name: one for name, one in initial.items() if one.kind == "linear" and len(one.shape) > 1}
    drawn = linear | {name: one for name, one in initial.items() if one.kind == "embedding"}
    drawn = {name: one for name, one in drawn.items() if one.std is not None and one.mean is not None}
    if not drawn:
        return Finding(NO_DATA, facts={"missing": ["initial"]})
    design, of = _design({name: drawn[name] for name in linear if name in drawn}, std, near)

    def spread(name: str) -> float:
        ratio = float(drawn[name].std or 0.0) / (of(drawn[name]) if name in linear else std)
        return ratio if math.isfinite(ratio) else math.inf

    def facts(name: str) -> dict[str, object]:
        one = drawn[name]
        fans = (one.shape[-1], one.shape[0]) if len(one.shape) > 1 else None
        return {
            "name": name,
            "std": one.std,
            "mean": one.mean,
            "expected": of(one) if name in linear else std,
            "times": spread(name),
            "design": design,
            "kaiming": FROM_FAN["Kaiming"](*fans) if fans else None,
            "xavier": FROM_FAN["Xavier"](*fans) if fans else None,
            "count": len(drawn),
        }

    widest = max(drawn, key=spread)
    if (ratio := spread(widest)) > times:
        return Finding("hot", 0, facts(widest), measured=ratio, bound=times)
    shifts = {name: _shift(one, mean.sigmas) for name, one in drawn.items() if name in linear}
    shifted = max(shifts, key=lambda name: shifts[name], default=None)
    if shifted is not None and shifts[shifted] > mean.bound:
        return Finding("biased", 0, facts(shifted), measured=shifts[shifted], bound=mean.bound)
    bound = times if ratio > math.sqrt(times * off) else off
    return Finding("off" if ratio > off else "designed", 0, facts(widest), measured=ratio, bound=bound)


def _shift(one: Weights, sigmas: float) -> float:
    """How far the mean lies from 0; 0 where chance explains it, within `sigmas` standard errors."""
    size = math.prod(one.shape) or 1
    mean = abs(float(one.mean or 0.0))
    return mean if mean > sigmas * float(one.std or 0.0) / math.sqrt(size) else 0.0


_GROWTH = ("layer", "before", "after", "growth", "usual", "bound", "layers")


@detector(signals=("activation_norms",), outcomes=("gentle", "steep", "leaps"), facts=_GROWTH)
def activation_growth(run: Run, at: int | None, *, usual: float, most: float) -> Finding:
    """How much a layer lifts the norm of its stream on the first batch: out over in, at the steepest layer.

    The flaw: a normalisation that is missing or in the wrong place, where it is more than `most`; more than
    `usual` is a remark. Source: the tree.
    """
    step = int(run.steps[0])
    if step > 1:
        return Finding(NO_DATA, facts={"missing": ["activation_norms[0]"]})
    norms = [math.nan if norm is None else float(norm) for norm in run["activation_norms"][0]]
    ratios = [_ratio(before, after) for before, after in pairwise(norms)]
    if not ratios:
        return Finding(NO_DATA, facts={"missing": ["activation_norms"]})
    layer = max(range(len(ratios)), key=lambda i: ratios[i])
    growth = ratios[layer]
    facts = {
        "layer": layer + 1,
        "before": norms[layer],
        "after": norms[layer + 1],
        "growth": growth,
        "usual": usual,
        "bound": most,
        "layers": len(ratios),
    }
    outcome = "leaps" if growth > most else "steep" if growth > usual else "gentle"
    nearest = most if growth > math.sqrt(usual * most) else usual
    return Finding(outcome, step, facts, most, measured=growth, bound=nearest)


def _ratio(before: float, after: float) -> float:
    """Out over in; infinite where what comes out isn't finite."""
    return after / before if before and math.isfinite(after / before) else math.inf
