"""Detectors of the gradient norm before clipping."""

import math

from tutor.detectors import NOT_YET, Finding, detector
from tutor.detectors.windows import baseline, blocks, finite, forward_mean, rows
from tutor.run import Run


def rare_share(run: Run, row: int) -> tuple[float | None, str | None]:
    """The largest share of a row's tokens that one rare token takes, and the token (None: not recorded)."""
    batch = run.manifest.get("batch") or {}
    size = (batch.get("rows") or 0) * (batch.get("tokens_per_row") or 0) * (batch.get("accumulation") or 1)
    if not (run.has("rare_counts") and run.has("rare_tokens") and size):
        return None, None
    counts, tokens = run["rare_counts"][row], run["rare_tokens"][row]
    if counts is None or tokens is None or not counts.count():
        return 0.0, None
    most = int(counts.arg_max())
    if most >= len(tokens):
        return None, None  # a foreign log whose lists don't pair
    return min(1.0, float(counts[most]) / size), str(
        tokens[most]
    )  # a row is one token longer than its inputs


_STRUCK = ("grad_norm", "usual", "ratio", "bound", "token", "share", "share_bound", "bad_rows")
_AFTER = (*_STRUCK, "last_bad", "back_in", "back_bound", "probe_rise", "probe_bound")


@detector(
    signals=("loss", "grad_norm"),
    outcomes=("long-tail", "contained", "no"),
    facts={"long-tail": _AFTER, "contained": _AFTER, "no": _STRUCK},
)
def bad_batch(
    run: Run,
    at: int | None,
    *,
    ratio: float,
    share: float,
    window: int,
    sigmas: float,
    smooth: int,
    within: int,
    within_normal: int,
    probe_rise: float,
    min_rows: int,
    min_rows_after: int,
    min_rows_smooth: int,
    lead: int,
) -> Finding:
    """Whether one bad batch, or a run of them, made the spike, and whether it did harm.

    A batch is bad where the gradient norm stands `ratio` times above its mean before, or one rare token
    takes a larger `share` of it. It is contained where the normal batches after it are back within
    mean + sigmas x std inside `within_normal` steps and the probe loss rose by less than `probe_rise`.
    """
    row = run.row_at(at) if at is not None else 0
    span = rows(run, window, min_rows)
    quiet, before = baseline(run, "grad_norm", row - lead, span), baseline(run, "loss", row, span)
    if quiet is None or before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": lead + 2})
    norms = finite(run["grad_norm"]).fill_null(0.0)
    last = min(len(run) - 1, row + rows(run, within))
    peak = row + int(finite(run["loss"])[row : last + 1].arg_max() or 0)

    def bad(i: int) -> bool:
        return norms[i] > ratio * quiet.mean > 0 or (rare_share(run, i)[0] or 0.0) > share

    # The norm may lead the loss, so a few rows before the spike count; bad rows in a row are one event.
    first = next((i for i in range(max(0, row - lead), peak + 1) if bad(i)), None)
    start = row if first is None else first
    stop = peak + 1 if first is None else next((i for i in range(first, last + 1) if not bad(i)), last + 1)
    usual = baseline(run, "grad_norm", min(start, row), span) or quiet
    worst = start + int(norms[start:stop].arg_max())
    token_share, token = max(
        (rare_share(run, i) for i in range(start, stop)), key=lambda pair: pair[0] or 0.0
    )
    facts = {
        "grad_norm": norms[worst],
        "usual": usual.mean,
        "ratio": norms[worst] / usual.mean if usual.mean else 0.0,
        "bound": ratio,
        "token": token,
        "share": None if token_share is None else 100 * token_share,
        "share_bound": 100 * share,
        "bad_rows": 0 if first is None else stop - start,
    }
    level = ratio * usual.mean
    seen = (int(run.steps[max(0, row - span)]), int(run.steps[last]))
    if first is None:
        return Finding("no", at, facts, level, seen)
    normal = max(stop, row)
    soon = rows(run, within_normal, min_rows_after)
    back_bound = before.mean + sigmas * before.std
    ahead = forward_mean(run["loss"], rows(run, smooth, min_rows_smooth))[normal : normal + soon + 1]
    back = (ahead <= back_bound).fill_null(False).arg_true()
    facts |= {
        "last_bad": int(run.steps[normal - 1]),
        "back_bound": back_bound,
        "back_in": int(back[0]) if len(back) else None,
        "probe_bound": probe_rise,
        "probe_rise": _probe_rise(run, row, normal, soon),
    }
    unmoved = facts["probe_rise"] is None or facts["probe_rise"] <= probe_rise
    return Finding("contained" if len(back) and unmoved else "long-tail", at, facts, level, seen)


def _probe_rise(run: Run, row: int, normal: int, span: int) -> float | None:
    """Mean probe loss of the rows after the bad ones minus that of the rows before, in nats."""
    if not run.has("probe_loss"):
        return None
    probe = finite(run["probe_loss"])
    before, after = probe[max(0, row - span) : row].mean(), probe[normal : normal + span].mean()
    return None if before is None or after is None else after - before


@detector(
    signals=("grad_norm",),
    outcomes=("yes", "no"),
    facts=("first", "last", "growth", "bound", "begin", "end"),
)
def rising_gradient(
    run: Run, at: int | None, *, window: int, pieces: int, growth: float, min_rows: int
) -> Finding:
    """Whether the mean gradient norm of the window's last piece stands `growth` times above its first."""
    span = rows(run, window, min_rows)
    if len(run) < span:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": span})
    tail = blocks(run["grad_norm"][-span:], pieces)
    if not len(tail[0]):
        return Finding(NOT_YET, facts={"rows": 0, "needed": pieces})
    first, last = float(tail[0].mean()), float(tail[-1].mean())
    begin, end = int(run.steps[-span]), int(run.steps[-1])
    facts = {
        "first": first,
        "last": last,
        "growth": last / first if first else math.inf,
        "bound": growth,
        "begin": begin,
        "end": end,
    }
    rising = facts["growth"] > growth if last else False
    return Finding("yes" if rising else "no", end, facts, growth * first, (begin, end))
