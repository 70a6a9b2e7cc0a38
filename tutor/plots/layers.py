"""Layers: the activations' norms by layer at the marked step and, where there is room, over steps."""

import math
from itertools import pairwise

from rich.text import Text

from tutor.plots import axes, picture
from tutor.plots.chart import Chart, Curve
from tutor.plots.drawn import AtStep, Beside, Drawn, Still
from tutor.plots.ink import bar, page
from tutor.plots.request import Request

_BARS = 42  # cells for the bars where the curves stand beside them


def draw(request: Request) -> Drawn:
    """The panel: an embedding, then every block, each with its growth over the layer before."""
    found = _found(request)
    if found is None:
        return Still(request.missing("activation_norms"))
    if request.width < 2 * _BARS:
        return AtStep(lambda cursor: _bars(request.under(cursor)))
    width, bars = request.width - _BARS - 2, request.sized(_BARS, request.height)
    curves = _curves(request.sized(width, request.height), found[1])
    return Beside(curves, AtStep(lambda cursor: _bars(bars.under(cursor))), width, request.height, 2)


def _found(request: Request) -> tuple[int, list[float]] | None:
    found = request.at("activation_norms")
    if found is None:
        return None
    return found[0], [math.nan if norm is None else float(norm) for norm in found[1]]


def _growth(norms: list[float]) -> list[float]:
    """Each layer's norm over the one before it; 1 for the first, NaN where either isn't finite."""
    ratios = [
        after / before if before and math.isfinite(after) else math.nan for before, after in pairwise(norms)
    ]
    return [1.0, *ratios]


def _steepest(norms: list[float]) -> int:
    growth = [ratio if math.isfinite(ratio) else 0.0 for ratio in _growth(norms)]
    return max(range(1, len(growth)), key=lambda layer: growth[layer], default=0)


def _name(request: Request, layer: int) -> str:
    return request.say("block", number=layer) if layer else request.say("embedding")


def _curves(request: Request, norms: list[float]) -> Drawn:
    values = request.run["activation_norms"]
    shown = sorted({0, _steepest(norms), len(norms) - 1}) if norms else []
    curves = [
        Curve(_name(request, layer), request.run.steps, values.list.get(layer, null_on_oob=True), place)
        for place, layer in enumerate(shown)
    ]
    chart = Chart(
        curves,
        request.view,
        unit=request.say("unit.norm"),
        mark=request.mark,
        log_beyond=30,
        log_word=request.say("log"),
        decided=request.ruling.step if request.ruling else None,
    )
    return picture.draw(chart, request.width, request.height, request.ink)


def _bars(request: Request) -> list[Text]:
    found = _found(request)
    if found is None:
        return request.missing("activation_norms")
    step, norms = found
    ink, growth, steepest = request.ink, _growth(norms), _steepest(norms)
    largest = max((norm for norm in norms if math.isfinite(norm)), default=0.0) or 1.0
    layers = list(range(len(norms)))
    room = max(1, request.height - 1)
    if len(layers) > room:  # the steepest are what the question is about
        kept = sorted(layers, key=lambda layer: (layer not in (0, layers[-1]), -_or_zero(growth[layer])))
        layers = sorted(kept[: room - 1])
    names = max((len(_name(request, layer)) for layer in layers), default=0)
    lines = [Text(request.say("layers_at", step=step), ink.dim)]
    if request.level is not None and request.level_label:
        lines[0].append(f"  {request.level_label}: ×{axes.label(request.level)}", ink.level)
    for layer in layers:
        style = ink.mark if layer == steepest and layer else ink.text
        line = Text(f"{_name(request, layer):<{names}} {_number(norms[layer]):>7} ", style)
        line.append(f"{'×' + _number(growth[layer]) if layer else '':<6} ", style)
        room = request.width - line.cell_len
        if math.isfinite(norms[layer]):
            line.append(
                bar(norms[layer] / largest, max(0, room)), style if layer == steepest else ink.curve(0)
            )
        lines.append(line)
    if len(layers) < len(norms):
        lines.append(Text(request.say("more_layers", count=len(norms) - len(layers)), ink.dim))
    return page(lines, request.width, request.height)


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return axes.label(value) if math.isfinite(value) else "Inf"
