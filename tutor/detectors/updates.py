"""Detectors of the update: what decays, what Adam remembers, what micro-batches make, what it reaches."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tutor.detectors import NO_DATA, NOT_YET, Finding, any_of, detector
from tutor.detectors.beginning import warming_up
from tutor.detectors.loss import times_the_mean
from tutor.detectors.windows import Window, finite
from tutor.run import Run, known_float, to_float

if TYPE_CHECKING:
    import polars as pl


@detector(
    manifest=("groups",),
    outcomes=("split", "slight", "together"),
    facts={
        "split": ("count", "decays"),
        **dict.fromkeys(("slight", "together"), ("count", "decays", "name", "flat", "bound")),
    },
)
def decay_groups(run: Run, at: int | None, *, slight: float) -> Finding:
    """Whether biases and the gains of norms are kept out of weight decay.

    The flaw: one group for all, so that 1-D parameters decay with the matrices. Where the manifest names the
    parameters and their shapes, any 1-D one in a group that decays says the same. A decay of up to `slight`
    hardly moves a gain: no flaw. Source: the tree; ours: `slight`.
    """
    groups = run.manifest.groups
    if not groups or any(group.weight_decay is None for group in groups):
        return Finding(NO_DATA, facts={"missing": ["groups"]})
    decays = ", ".join(f"{group.weight_decay:g}" for group in groups)
    facts: dict[str, object] = {"count": len(groups), "decays": decays}
    shapes = {name: len(one.shape) for name, one in run.manifest.initial.items()}
    for group in sorted(groups, key=lambda one: -float(one.weight_decay or 0)):  # what decays most, first
        decay = float(group.weight_decay or 0)
        flat = [name for name in group.names if shapes.get(name, 2) < 2]
        if decay and (flat or (not group.names and len(groups) == 1)):
            facts |= {"name": group.name, "flat": len(flat) or None, "bound": slight}
            outcome = "together" if decay > slight else "slight"
            return Finding(outcome, None, facts, measured=decay, bound=slight)
    return Finding("split", None, facts)


_MOMENTS = ("step", "m_share", "v_share", "bound", "rows")


@detector(
    signals=(any_of("adam_m_norm", "adam_v_norm"), any_of("grad_norm_clipped", "grad_norm")),
    outcomes=("averages", "rebuilt", "none"),
    facts=_MOMENTS,
    configured=("beta1", "beta2", "grad_clip"),
)
def moments(
    run: Run, at: int | None, *, until: Window, equal: float, v_share: float, m_times: float
) -> Finding:
    """Whether Adam's m and v accumulate, over the first `until` of the log.

    The flaw: state that doesn't outlive a step. An m that is the gradient itself at every row, within the
    share `equal`, averages nothing. An m that is one fixed part of the gradient at every row, or a v under
    `v_share` of what the gradients so far imply, is begun anew each time. A v that holds all gradients keeps
    the share that the first one had of its own square; it falls as gradients cease to point one way, or come
    to lie in other weights, as a recurrent network's do. So v alone doesn't tell where beta1 is known and m
    is over `m_times` the part of the gradient, 1 - beta1, that one begun anew is. Source: the tree; ours: m's
    fixed part, `v_share` and `m_times`.
    """
    needed = until.count(run)
    if len(run) < needed:
        return Finding(NOT_YET, facts={"rows": len(run), "needed": needed})
    if int(run.steps[0]) > 1:
        return Finding(NO_DATA, facts={"missing": ["adam_m_norm[0]"]})
    given = _given(run)[:needed]
    m = (finite(run["adam_m_norm"])[:needed] / given) if run.has("adam_m_norm") else None
    shares = m[1:].drop_nulls() if m is not None else None
    v = _implied_share(run, given)
    if shares is None and v is None:
        return Finding(NO_DATA, facts={"missing": ["adam_v_norm"]})
    m_share = to_float(shares.median()) if shares is not None and len(shares) else None
    facts = {
        "step": int(run.steps[needed - 1]),
        "m_share": None if m_share is None else 100 * m_share,
        "v_share": None if v is None else 100 * v,
        "bound": 100 * v_share,
        "rows": needed,
    }
    fixed = False
    if shares is not None and m_share is not None and len(shares) > 1:
        fixed = to_float((shares - m_share).abs().max()) <= equal * m_share
    if fixed and m_share is not None and abs(m_share - 1) <= equal:
        return Finding("none", facts["step"], facts)
    lost = fixed or (v is not None and v < v_share and not _keeps(run, shares, m_times, equal))
    return Finding("rebuilt" if lost else "averages", facts["step"], facts, measured=v, bound=v_share)


_AGAIN = 3
"""Rows in which m is just what it is at a first step are no coincidence: a constant of the method."""


def _keeps(run: Run, shares: "pl.Series | None", times: float, equal: float) -> bool:
    """Whether m is more of the gradient than one that is begun anew, and hardly ever just what that is."""
    beta1 = run.manifest.settings.get("beta1")
    if shares is None or not len(shares) or not isinstance(beta1, int | float) or not 0 < beta1 < 1:
        return False
    first = 1 - beta1
    again = int(((shares - first).abs() <= equal * first).sum())
    return to_float(shares.median()) > times * first and again < _AGAIN


def _given(run: Run) -> "pl.Series":
    """The norm of the gradient that the optimizer was given; null where it was 0 or not finite."""
    if run.has("grad_norm_clipped"):
        norm = finite(run["grad_norm_clipped"])
    else:
        norm, clip = finite(run["grad_norm"]), run.manifest.settings.get("grad_clip")
        norm = norm.clip(upper_bound=float(clip)) if isinstance(clip, int | float) else norm
    return norm.set((norm <= 0).fill_null(True), None)


def _implied_share(run: Run, given: "pl.Series") -> float | None:
    """The norm of v at the last row over what the gradients up to it imply; 1 at the first row.

    None without v, without a beta2, or in a log that leaves steps out.
    """
    beta2 = run.manifest.settings.get("beta2")
    if not run.has("adam_v_norm") or not isinstance(beta2, int | float) or not 0 < beta2 < 1:
        return None
    v = finite(run["adam_v_norm"])[: len(given)]
    steps = run.steps[: len(given)]
    if int(steps[-1]) - int(steps[0]) != len(given) - 1:
        return None
    implied, first, last = 0.0, None, None
    for norm, now in zip(given, v, strict=True):
        implied = beta2 * implied + (1 - beta2) * (norm or 0.0) ** 2
        if now is not None and implied:
            last = now / implied
            first = last if first is None else first
    return last / first if first and last is not None else None


@detector(
    outcomes=("single", "averages", "sums"),
    facts={"single": ("k",), "averages": ("k", "times", "bound"), "sums": ("k", "times", "bound")},
    configured=("accumulation",),
)
def accumulation(run: Run, at: int | None, *, part: float) -> Finding:
    """Whether the micro-batches of a step are averaged.

    The flaw: the division by k was forgotten, and what is trained on is k times the mean loss: more than the
    `part` of the way from 1 to k. Source: the tree; ours: as the loss that is trained on, which needs no
    second run to compare with.
    """
    k = run.manifest.batch.accumulation
    if not k:
        return Finding(NO_DATA, facts={"missing": ["accumulation"]})
    if k == 1:
        return Finding("single", None, {"k": k})
    if not (run.has("reduced_loss") and run.has("loss")):
        return Finding(NO_DATA, facts={"missing": ["reduced_loss"]})
    known = (run["reduced_loss"].is_finite() & run["loss"].is_finite()).fill_null(False).arg_true()
    times = times_the_mean(run, int(known[0])) if len(known) else None
    if times is None:
        return Finding(NO_DATA, facts={"missing": ["reduced_loss"]})
    bound = 1 + part * (k - 1)
    facts = {"k": k, "times": times, "bound": bound}
    return Finding("sums" if times > bound else "averages", None, facts, measured=times, bound=bound)


@detector(
    signals=("adam_ratio_rms",),
    manifest=("initial",),
    outcomes=("all", "swallowed", "rounded", "rows", "part"),
    facts={
        **dict.fromkeys(("all", "rounded", "rows", "part"), ("reached", "bound", "dtype")),
        "swallowed": ("reached", "norm", "dtype"),
    },
    configured=("dtype", "vocab_size"),
)
def reached_weights(run: Run, at: int | None, *, share: float) -> Finding:
    """Whether the first gradient reaches at least a `share` of the weights.

    At its first step Adam's v is the square of the gradient, so g / sqrt(v) is 1 or -1 in each weight with a
    gradient and 0 in every other: the mean of its square is the share of weights that were reached. The
    flaw: some lie outside the graph, such as a head that is tied to a copy of the embedding, or what was
    detached. In fp16 small gradients round to 0, and where the head has weights of its own the embedding's
    rows of other tokens have none by design: remarks. So is a gradient clipped so far that Adam's eps
    swallows it, which makes every ratio small. Where nothing at all is reached, or the gradient isn't finite,
    other questions ask why. Source: Adam's own arithmetic; ours: the share.
    """
    ratio = finite(run["adam_ratio_rms"])[0]
    norm = run["grad_norm"][0] if run.has("grad_norm") else None
    if int(run.steps[0]) > 0 or not ratio or (norm is not None and not math.isfinite(norm)):
        return Finding(NO_DATA, facts={"missing": ["adam_ratio_rms[0]"]})
    reached, manifest = float(ratio) ** 2, run.manifest
    heads = [one for one in manifest.initial.values() if one.kind == "linear" and len(one.shape) > 1]
    untied = any(one.shape[0] == manifest.vocab_size for one in heads)
    clipped = known_float(finite(run["grad_norm_clipped"])[0]) if run.has("grad_norm_clipped") else None
    if clipped is not None and _swallowed(clipped, [one.shape for one in manifest.initial.values()]):
        facts = {"reached": 100 * reached, "norm": clipped, "dtype": manifest.dtype}
        return Finding("swallowed", 0, facts)
    outcome = "rounded" if manifest.precision == "fp16" else "rows" if untied else "part"
    facts = {"reached": 100 * reached, "bound": 100 * share, "dtype": manifest.dtype}
    return Finding("all" if reached >= share else outcome, 0, facts, measured=reached, bound=share)


_MOVED = ("moved", "bound", "update", "line", "weights", "rows", "begin", "end")


@detector(
    signals=("update_norm", "param_norm"),
    outcomes=("usual", "large"),
    facts=_MOVED,
)
def update_size(run: Run, at: int | None, *, above: float, grown: float, least: int) -> Finding:
    """How far an update moves the weights, as a share of their own norm.

    The flaw: the median update is over `above` of the median norm of the weights, so that a few dozen steps
    move them as far as they are long and undo what the steps before have taught: a learning rate far too
    high, which ends neither in NaN nor in a spike. Rows count once the weights have a norm of `grown` of the
    largest one, for those that begin at 0 move by a large share of nothing; so do adapters, and a run that
    trains less than half of its weights isn't judged. Source: ours.
    """
    update, weights = finite(run["update_norm"]), finite(run["param_norm"])
    both = (update.is_not_null() & weights.is_not_null()).arg_true()
    if len(both) < least or warming_up(run):
        return Finding(NOT_YET, facts={"rows": len(both), "needed": max(least, len(both) + 1)})
    if _trains_a_part(run):
        return Finding(NO_DATA, facts={"missing": []})
    large = (weights >= grown * to_float(weights.max())).fill_null(False)
    first = int(large.arg_max() or 0)
    both = both.filter(both >= first)
    length, moved = (to_float(one.gather(both).median() or 0.0) for one in (weights, update))
    if len(both) < least or length <= 0:  # what is below 0 is no norm
        return Finding(NOT_YET, facts={"rows": len(both), "needed": least})
    seen = (int(run.steps[first]), int(run.steps[-1]))
    facts = {
        "moved": 100 * moved / length,
        "bound": 100 * above,
        "update": moved,
        "line": above * length,
        "weights": length,
        "rows": len(both),
        "begin": seen[0],
        "end": seen[1],
    }
    outcome = "large" if moved > above * length else "usual"
    return Finding(outcome, None, facts, above * length, seen, measured=moved / length, bound=above)


def _trains_a_part(run: Run) -> bool:
    """Whether the optimizer holds less than half of the model's weights, by their number."""
    sizes = {name: math.prod(one.shape) for name, one in run.manifest.initial.items()}
    trained = {name for group in run.manifest.groups for name in group.names}
    return bool(trained) and 2 * sum(sizes.get(name, 0) for name in trained) < sum(sizes.values())


EPS = 1e-8
"""What Adam adds to the root of v, by PyTorch's default: far above a gradient, it is what divides."""


def _swallowed(norm: float, shapes: Iterable[Sequence[int]]) -> bool:
    """Whether a gradient of this norm, over weights of these shapes, is within ten times eps in each."""
    return 0 < norm < 10 * EPS * math.sqrt(sum(math.prod(shape) for shape in shapes))
