"""Detectors of a long run's spikes: where the loss jumped, and how often."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, detector
from tutor.detectors.despiking import calm
from tutor.detectors.going_back import REWIND, rewind
from tutor.detectors.objective import is_objective
from tutor.detectors.spike import as_long_as
from tutor.detectors.windows import FEWEST, Window, finite, rolling_baseline
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Jump:
    """One jump of the loss.

    Attributes:
        row: where the loss first stands above the bound, or is first NaN or Inf.
        rows: how many stand above it until it stays below for as long as a jump may take.
        peak_row: the tallest, or the first that is NaN or Inf.
        peak: its loss, in nats; infinite where it is NaN or Inf.
        level: the loss before, as an EMA, in nats.
        bound: what the loss had to pass, in nats.
    """

    row: int
    rows: int
    peak_row: int
    peak: float
    level: float
    bound: float

    @property
    def times(self) -> float:
        """How many times the level before the peak is."""
        return self.peak / self.level if self.level > 0 else math.inf


def jumps(run: Run, within: Window, ema: Window, times: float, sigmas: float) -> list[Jump]:
    """The jumps of the loss, recorded at every row, in order.

    A row is above where its loss is at least `times` the lowest EMA of the window before it (so a climb that
    takes the whole window counts), and the lowest mean + `sigmas` deviations there: where batches differ by a
    factor of two, two is no jump. Earlier spikes are left out of both. What isn't finite is above.
    """
    import polars as pl

    loss = finite(run["loss"])
    known = run["loss"].is_not_null()
    span = within.count(run)
    quiet = calm(loss, span).forward_fill()
    course = quiet.ewm_mean(span=max(2, ema.count(run)), ignore_nulls=True).shift(1)
    level = course.rolling_min(span, min_samples=1).set(pl.int_range(len(loss), eager=True) < FEWEST, None)
    mean, std = rolling_baseline(run, loss, within)
    noise = (mean + sigmas * std).rolling_min(span, min_samples=1).fill_null(0.0)
    bound = pl.DataFrame({"a": times * level, "b": noise}).max_horizontal()
    heights = loss.fill_null(math.inf)
    above = (known & (heights > bound) & level.is_not_null() & (level > 0)).arg_true()
    return _merged(run, above, heights, level, bound, within)


def _merged(
    run: Run,
    above: "pl.Series",
    heights: "pl.Series",
    level: "pl.Series",
    bound: "pl.Series",
    within: Window,
) -> list[Jump]:
    """Rows above their bounds as jumps: those within a window of one another are one."""
    import polars as pl

    rows = pl.DataFrame({"row": above, "height": heights.gather(above)})
    apart = run.steps.gather(above).diff().fill_null(0) > within.steps
    first, tallest = pl.first("row"), pl.col("height").arg_max()
    jumped = rows.group_by(apart.cum_sum(), maintain_order=True).agg(
        first=first, rows=pl.len(), peak_row=pl.col("row").get(tallest), peak=pl.max("height")
    )
    levels, bounds = level.gather(jumped["first"]), bound.gather(jumped["first"])
    found = jumped.select("first", "rows", "peak_row", "peak", level=levels, bound=bounds)
    return [Jump(*row) for row in found.rows()]


_JUMPED = ("step", "peak", "peak_step", "level", "ratio", "count")


@detector(
    signals=("loss",),
    outcomes=("yes", "not-finite", "no"),
    facts={
        **dict.fromkeys(("yes", "not-finite"), (*_JUMPED, "bound", "rows")),
        "no": ("rows", "largest", "bound"),
    },
)
def jump(
    run: Run, at: int | None, *, times: float, within: Window, ema: Window, sigmas: float, lasting: int
) -> Finding:
    """Whether the loss jumped to `times` its EMA before inside a window, or more, and where most.

    The flaw: an update or a batch threw a long run off, or wrote NaN into it ("not-finite"). The worst jump
    is one that ended in NaN or Inf, then the tallest of those that last `lasting` rows (no single hard batch
    does), then the tallest. Source: the playbook for long runs (2x to 100x in under 100 steps); ours:
    `sigmas`, since batches of some tasks differ by a factor of two.
    """
    if not is_objective(run):
        return Finding(NO_DATA, facts={"missing": []})
    within = as_long_as(run, within)
    span = within.count(run)
    if len(run) <= span:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": span + 1})
    found = jumps(run, within, ema, times, sigmas)
    if not found:
        largest = _largest(run, ema)
        facts = {"rows": len(run), "largest": largest, "bound": times}
        return Finding("no", facts=facts)

    def weight(one: Jump) -> tuple[bool, bool, float]:
        return not math.isfinite(one.peak), one.rows >= lasting, one.times

    ranked = sorted(found, key=weight, reverse=True)
    worst = ranked[0]
    step, peak_step = int(run.steps[worst.row]), int(run.steps[worst.peak_row])
    facts = {
        "step": step,
        "peak": to_float(run["loss"][worst.peak_row]),
        "peak_step": peak_step,
        "level": worst.level,
        "ratio": worst.times,
        "count": len(found),
        "bound": times,
        "rows": len(run),
    }
    seen = (int(run.steps[within.start(run, worst.row)]), peak_step)
    others = tuple(int(run.steps[one.row]) for one in ranked[1:10])
    if not math.isfinite(worst.peak):
        return Finding("not-finite", step, facts, worst.bound, seen, others, bound=times)
    return Finding("yes", step, facts, worst.bound, seen, others, measured=worst.times, bound=times)


def _largest(run: Run, ema: Window) -> float | None:
    """The largest ratio of a loss to the EMA before it, the first rows left out."""
    loss = finite(run["loss"])
    before = loss.forward_fill().ewm_mean(span=max(2, ema.count(run)), ignore_nulls=True).shift(1)
    ratios = (loss / before)[FEWEST:].drop_nulls()
    return known_float(ratios.filter(ratios.is_finite()).max())


@detector(
    signals=("loss",),
    outcomes=("yes", "no"),
    facts={"yes": ("count", "places", *REWIND), "no": ("count",)},
)
def other_jumps(
    run: Run, at: int | None, *, times: float, within: Window, ema: Window, sigmas: float
) -> Finding:
    """Whether the loss jumped at other places of the run too, and what going back before this one costs.

    No flaw of itself: one jump may be chance, several have a cause that comes back. Source: the playbook for
    long runs.
    """
    within = as_long_as(run, within)
    found = jumps(run, within, ema, times, sigmas)
    here = run.row_at(at) if at is not None else -1
    places = [int(run.steps[one.row]) for one in found if not one.row <= here <= one.row + one.rows]
    if not places:
        return Finding("no", at, {"count": 0})
    return Finding("yes", at, {"count": len(places), "places": places} | rewind(run, at))


@detector(
    signals=("loss",),
    manifest=("lineage",),
    outcomes=("yes", "no"),
    facts={"yes": ("restarts", "restarted_at", "after", "spike"), "no": ("restarts", "spike", "far")},
)
def recurs(
    run: Run, at: int | None, *, times: float, within: Window, ema: Window, sigmas: float, far: int
) -> Finding:
    """Whether the run jumps within `far` steps of a restart, by the lineage in its manifest.

    The flaw: not a batch but the state, or a learning rate that the run can't bear. The jump at hand may lie
    before the restart that it led to, so each jump is held against each restart; the soonest after one tells.
    Source: the playbook for long runs; ours: how near counts as again.
    """
    spike = at if at is not None else int(run.steps[-1])
    starts = [one.at for one in run.manifest.lineage]
    facts = {"restarts": len(starts), "spike": spike, "far": far}
    found = jumps(run, as_long_as(run, within), ema, times, sigmas) if starts else []
    steps = [int(run.steps[one.row]) for one in found]
    pairs = [(step - start, start, step) for start in starts for step in steps if 0 <= step - start <= far]
    if not pairs:
        return Finding("no", at, facts)
    after, start, step = min(pairs)
    facts |= {"restarted_at": start, "after": after, "spike": step}
    return Finding("yes", step, facts, measured=float(after), bound=float(far))
