"""The panels that are curves over steps: loss, LR, gradient, parameters, optimizer, throughput."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutor import signals
from tutor.plots import picture, smoothing
from tutor.plots.chart import Chart, Curve
from tutor.plots.drawn import Beside, Drawn, Still
from tutor.plots.request import Request
from tutor.plots.ruling import Ruling
from tutor.plots.view import rows_in
from tutor.run import Run, known_float, scoring
from tutor.words import plain, say


@dataclass(frozen=True)
class Axis:
    """How the values of one unit are drawn.

    Attributes:
        log_beyond: logarithmic where the largest value is so many times the smallest.
        floor: a value that the axis includes.
    """

    log_beyond: float = 1e3
    floor: float | None = None


_AXES = {
    "objective": Axis(30),
    "nats": Axis(8),  # under a spike of 10 nats, a linear axis hides whether a loss of 0.7 came back
    "lr": Axis(math.inf, 0.0),
    "norm": Axis(30),
    "scale": Axis(30),
    "speed": Axis(1e4, 0.0),
}
SAME = 0.01
"""Two norms that differ by no more than this share of the larger are one: clipping divides by norm + 1e-6."""

_SPARED = 10
"""Beside the training loss the others are drawn whole, unless one reaches so many times as far: a spike of
the validation loss alone would leave no more than a flat line of what is asked about."""

_OF_SCORES = Axis(math.inf, 0.0)

_MOST_GROUPS = 4  # curves beside the one of all parameters
_MOST_SCORES = 3
_SIZES = 10
"""An axis begins at 0: what is so many times smaller than the first score would lie on it."""
_SCORES_ON = "loss"
"""The panel on which scores are drawn."""


@dataclass(frozen=True)
class Family:
    """Signals that share an axis: those of one panel and one unit.

    Attributes:
        signals: drawn in this order; the first is the one that a comparison of runs overlays.
        unit: key of the unit's words.
    """

    signals: tuple[str, ...]
    unit: str


def families(run: Run, panel: str) -> list[Family]:
    """What the panel draws, an axis each; a signal that the run has by optimizer group, with its groups."""
    found: dict[str, list[str]] = {}
    for signal in signals.of_panel(panel):
        if signal.unit in _AXES and signal.kind == "number":
            if signal.unit == "objective" and not _is_another(run, signal.name):
                continue
            columns = filter(
                run.has, signals.groups(signal.name, run.frame.columns) if signal.by_group else ()
            )
            found.setdefault(signal.unit, []).extend([signal.name, *list(columns)[:_MOST_GROUPS]])
    return [Family(tuple(names), unit) for unit, names in found.items()]


def _is_another(run: Run, objective: str) -> bool:
    """Whether what is trained on isn't the mean loss at some row: in most runs one curve says both."""
    if not (run.has(objective) and run.has("loss")):
        return False
    trained, mean = run[objective].cast(float), run["loss"].cast(float)
    return bool(((trained - mean).abs() > SAME * mean.abs()).any())


def draw(request: Request) -> Drawn:
    """Any of the panels above."""
    if request.others:
        return _compared(request)
    axes = families(request.run, request.panel)
    known = [family for family in axes if any(_has(request, signal) for signal in family.signals)]
    scores = _scores(request, axes, alone=not known)
    if not known and scores:
        return _alone(replace(request, level=None), scores)
    if not known:
        # A rule may look at another panel's signal, too.
        lacks = request.asked and not request.run.has(request.asked)
        return Still(request.missing(*([request.asked] if lacks else (one.signals[0] for one in axes))))
    if not request.any_rows():
        return Still(request.empty())
    if (len(known) == 1 and not scores) or request.width < 50:
        return _picture(request, known[0])
    width, height = (request.width - 1) // 2, request.height
    left = _picture(request.sized(width, height), known[0])
    other = replace(request.sized(request.width - 1 - width, height), level=None)  # another unit
    right = _alone(other, scores) if scores else _picture(other, known[1])
    return Beside(left, right, width, height, 1)


@dataclass(frozen=True)
class _Compared:
    """A column to draw of several runs, the axis that it takes, and what that is called."""

    column: str
    axis: Axis
    unit: str


def _compared(request: Request) -> Drawn:
    """A signal of each run over that of the others; where no step is under discussion, one more beside it."""
    over = _to_compare(request)
    if not over:
        return Still(request.missing(*(one.signals[0] for one in families(request.run, request.panel))))
    if not request.any_rows():
        return Still(request.empty())
    if len(over) == 1 or request.mark is not None or request.width < 50:
        return _overlaid(request, over[0])
    width, height = (request.width - 1) // 2, request.height
    left = _overlaid(request.sized(width, height), over[0])
    beside = replace(request.sized(request.width - 1 - width, height), level=None)
    right = _overlaid(beside, over[1], named=False)
    return Beside(left, right, width, height, 1)


def _to_compare(request: Request) -> list[_Compared]:
    """The panel's first signal that any of the runs has, then how they do on held-out data: its loss, and the
    scores that all of them have.
    """
    runs = (request.run, *request.others)
    known = (
        _Compared(signal, _AXES[family.unit], _unit(request, family))
        for one in runs
        for family in families(one, request.panel)
        for signal in family.signals
        if _has(request, signal)
    )
    found = [one for one in [next(known, None)] if one]
    if request.panel != _SCORES_ON:
        return found
    if _has(request, "val_loss") and all(one.column != "val_loss" for one in found):
        found.append(_Compared("val_loss", _AXES["nats"], request.say("held_out")))
    shared = (name for name in _columns(request.run) if all(one.has(name) for one in request.others))
    return [*found, *(_Compared(name, _OF_SCORES, plain(name)) for name in shared)]


def _overlaid(request: Request, over: _Compared, *, named: bool = True) -> Drawn:
    runs = [(place, one) for place, one in enumerate((request.run, *request.others)) if one.has(over.column)]
    chart = Chart(
        [
            _smoothed(request, Curve(short_name(one) if named else "", one.steps, one[over.column], place))
            for place, one in runs
        ],
        request.view,
        unit=over.unit,
        mark=request.mark,
        level=request.level,
        level_label=request.level_label or request.say("bound"),
        log_beyond=over.axis.log_beyond,
        log_word=request.say("log"),
        floor=over.axis.floor,
        fit_word=request.say("fitted"),
        beyond_word=request.say("beyond"),
    )
    return picture.draw(chart, request.width, request.height, request.ink)


def _scores(request: Request, axes: Sequence[Family], *, alone: bool) -> list[Curve]:
    """The scores beside the losses: where a question or a rule is about them, or they are `alone`."""
    about = request.panel == _SCORES_ON and (alone or request.asked in (scoring.SCORES, "val_loss"))
    ruling = request.ruling or Ruling()
    ruled = None if any(ruling.signal in family.signals for family in axes) else ruling.signal
    columns = _columns(request.run) if about else []
    curves = [
        Curve(plain(name), request.run.steps, request.run.frame[name], place)
        for place, name in enumerate(columns)
        if name != ruled
    ]
    if ruled and ruling.steps is not None and ruling.values is not None:
        curves.append(Curve(plain(ruled), ruling.steps, ruling.values, len(columns), ruled=True))
    return curves


def _columns(run: Run) -> list[str]:
    """The scores to draw on one axis: as many as can be told apart, of the size of the first."""
    found = [name for name in scoring.among(run.frame.columns) if run.frame[name].dtype.is_numeric()]
    sizes = {name: known_float(run.frame[name].cast(float).abs().max()) or 0.0 for name in found}
    first = next((size for size in sizes.values() if size), 0.0)
    return [name for name in found if first / _SIZES <= sizes[name] <= first * _SIZES][:_MOST_SCORES]


def _alone(request: Request, curves: Sequence[Curve]) -> Drawn:
    """The curves on an axis of their own, that begins at 0."""
    ruling = request.ruling or Ruling()
    chart = Chart(
        curves,
        request.view,
        mark=request.mark,
        log_beyond=_OF_SCORES.log_beyond,
        floor=_OF_SCORES.floor,
        window=ruling.window,
        window_word=request.say("window"),
    )
    return picture.draw(chart, request.width, request.height, request.ink)


def _unit(request: Request, family: Family) -> str:
    """The axis' unit in words: only a loss over tokens is known to be in nats."""
    unknown = family.unit == "nats" and not request.run.of_tokens
    return request.say("unit.loss" if unknown else f"unit.{family.unit}")


def _picture(request: Request, family: Family) -> Drawn:
    curves, absent = _curves(request, family)
    level, level_label = request.level, request.level_label or request.say("bound")
    if level is None and request.panel == "gradient":
        level, level_label = _clip(request.run), request.say("clip")
    ruling = request.ruling or Ruling()
    spared = _SPARED if request.asked == family.signals[0] else 0.0
    chart = Chart(
        curves,
        request.view,
        unit=_unit(request, family) if len(family.signals) > 1 else "",
        mark=request.mark,
        level=level,
        level_label=level_label,
        log_beyond=_AXES[family.unit].log_beyond,
        log_word=request.say("log"),
        floor=_AXES[family.unit].floor,
        notches=[one.resumes_at for one in request.run.checkpoints or ()],
        notch_word=request.say("checkpoint"),
        note=request.say("absent", signals=", ".join(absent)) if absent else "",
        says=request.say("unclipped") if _unclipped(request) else "",
        fit_word=request.say("fitted"),
        beyond_word=request.say("beyond"),
        spared=spared,
        window=ruling.window,
        window_word=request.say("window"),
        decided=ruling.step,
    )
    return picture.draw(chart, request.width, request.height, request.ink)


def _unclipped(request: Request) -> bool:
    """Whether no row in view was clipped: the norm after is the one before at each of them."""
    run = request.run
    known = run.has("grad_norm") and run.has("grad_norm_clipped")
    if request.panel != "gradient" or not known:
        return False
    begin, end = rows_in(run, request.view)
    before, after = run["grad_norm"][begin:end].cast(float), run["grad_norm_clipped"][begin:end].cast(float)
    same = ((before - after).abs() <= SAME * before.abs()).drop_nulls()
    return len(same) > 0 and bool(same.all())


def _curves(request: Request, family: Family) -> tuple[list[Curve], list[str]]:
    run = request.run
    logged = [
        Curve(
            label(request, signal),
            run.steps,
            run[signal],
            place,
            smooth=signal == "loss_ema",
            asked=signal == request.asked and (place > 0 or family.unit == "nats"),
        )
        for place, signal in enumerate(family.signals)
        if run.has(signal)
    ]
    curves = [_smoothed(request, curve) for curve in logged]
    if request.smooth and request.ink.faint:  # without colours nothing would tell them apart
        curves += [replace(curve, faint=True) for curve in logged if not curve.smooth]
    shown = request.ruling
    if shown and shown.signal in family.signals and shown.steps is not None and shown.values is not None:
        curves.append(Curve(request.say("ruled"), shown.steps, shown.values, len(logged), ruled=True))
    return curves, [label(request, signal) for signal in family.signals if not run.has(signal)]


def _smoothed(request: Request, curve: Curve) -> Curve:
    """The curve as it is asked for; one that was logged smooth stays as it is."""
    if not request.smooth or curve.smooth:
        return curve
    return replace(curve, values=smoothing.smoothed(curve.values, request.smooth))


def _has(request: Request, signal: str) -> bool:
    return any(run.has(signal) for run in (request.run, *request.others))


def label(request: Request, signal: str) -> str:
    """What a legend calls the signal."""
    known = signals.find(signal)
    if known and known.name != signal:  # an optimizer group's
        return plain(signal.removeprefix(f"{known.name}_").replace("_", " "))
    return say(f"signals.{signal}.short", request.lang)


def short_name(run: Run) -> str:
    """A run's name short enough that several fit in a legend."""
    name = plain(run.name)
    return name if len(name) <= 24 else f"{name[:23]}…"


def _clip(run: Run) -> float | None:
    """The bound on the gradient norm that the run was configured with."""
    bound = run.manifest.settings.get("grad_clip")
    return float(bound) if isinstance(bound, int | float) and math.isfinite(bound) else None
