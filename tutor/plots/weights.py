"""Weights: what the network is drawn with, and which of its parameters decay; at the first step alone.

Any other view of the panel is that of the norms over steps.
"""

import re
from collections.abc import Iterable

from rich.text import Text

from tutor.plots import lines
from tutor.plots.drawn import Drawn, Still
from tutor.plots.ink import bar, page
from tutor.plots.readout import number
from tutor.plots.request import Request
from tutor.plots.view import whole
from tutor.run.manifest import Weights
from tutor.words import plain

_LAYER = re.compile(r"\.\d+\.")


def draw(request: Request) -> Drawn:
    """The panel of the parameters: norms over steps or, where only the first step is in view, the draw."""
    first = whole(request.run)[0]
    drawn = request.run.manifest.initial
    if request.view != (first, first) or not drawn or request.others:
        return lines.draw(request)
    said = [Text(request.say("drawn"), request.ink.dim), *_groups(request), *_rows(request, drawn.items())]
    return Still(page(said, request.width, request.height))


def _rows(request: Request, drawn: Iterable[tuple[str, Weights]]) -> list[Text]:
    """A line for each parameter, those that only differ by their layer together: std, and mean."""
    kinds: dict[str, list[Weights]] = {}
    for name, one in drawn:
        if one.std is not None and one.mean is not None:
            kinds.setdefault(_LAYER.sub(".*.", plain(name)), []).append(one)
    matrices = {name: them for name, them in kinds.items() if any(len(one.shape) > 1 for one in them)}
    widest = max((_most(them) for them in matrices.values()), default=0.0) or 1.0
    names = max((len(name) for name in kinds), default=0)
    ink, found = request.ink, []
    for name, them in sorted(kinds.items(), key=lambda pair: pair[0] not in matrices):
        mean = max((float(one.mean or 0.0) for one in them), key=abs)
        line = Text(f"{name:<{names}} ", ink.text)
        line.append(f"{f'×{len(them)}' if len(them) > 1 else '':<4}", ink.dim)
        line.append(f"std {number(_most(them)):<9} ", ink.curve(0))
        line.append(f"{request.say('mean')} {number(mean):<10} ", ink.text)
        if name in matrices:
            line.append(bar(_most(them) / widest, max(0, request.width - line.cell_len)), ink.curve(1))
        found.append(line)
    return found


def _most(them: list[Weights]) -> float:
    """The largest std of several parameters."""
    return max(float(one.std or 0.0) for one in them)


def _groups(request: Request) -> list[Text]:
    """The optimizer's groups with their weight decay, on one line."""
    groups = request.run.manifest.groups
    if not groups:
        return []
    named = ", ".join(
        f"{plain(group.name or '–')} {'–' if group.weight_decay is None else number(group.weight_decay)}"
        for group in groups
    )
    return [Text(request.say("groups", groups=named), request.ink.level)]
