"""Findings on evaluations that don't turn: the last one lies far above all others, or nothing is gained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutor.detectors import Finding
from tutor.detectors.beginning import begins_late
from tutor.detectors.evaluations import evaluated
from tutor.detectors.grouped import Rise
from tutor.detectors.objective import scores_rise
from tutor.detectors.rise import learned_since
from tutor.detectors.trends import ordered, share_fallen
from tutor.run import Run, to_float

if TYPE_CHECKING:
    import polars as pl

WORST = (
    "step",
    "peak",
    "times",
    "level",
    "first",
    "lowest",
    "lowest_step",
    "rows",
    "over_first",
    "over_lowest",
)
EXTREMES = ("lowest", "lowest_step", "highest", "highest_step", "latest", "latest_step")
GAINED_NOTHING = (
    *EXTREMES,
    "first",
    "rows",
    "gained",
    "trained",
    "most",
)
STAYS = (*EXTREMES, "begun", "ended", "rows", "fallen", "trained", "most")
_PARTS = 3
"""A level is the median of one part in so many of the evaluations: a constant of the method."""


def extremes(values: pl.Series, steps: pl.Series) -> dict[str, float]:
    """The lowest evaluation, the `highest` since then, and the last one, each with its step: `EXTREMES`."""
    low = values.arg_min() or 0
    high = low + (values[low:].arg_max() or 0)
    rows = {"lowest": low, "highest": high, "latest": len(values) - 1}
    found = dict[str, float]()
    for name, row in rows.items():
        found |= {name: float(values[row]), f"{name}_step": int(steps[row])}
    return found


def ends_worst(run: Run, last: int, chance: Rise) -> Finding | None:
    """The finding that the last evaluation stands far above the first and the lowest: "ends-worst".

    It is `chance.worst` times the first or more, and `chance.times` times the lowest; its `level` is the
    median of up to `last` evaluations before it. None where it isn't so high, or there are fewer than
    `2 * last - 1` evaluations.
    """
    values, steps = evaluated(run)
    if len(values) < 2 * last - 1:
        return None
    first, peak = float(values[0]), float(values[-1])
    low, place = to_float(values.min()), values.arg_min() or 0
    if low <= 0 or peak < max(chance.worst * first, chance.times * low):
        return None
    level = to_float(values[-last - 1 : -1].median())
    facts = {"step": int(steps[-1]), "peak": peak, "level": level, "times": peak / level, "first": first}
    facts |= {"lowest": low, "lowest_step": int(steps[place]), "rows": len(values)}
    facts |= {"over_first": chance.worst, "over_lowest": chance.times}
    bound, seen = chance.worst * first, (int(run.steps[0]), int(run.steps[-1]))
    return Finding("ends-worst", facts["step"], facts, bound, seen, measured=peak / first, bound=chance.worst)


def never_gains(run: Run, last: int, chance: Rise) -> Finding | None:
    """The finding that no level comes under the first evaluation, while training learns: "never-gains".

    Under it is by the share `chance.stands` of it or more. The training loss falls by the share `chance.dive`
    or more since the first evaluation, and in order. None where there are fewer than `chance.evaluations`,
    the log begins mid-way, or a score rises.
    """
    values, steps = evaluated(run)
    if len(values) < chance.evaluations or float(values[0]) <= 0 or begins_late(run):
        return None
    if values.n_unique() == 1:  # it may be one evaluation, written again; where it isn't, 5.7 tells
        return None
    first = float(values[0])
    levels = values.rolling_median(max(1, len(values) // _PARTS)).drop_nulls()
    gained = (first - to_float(levels.min())) / first
    trained = _trained_in_order(run, int(steps[0]), last, chance)
    if gained >= chance.stands or trained < chance.dive or scores_rise(run, chance.few):
        return None
    facts = {"first": first, "rows": len(values)} | extremes(values, steps)
    facts |= {"gained": 100 * gained, "trained": 100 * trained, "most": 100 * chance.stands}
    bound, seen = (1 - chance.stands) * first, (int(run.steps[0]), int(run.steps[-1]))
    return Finding("never-gains", None, facts, bound, seen, measured=gained, bound=chance.stands)


def _trained_in_order(run: Run, step: int, last: int, chance: Rise) -> float:
    """As `learned_since`; 0.0 where the rows since then don't fall in order: noise of few looks like it."""
    falls = run.has("loss") and ordered(run["loss"].filter(run.steps >= step)) <= -chance.few
    return learned_since(run, step, last) if falls else 0.0


def stays(run: Run, last: int, least: float, chance: Rise) -> Finding | None:
    """The finding that validation ends where it began, while training came down to `chance.halves`: "stays".

    The median of the last third lies less than the share `least` under that of the first third, the
    evaluations don't fall in order (`chance.many`), and none lies `chance.above` under the first one. None
    where there are fewer than `chance.evaluations`, the log begins mid-way, or a score rises.
    """
    values, steps = evaluated(run)
    if len(values) < chance.evaluations or float(values[0]) <= 0 or begins_late(run):
        return None
    first, fallen = float(values[0]), share_fallen(values)
    trained = _trained_in_order(run, int(steps[0]), last, chance)
    still = fallen < least and ordered(values) > -chance.many
    if not still or to_float(values.min()) < (1 - chance.above) * first or trained < chance.halves:
        return None
    if scores_rise(run, chance.few):
        return None
    third = len(values) // _PARTS
    begun, ended = (to_float(some.median()) for some in (values[:third], values[-third:]))
    facts = {"begun": begun, "ended": ended, "rows": len(values), "fallen": 100 * fallen}
    facts |= {"trained": 100 * trained, "most": 100 * least} | extremes(values, steps)
    bound, seen = (1 - least) * begun, (int(run.steps[0]), int(run.steps[-1]))
    return Finding("stays", None, facts, bound, seen, measured=fallen, bound=least)
