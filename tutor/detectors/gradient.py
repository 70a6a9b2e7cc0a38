"""Detectors of the gradient norm before clipping."""

import math

from tutor.detectors import NOT_YET, Finding, Smoothed, detector
from tutor.detectors.grouped import Beyond
from tutor.detectors.windows import Baseline, Window, baseline, blocks, finite, forward_mean, piecewise
from tutor.run import Run, known_float, to_float


def rare_share(run: Run, row: int) -> tuple[float | None, str | None]:
    """The largest share of a row's tokens that one rare token takes, and the token (None: not recorded)."""
    size = run.manifest.batch.tokens
    if not (run.has("rare_counts") and run.has("rare_tokens") and size):
        return None, None
    counts, tokens = run["rare_counts"][row], run["rare_tokens"][row]
    if counts is None or tokens is None or not counts.count():
        return 0.0, None
    most = int(counts.arg_max())
    if most >= len(tokens):
        return None, None  # a foreign log whose lists don't pair
    share = min(1.0, float(counts[most]) / size)  # a row is one token longer than its inputs
    return share, str(tokens[most])


_AFTER = ("last_bad", "back_in", "back_bound", "probe_rise", "probe_bound")
_STRUCK = ("grad_norm", "usual", "ratio", "bound", "token", "share", "share_bound")


@detector(
    signals=("loss", "grad_norm"),
    outcomes=("batch", "lasts", "no"),
    facts={
        "batch": (*_STRUCK, "bad_rows", "last_bad"),
        "lasts": (*_STRUCK, "bad_rows", "most"),
        "no": _STRUCK,
    },
)
def bad_batch(
    run: Run,
    at: int | None,
    *,
    ratio: float,
    share: float,
    window: Window,
    longest: Window,
    lead: Window,
) -> Finding:
    """Whether one bad batch, or a run of them, made the spike.

    The flaw: a batch unlike the others, as one full of a rare token. A batch is bad where the gradient norm
    stands `ratio` times above its mean before, or one rare token takes a larger `share` of it. The norm may
    rise `lead` before the loss, or no more than its least rows after one that left the band by chance; one
    that follows the loss later, or once the loss is half way up, is a consequence. Bad rows next to each
    other are one event, and NaN among them is no end of it. Where the norm alone says so for longer than
    `longest`, it "lasts": the state is bad and no longer a batch.
    Source: the tree; ours: `share`, `lead` and `longest`.
    """
    row = run.row_at(at) if at is not None else 0
    before = lead.count(run)
    quiet = baseline(run, "grad_norm", row - before, window)
    if quiet is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": before + 2})
    norms = finite(run["grad_norm"]).fill_null(0.0)
    broken = (~run["grad_norm"].is_finite()).fill_null(False)
    most = longest.count(run)
    last = min(len(run) - 1, longest.end(run, row) + most)
    latest = min(_half_way_up(run, row, last + 1, window), row + lead.rows)

    def rare(i: int) -> bool:
        return (rare_share(run, i)[0] or 0.0) > share

    def bad(i: int) -> bool:
        return norms[i] > ratio * quiet.mean > 0 or rare(i)

    first = next((i for i in range(max(0, row - before), latest + 1) if bad(i)), None)
    start = row if first is None else first
    ends = (i for i in range(start, last + 1) if not (bad(i) or broken[i]))
    stop = latest + 1 if first is None else next(ends, last + 1)
    usual = baseline(run, "grad_norm", min(start, row), window) or quiet
    worst = start + (norms[start:stop].arg_max() or 0)
    shares = [rare_share(run, i) for i in range(start, stop)]
    token_share, token = max(shares, key=lambda pair: pair[0] or 0.0)
    facts = {
        "grad_norm": norms[worst],
        "usual": usual.mean,
        "ratio": norms[worst] / usual.mean if usual.mean else 0.0,
        "bound": ratio,
        "token": token,
        "share": None if token_share is None else 100 * token_share,
        "share_bound": 100 * share,
    }
    level = ratio * usual.mean
    seen = (int(run.steps[window.start(run, row)]), int(run.steps[last]))
    if first is None:
        return Finding("no", at, facts, level, seen, measured=facts["ratio"], bound=ratio)
    facts["bad_rows"] = stop - start
    if (lasted := sum(not rare(i) for i in range(start, stop))) > most:
        return Finding("lasts", at, facts | {"most": most}, level, seen, measured=lasted, bound=most)
    facts["last_bad"] = int(run.steps[stop - 1])
    return Finding("batch", at, facts, level, seen, measured=facts["ratio"], bound=ratio)


def _half_way_up(run: Run, row: int, end: int, window: Window) -> int:
    """The first row from `row` on, before `end`, whose loss is half way from its level before to its peak.

    Most of the harm is done by then: what threw the model off lies no later.
    """
    near, before = finite(run["loss"])[row:end], baseline(run, "loss", row, window)
    peak = known_float(near.max())
    if before is None or peak is None:
        return row
    return row + ((near >= (before.mean + peak) / 2).fill_null(False).arg_max() or 0)


@detector(
    signals=("loss", "grad_norm"),
    given=("last_bad",),
    outcomes=("harmed", "contained", "no"),
    facts={
        **dict.fromkeys(("harmed", "contained"), _AFTER),
        "no": (),
    },
)
def lasting_harm(
    run: Run,
    at: int | None,
    *,
    last_bad: int | None,
    window: Window,
    back: Beyond,
    smooth: Window,
    within: Window,
    probe_rise: float,
) -> Finding:
    """Whether the normal batches after the last bad one feel it, or the run's defences contained it.

    The flaw: nothing (a clip, a bound on the update) kept a bad batch from the weights. It is contained where
    the smoothed loss is back within mean + back x std inside the window `within`, and the probe loss rose
    there by no more than `probe_rise` nats. Where rows are far apart that window has more steps than it says:
    no row past those steps may stand above mean + back.sigmas x std. Source: ours; over 20 seeds each, the
    controls and the silent twin of no-clip stay under 0.4 nats and no-clip rises above 0.9 (`make
    calibrate`).
    """
    row = run.row_at(at) if at is not None else 0
    before = baseline(run, "loss", row, window)
    if before is None:
        return Finding(NOT_YET, at, {"rows": row, "needed": 2})
    if last_bad is None:
        return Finding("no", at)
    normal, span = run.row_at(last_bad) + 1, within.count(run)
    bound = before.mean + back.bound * before.std
    ahead = forward_mean(run["loss"], smooth.count(run), normal, normal + span + 1)
    returned = (ahead <= bound).fill_null(False).arg_true()
    lasts = _above_after(run, slice(normal, normal + span), last_bad + within.steps, before, back.sigmas)
    rise = _probe_rise(run, row, normal, span)
    facts = {
        "last_bad": last_bad,
        "back_bound": bound,
        "back_in": int(returned[0]) + 1 if len(returned) else None,
        "probe_bound": probe_rise,
        "probe_rise": rise,
    }
    contained = len(returned) > 0 and not lasts and (rise is None or rise <= probe_rise)
    end = min(len(run) - 1, normal + span)
    seen = (int(run.steps[window.start(run, row)]), int(run.steps[end]))
    outcome = "contained" if contained else "harmed"
    curve = Smoothed("loss", run.steps[normal : normal + span + 1], ahead)
    return Finding(outcome, at, facts, bound, seen, measured=rise, bound=probe_rise, curve=curve)


def _above_after(run: Run, rows: slice, step: int, before: Baseline, sigmas: float) -> bool:
    """Whether one of the rows past that step stands so many std above the mean of those before."""
    later = finite(run["loss"])[rows].filter(run.steps[rows] > step)
    return bool((later > before.mean + sigmas * before.std).any())


def _probe_rise(run: Run, row: int, normal: int, span: int) -> float | None:
    """Mean probe loss of the rows after the bad ones minus that of the rows before, in nats."""
    if not run.has("probe_loss"):
        return None
    probe = finite(run["probe_loss"])
    before = known_float(probe[max(0, row - span) : row].mean())
    after = known_float(probe[normal : normal + span].mean())
    return None if before is None or after is None else after - before


@detector(
    signals=("grad_norm",),
    outcomes=("yes", "no"),
    facts=("first", "last", "growth", "bound", "begin", "end"),
)
def rising_gradient(run: Run, at: int | None, *, window: Window, pieces: int, growth: float) -> Finding:
    """Whether the mean gradient norm of the window's last piece stands `growth` times above its first.

    The flaw: the run moves away from a minimum (bad data, init drift, a learning rate too high). Source: the
    tree's trend of the rolling mean; ours: as the means of `pieces` of equal length.
    """
    needed = window.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    start = window.start(run, len(run))
    tail = blocks(run["grad_norm"][start:], pieces)
    if not len(tail[0]):
        return Finding(NOT_YET, facts={"rows": 0, "needed": pieces})
    first, last = to_float(tail[0].mean()), to_float(tail[-1].mean())
    begin, end = int(run.steps[start]), int(run.steps[-1])
    change = last / first if first else math.inf
    facts = {"first": first, "last": last, "growth": change, "bound": growth, "begin": begin, "end": end}
    rising = change > growth and last > 0
    outcome, level = "yes" if rising else "no", growth * first
    curve = piecewise(run, "grad_norm", start, [to_float(piece.mean()) for piece in tail])
    return Finding(outcome, end, facts, level, (begin, end), measured=change, bound=growth, curve=curve)
