"""Detectors of what followed a jump of the loss: NaN, an oscillation, a return, or another level.

They are asked in this order, and the first that finds its course decides. Where the log ends before the
window does and nothing has shown yet, each says so.
"""

from typing import TYPE_CHECKING

from tutor.detectors import NOT_YET, Finding, Smoothed, detector
from tutor.detectors.windows import Window, baseline, blocks, finite, forward_mean
from tutor.run import Run, known_float

if TYPE_CHECKING:
    import polars as pl

FIRST = 5
"""Rows whose median says where the loss began, whatever a single batch does: a constant of the method."""


def _end(run: Run, row: int, within: Window) -> int:
    """The last row of the window after `row`, or of the log."""
    return min(len(run) - 1, within.end(run, row))


def _too_short(run: Run, at: int | None, row: int, within: Window) -> Finding | None:
    """NOT_YET where the log ends before the window after `row` does."""
    needed = within.end(run, row) + 1
    return (
        Finding(NOT_YET, at, {"rows": len(run) - row, "needed": needed - row}) if needed > len(run) else None
    )


def _seen(run: Run, row: int, end: int) -> int:
    return int(run.steps[end]) - int(run.steps[row])


def _broken(run: Run, row: int, end: int) -> list[int]:
    """The rows from `row` to `end` whose loss is NaN or Inf."""
    values = run["loss"][row : end + 1].cast(float)
    return [row + i for i in (~values.is_finite()).fill_null(False).arg_true().to_list()]


def _peak(run: Run, row: int, window: Window, end: int) -> int:
    """The tallest row within a window of `row`, or the last one that is NaN or Inf up to `end`."""
    near = finite(run["loss"])[row : min(end, window.end(run, row)) + 1]
    peak = row + (near.arg_max() or 0)
    return max([peak, *_broken(run, row, end)])


@detector(
    signals=("loss",),
    outcomes=("divergent", "no"),
    facts={"divergent": ("seen", "non_finite", "step"), "no": ("seen", "non_finite")},
)
def broken_after(run: Run, at: int | None, *, within: Window) -> Finding:
    """Whether the loss ends in NaN or Inf inside the window after the jump at `at`.

    The flaw: the weights are lost, and no later batch brings them back. Source: the playbook for long runs.
    """
    row = run.row_at(at) if at is not None else 0
    end = _end(run, row, within)
    broken = _broken(run, row, end)
    facts = {"seen": _seen(run, row, end), "non_finite": len(broken)}
    known = (row + run["loss"][row : end + 1].is_not_null().arg_true()).to_list()
    if broken and known and broken[-1] == known[-1]:
        step = int(run.steps[broken[0]])
        return Finding("divergent", step, facts | {"step": step}, window=(step, int(run.steps[end])))
    return _too_short(run, at, row, within) or Finding("no", at, facts)


@detector(signals=("loss",), outcomes=("divergent", "no"), facts=("seen", "returns", "bound", "height"))
def oscillates(
    run: Run, at: int | None, *, window: Window, within: Window, smooth: Window, times: float, swings: int
) -> Finding:
    """Whether the smoothed loss, back at its level, jumps to `times` that again, `swings` times or more.

    The flaw: the state can't bear its learning rate. The level is the mean of the window before the jump at
    `at`. Source: the playbook for long runs; ours: how often.
    """
    row = run.row_at(at) if at is not None else 0
    before = baseline(run, "loss", row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    end = _end(run, row, within)
    means = forward_mean(run["loss"], smooth.count(run), row, end + 1)
    returns = _returns(means, before.mean + before.std, times * before.mean)
    facts = {"seen": _seen(run, row, end), "returns": returns, "bound": swings, "height": times * before.mean}
    if returns >= swings:
        steps = (int(run.steps[row]), int(run.steps[end]))
        return Finding("divergent", at, facts, facts["height"], steps)
    return _too_short(run, at, row, within) or Finding("no", at, facts)


def _returns(means: "pl.Series", low: float, high: float) -> int:
    """How often a smoothed loss that had come back under `low` stands above `high` again."""
    count, calm_again = 0, False
    for mean in means.drop_nulls().to_list():
        if mean <= low:
            calm_again = True
        elif mean >= high and calm_again:
            count, calm_again = count + 1, False
    return count


_LEVEL = ("bound", "mean", "std", "sigmas", "seen")


@detector(
    signals=("loss",),
    outcomes=("recoverable", "no"),
    facts={"recoverable": ("step", "after", "value", *_LEVEL), "no": ("value", *_LEVEL)},
)
def comes_back(
    run: Run, at: int | None, *, window: Window, sigmas: float, within: Window, smooth: Window
) -> Finding:
    """Whether the smoothed loss is back within mean + sigmas x std of the window before the jump.

    Source: the playbook for long runs (about 500 steps); ours: smoothed over more than the few batches of one
    repeated token, whose own loss is near 0.
    """
    row = run.row_at(at) if at is not None else 0
    before = baseline(run, "loss", row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    end = _end(run, row, within)
    peak = _peak(run, row, window, end)
    bound = before.mean + sigmas * before.std
    means = forward_mean(run["loss"], smooth.count(run), peak + 1, end + 1)
    back = (means <= bound).fill_null(False).arg_true()
    facts = {"bound": bound, "mean": before.mean, "std": before.std, "sigmas": sigmas}
    facts |= {"seen": _seen(run, peak, end)}
    curve = Smoothed("loss", run.steps[peak + 1 : end + 1], means)
    steps = (int(run.steps[max(0, row - before.rows)]), int(run.steps[end]))
    if len(back):
        there = peak + 1 + int(back[0])
        step = int(run.steps[there])
        took = step - int(run.steps[peak])
        facts |= {"step": step, "after": took, "value": float(means[int(back[0])])}
        measured, most = float(took), float(within.steps)
        return Finding("recoverable", step, facts, bound, steps, measured=measured, bound=most, curve=curve)
    value = known_float(means.min())
    found = Finding(
        "no", at, facts | {"value": value}, bound, steps, measured=value, bound=bound, curve=curve
    )
    return _too_short(run, at, row, within) or found


@detector(
    signals=("loss",),
    given=("after",),
    outcomes=("divergent", "lingering", "back"),
    facts={
        **dict.fromkeys(("divergent", "lingering"), ("seen", "end", "level", "share", "growth")),
        "back": (),
    },
)
def settles(
    run: Run,
    at: int | None,
    *,
    after: int | None,
    window: Window,
    within: Window,
    least: Window,
    climb: float,
    given_back: float,
) -> Finding:
    """Where a loss that isn't back stands: it still climbs, it gave all back, or it settled higher.

    It climbs where the last quarter of what followed the peak stands `climb` times above the second; it gave
    all back where so many percent of what the run had gained are lost. It is judged once `least` lies behind
    the jump. Source: the playbook for long runs; ours: how a climb and a loss of everything are told.
    """
    if after is not None:
        return Finding("back", at)
    row = run.row_at(at) if at is not None else 0
    before = baseline(run, "loss", row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    if early := _too_short(run, at, row, least):
        return early
    end = _end(run, row, within)
    peak = _peak(run, row, window, end)
    loss = finite(run["loss"])
    first = known_float(loss[: min(FIRST, row)].median())
    quarters = [known_float(piece.median()) for piece in blocks(loss[peak : end + 1], 4)]
    last, second = quarters[-1], quarters[1]
    gained = None if first is None else first - before.mean
    share = None if last is None or not gained or gained <= 0 else 100 * (last - before.mean) / gained
    growth = None if last is None or not second or second <= 0 else last / second
    facts = {
        "seen": _seen(run, peak, end),
        "end": last,
        "level": before.mean,
        "share": share,
        "growth": growth,
    }
    lost = (growth is not None and growth >= climb) or (share is not None and share >= given_back)
    steps = (int(run.steps[row]), int(run.steps[end]))
    return Finding("divergent" if lost or last is None else "lingering", at, facts, before.mean, steps)
