"""Tokens: the histogram of per-token losses at the marked step, and the five worst tokens."""

import math

from rich.cells import cell_len
from rich.text import Text

from tutor.plots import axes
from tutor.plots.drawn import AtStep, Drawn
from tutor.plots.frame import BAD
from tutor.plots.ink import bar, beside, page
from tutor.plots.request import Request
from tutor.words import plain

_BEFORE = 20  # rows whose mean stands behind the bars
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_GUTTER = 6


def draw(request: Request) -> Drawn:
    """The panel, at the cursor or else at the mark."""
    return AtStep(lambda cursor: _page(request.under(cursor)))


def _page(request: Request) -> list[Text]:
    found = request.at("token_loss_hist")
    if found is None:
        return request.missing("token_loss_hist")
    step, counts = found
    counts = [float(count or 0) for count in counts]
    side = min(34, request.width * 2 // 5)
    worst = _worst(request, side)
    if not worst:
        return _histogram(request, step, counts)
    picture = _histogram(request.sized(request.width - side, request.height), step, counts)
    return beside(picture, page(worst, side, request.height))


def _histogram(request: Request, step: int, counts: list[float]) -> list[Text]:
    """Bars of the counts on a log scale, so that a tail of a few tokens shows beside hundreds."""
    ink, rows = request.ink, max(1, request.height - 2)
    wide = max(1, (request.width - _GUTTER - 6) // max(1, len(counts)))
    before = _mean(request.before("token_loss_hist", step, _BEFORE), len(counts))
    bad = [not math.isfinite(count) for count in counts]
    counts, before = ([max(0.0, n) if n and math.isfinite(n) else 0.0 for n in ns] for ns in (counts, before))
    largest = max([*counts, *before, 1.0])
    bars = [_height(count, largest, rows) for count in counts]
    usual = [_height(count, largest, rows) for count in before]
    labels = {
        rows - 1 - int(_height(10**power, largest, rows) - 1e-6): 10**power for power in range(6, -1, -1)
    }
    lines = [Text(request.say("tokens_at", step=step), ink.dim)]
    legend = f"  ─ {request.say('mean_before', count=_BEFORE)}"
    if before and lines[0].cell_len + cell_len(legend) < request.width:
        lines[0].append(legend, ink.curve(2))
    for row in range(rows):
        floor = rows - 1 - row
        words = axes.label(labels[row]) if 0 < labels.get(row, 0) <= largest else ""
        line = Text.assemble((words.rjust(_GUTTER - 1), ink.text), ("┤" if words else "│", ink.dim))
        for index, height in enumerate(bars):
            filled = min(8, max(0, round((height - floor) * 8)))
            if bad[index] and floor == 0:
                line.append((BAD * wide), ink.bad)
            elif filled == 0 and usual and floor <= usual[index] - 1e-6 < floor + 1:
                line.append("─" * wide, ink.curve(2))
            else:
                line.append(_EIGHTHS[max(filled, int(height > 0 and floor == 0))] * wide, ink.curve(1))
        lines.append(line)
    lines.append(_axis(request, len(counts), wide))
    return page(lines, request.width, request.height)


def _height(count: float, largest: float, rows: int) -> float:
    return math.log1p(count) / math.log1p(largest) * rows


def _axis(request: Request, bins: int, wide: int) -> Text:
    edges = request.run.manifest.token_loss_edges or ()
    if len(edges) != bins + 1:
        edges = tuple(range(bins + 1))
    cells = list("─" * (bins * wide))
    last = f"{axes.label(float(edges[bins - 1]))}+"  # what is over the last edge counts in the last bin
    room, end = 0, len(cells) - len(last)
    for index in range(0, bins - 1, 2):
        words, place = axes.label(float(edges[index])), index * wide
        if place >= room and place + len(words) + 2 <= end:
            cells[place : place + len(words)] = list(words)
            room = place + len(words) + 2
    if end >= room:
        cells[end:] = list(last)
    axis = f"{' ' * (_GUTTER - 1)}└{''.join(cells)} {request.say('unit.nats')}"
    return Text(axis, request.ink.dim)


def _worst(request: Request, room: int) -> list[Text]:
    tokens, losses = request.at("worst_tokens"), request.at("worst_token_losses")
    if tokens is None or losses is None:
        return []
    ink = request.ink
    pairs = list(zip(tokens[1], losses[1], strict=False))
    finite = [float(loss) for _, loss in pairs if loss is not None and math.isfinite(loss)]
    names = [f"“{plain(str(token))}”" for token, _ in pairs]
    width = min(14, max((cell_len(name) for name in names), default=0))
    lines = [Text(request.say("worst_tokens"), ink.dim)]
    for name, (_, loss) in zip(names, pairs, strict=True):
        line = Text(name, ink.text)
        line.truncate(width, overflow="ellipsis", pad=True)
        value = math.nan if loss is None else float(loss)
        line.append(f" {value:>5.1f} " if math.isfinite(value) else "   NaN ", ink.text)
        if math.isfinite(value) and max(finite) > 0:
            line.append(bar(value / max(finite), min(12, room - line.cell_len)), ink.curve(1))
        lines.append(line)
    return lines


def _mean(rows: list[list[float]], bins: int) -> list[float]:
    rows = [row for row in rows if len(row) == bins]
    return [sum(float(row[index] or 0) for row in rows) / len(rows) for index in range(bins)] if rows else []
