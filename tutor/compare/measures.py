"""Two runs side by side: what they were meant to be, and what one spike did to each.

Both are measured at the same step, the worst spike of the two, with the numbers of the tree's own
questions on spikes and recovery, so that this table and a walk never disagree.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import polars as pl

from tutor.detectors.episodes import one_spike
from tutor.detectors.loss import non_finite_loss
from tutor.detectors.recovery import recovery
from tutor.detectors.spike import spike as find_spike
from tutor.detectors.windows import baseline, cadence, finite
from tutor.run import Run, known_float, scoring

ABSENT = "–"
"""The value of a setting that one run's manifest doesn't know."""

_MOST_SCORES, _MOST_SETTINGS = 3, 20
_PLACES = re.compile(
    r"(^|[._])(dir|path|folder|name|id|time|date|host|hostname|version|run)s?($|[._])", re.IGNORECASE
)
"""Words of settings that say where and when a run was trained: they always differ."""
_NAMES = ("name", "created", "command", "break", "role", "format", "tutor", "of")  # they always differ
_DERIVED = ("seed", "dtype", "device", "layers", "parameters", "groups", "schedule", "batch", "initial")

Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """A setting that the runs don't share."""

    key: str
    a: Any
    b: Any


@dataclass(frozen=True)
class Measure:
    """One row of the table: a quantity in both runs, None where it can't be told.

    Attributes:
        key: what is measured, as named in the app's words.
        signal: of which signal, where several are measured so.
        a: in nats, steps or as a ratio.
        b: the same for the second run.
    """

    key: str
    a: float | None
    b: float | None
    signal: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        names: of the two runs.
        step: at which both are measured; None without a spike, and then it is the runs' ends.
        parted: the first step at which their losses differ; None where none does.
        window: how many steps a window before or at the end spans (more than asked where rows are scarce);
            None where the tree asks about no spike, and then nothing is measured around one.
        within: how many steps after the peak are looked at; None where the tree asks about no recovery.
        settings: what was configured differently.
        measures: what came of it.
        losses: whether a loss was recorded in one of them.
        spans: the first and the last step of each, where they share none; empty where they do.
        through: the last step that both have, where one goes on and their ends are measured; else None.
    """

    names: tuple[str, str]
    step: int | None
    parted: int | None
    window: int | None
    within: int | None
    settings: tuple[Difference, ...]
    measures: tuple[Measure, ...]
    losses: bool
    spans: tuple[tuple[int, int], ...]
    through: int | None = None


def named_apart(a: Run, b: Run) -> tuple[Run, Run]:
    """Both, with their folders in their names where a trainer calls each log the same."""
    if a.name != b.name or a.path == b.path:
        return a, b
    first, second = (replace(one, name=f"{one.path.parent.name}/{one.name}") for one in (a, b))
    return first, second


def compare(
    a: Run, b: Run, at: int | None = None, *, spike: Numbers | None, recovery: Numbers | None
) -> Comparison:
    """Lay two runs side by side.

    Args:
        a: usually the control.
        b: usually the break.
        at: the step to measure at; the worst spike of the two by default.
        spike: the numbers of the tree's spike question (`window`, `sigmas`, `early` ...), None where it
            has none: then there is no window to measure in, neither around a spike nor at the end.
        recovery: the numbers of its recovery question (as `recovery` takes them), None
            where it has none: then what came after a spike isn't measured.
    """
    if spike is not None and at is None:
        at = _worst_spike((a, b), spike)
    spans = _sharing_none(a, b)
    through = _shared_end(a, b) if at is None and not spans else None
    before = at if through is None else through + 1
    bad = [non_finite_loss(run, None).facts.get("step") if run.has("loss") else None for run in (a, b)]
    measures = [] if spike is None else _measures(a, b, at, spike, recovery, through)
    measures += _evaluated(a, b)
    if bad != [None, None]:
        measures.append(Measure("non_finite", bad[0], bad[1]))
    return Comparison(
        names=(a.name, b.name),
        step=at,
        parted=_parted(a, b),
        window=None if spike is None else max(_looked_back(run, spike, before) for run in (a, b)),
        within=None if recovery is None else recovery["within"].steps,
        settings=_configured(a, b),
        measures=tuple(measures),
        losses=a.has("loss") or b.has("loss"),
        spans=spans,
        through=through,
    )


def _sharing_none(a: Run, b: Run) -> tuple[tuple[int, int], ...]:
    """The first and the last step of each, where one ends before the other begins; else nothing."""
    if not (len(a) and len(b)):
        return ()
    spans = tuple((int(run.steps[0]), int(run.steps[-1])) for run in (a, b))
    return spans if max(first for first, _ in spans) > min(last for _, last in spans) else ()


def _shared_end(a: Run, b: Run) -> int | None:
    """The last step that both have, where one goes on; None where they end at one step, or one has no row."""
    ends = {int(run.steps[-1]) for run in (a, b) if len(run)}
    return min(ends) if len(ends) > 1 else None


def _measures(
    a: Run, b: Run, at: int | None, spike: Numbers, recovery: Numbers | None, through: int | None
) -> list[Measure]:
    """What both runs measured at the spike, or at their ends, `through` one step, where there is none."""
    if at is None:
        first, second = (_at_the_end(run, spike, through) for run in (a, b))
    else:
        first, second = (_at_spike(run, at, spike) for run in (a, b))
        if recovery is not None:
            first |= _after_spike(a, at, spike, recovery)
            second |= _after_spike(b, at, spike, recovery)
    return [Measure(key, first[key], second[key]) for key in first]


def _evaluated(a: Run, b: Run) -> Iterator[Measure]:
    """How both do on held-out data, at their best and at the end: by its loss, and by scores of both."""
    scores = [name for name in scoring.among(a.frame.columns) if a.has(name) and b.has(name)][:_MOST_SCORES]
    held_out = ["val_loss"] if a.has("val_loss") or b.has("val_loss") else []
    for signal in (*held_out, *scores):
        best = "lowest" if signal in held_out else "highest"
        (a_best, a_step, a_last), (b_best, b_step, b_last) = (
            _best_and_last(run, signal, lowest=signal in held_out) for run in (a, b)
        )
        yield Measure(best, a_best, b_best, signal)
        yield Measure("best_step", a_step, b_step, signal)
        yield Measure("last", a_last, b_last, signal)


def _best_and_last(run: Run, signal: str, *, lowest: bool) -> tuple[float | None, int | None, float | None]:
    """The best of a signal's finite values, its step, and the last value, finite or not."""
    values = finite(run[signal]) if run.has(signal) else pl.Series(dtype=pl.Float64)
    at = values.arg_min() if lowest else values.arg_max()
    if at is None:
        return None, None, None
    return known_float(values[at]), int(run.steps[at]), known_float(run[signal].drop_nulls()[-1])


def _looked_back(run: Run, spike: Numbers, at: int | None) -> int:
    """How many steps the spike question's window spans, of those that the log has before `at`, or in all."""
    if not len(run):
        return 0
    there = int(run.steps[-1]) + 1 if at is None else at
    return min(round(spike["window"].count(run) * cadence(run)), max(0, there - int(run.steps[0])))


def _worst_spike(runs: tuple[Run, Run], numbers: Numbers) -> int | None:
    found = [find_spike(run.logged("loss"), None, **numbers) for run in runs if run.has("loss")]
    spikes = [finding.facts for finding in found if finding.outcome == "yes"]
    if not spikes:
        return None
    return max((facts["peak"] - facts["bound"], facts["step"]) for facts in spikes)[1]


def _at_spike(run: Run, at: int, spike: Numbers) -> dict[str, float | None]:
    """The spike at `at`: its peak, and what the gradient did there."""
    found: dict[str, float | None] = dict.fromkeys(("before", "peak", "peak_step", "grad_norm", "grad_ratio"))
    if not _logged_at(run, at):
        return found
    run = run.logged("loss")
    row, window = run.row_at(at), spike["window"]
    if before := baseline(run, "loss", row, window):
        found["before"] = before.mean
    if (peak := _peak(run, at, spike)) is None:
        return found
    found |= {"peak": finite(run["loss"])[peak], "peak_step": int(run.steps[peak])}
    if run.has("grad_norm") and run["grad_norm"][peak] is not None:
        norm, usual = float(run["grad_norm"][peak]), baseline(run, "grad_norm", row, window)
        found |= {"grad_norm": norm, "grad_ratio": norm / usual.mean if usual and usual.mean else None}
    return found


def _after_spike(run: Run, at: int, spike: Numbers, numbers: Numbers) -> dict[str, float | None]:
    """What came after the spike at `at`, by the `numbers` of the recovery question."""
    found: dict[str, float | None] = dict.fromkeys(("recovered", "mean_after", "worst_after"))
    if not _logged_at(run, at):
        return found
    run = run.logged("loss")
    if (peak := _peak(run, at, spike)) is None:
        return found
    end = run.row_at(int(run.steps[peak]) + numbers["within"].steps)
    after = finite(run["loss"])[peak + 1 : end + 1]
    found |= {"mean_after": known_float(after.mean()), "worst_after": known_float(after.max())}
    to_the_end = {**numbers, "within": replace(numbers["within"], steps=int(run.steps[-1]) - at)}
    found["recovered"] = recovery(run, at, **to_the_end).facts.get("after")
    return found


def _logged_at(run: Run, at: int) -> bool:
    """Whether the run's losses reach step `at`."""
    return run.has("loss") and int(run.steps[0]) <= at <= int(run.steps[-1])


def _peak(run: Run, at: int, spike: Numbers) -> int | None:
    """The row of the largest loss of the spike at `at`; None where no loss there is finite."""
    row = run.row_at(at)
    peak = finite(run["loss"])[row : run.row_at(at + one_spike(spike["window"])) + 1].arg_max()
    return None if peak is None else row + peak


def _at_the_end(run: Run, spike: Numbers, through: int | None) -> dict[str, float | None]:
    """The last window, or that `through` a step: where the runs stand when nothing happened."""
    end = len(run) if through is None or not len(run) else run.row_at(through) + 1
    first = max(0, end - spike["window"].count(run))
    found: dict[str, float | None] = {}
    for signal in ("loss", "grad_norm"):
        last = finite(run[signal][first:end]) if run.has(signal) else pl.Series([], dtype=pl.Float64)
        found |= {f"last_{signal}": known_float(last.mean()), f"worst_{signal}": known_float(last.max())}
    return found


def _parted(a: Run, b: Run) -> int | None:
    if not (a.has("loss") and b.has("loss")):
        return None
    both = a.frame.select("step", "loss").join(
        b.frame.select("step", other="loss"), on="step", maintain_order="left"
    )
    apart = both.filter(pl.col("loss").ne_missing(pl.col("other")))["step"]
    return int(apart[0]) if len(apart) else None


def _configured(a: Run, b: Run) -> tuple[Difference, ...]:
    """What is known to be configured differently, by tutor's names, and what lies beside logs by its own."""
    known = [*_differences(a.manifest.given, b.manifest.given), *_rates(a, b)]
    told = [(one.a, one.b) for one in known]
    beside = _differences(a.beside, b.beside) if a.beside and b.beside else ()
    more = (one for one in beside if (one.a, one.b) not in told and not _PLACES.search(one.key))
    return (*known, *islice(more, _MOST_SETTINGS))


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Difference]:
    # What a manifest of ours says beside its settings follows from them.
    skipped = {*_NAMES, *(_DERIVED if "settings" in a and "settings" in b else ())}
    flat = [dict(_flat({k: v for k, v in one.items() if k not in skipped})) for one in (a, b)]
    for key in dict.fromkeys([*flat[0], *flat[1]]):
        left, right = (one.get(key, ABSENT) for one in flat)
        if left != right:
            yield Difference(key.removeprefix("settings."), left, right)


def _rates(a: Run, b: Run) -> Iterator[Difference]:
    """The highest learning rates that foreign logs tell, where they differ: nothing beside them says it."""
    if not (a.has("lr") and b.has("lr")) or "settings" in a.manifest.given or "settings" in b.manifest.given:
        return
    left, right = (known_float(finite(run["lr"]).max()) for run in (a, b))
    if left is not None and right is not None and not math.isclose(left, right, rel_tol=1e-3):
        yield Difference("max(lr)", left, right)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
