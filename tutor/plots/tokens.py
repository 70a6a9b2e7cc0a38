"""Tokens: the histogram of per-token losses at the marked step, and the five worst tokens."""

import math

from rich.cells import cell_len
from rich.text import Text

from tutor.plots import axes
from tutor.plots.ink import bar, beside, page
from tutor.plots.request import Request
from tutor.words import plain

_BEFORE = 20  # rows whose mean stands behind the bars
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_GUTTER = 6


def draw(request: Request) -> list[Text]:
    """The panel."""
    found = request.at("token_loss_hist")
    if found is None:
        return request.missing("token_loss_hist")
    step, counts = found
    counts = [float(count or 0) for count in counts]
    worst = _worst(request)
    if not worst:
        return _histogram(request, step, counts)
    side = min(34, request.width * 2 // 5)
    picture = _histogram(request.sized(request.width - side, request.height), step, counts)
    return beside(picture, page(worst, side, request.height))


def _histogram(request: Request, step: int, counts: list[float]) -> list[Text]:
    """Bars of the counts on a log scale, so that a tail of a few tokens shows beside hundreds."""
    ink, rows = request.ink, max(1, request.height - 2)
    columns = max(1, request.width - _GUTTER - 1)
    wide = max(1, columns // max(1, len(counts)))
    before = _mean(request.before("token_loss_hist", step, _BEFORE), len(counts))
    top = math.log1p(max([*counts, *before, 1.0]))
    heights = [math.log1p(count) / top * rows for count in counts]
    levels = [math.log1p(count) / top * rows for count in before]
    lines = [Text.assemble((request.say("tokens_at", step=step), ink.dim))]
    if before:
        lines[0].append(f"  ─ {request.say('mean_before', count=_BEFORE)}", ink.curve(2))
    ticks = {
        min(rows - 1, int(rows - math.log1p(10**power) / top * rows)): 10**power for power in range(4, -1, -1)
    }
    for row in range(rows):
        floor = rows - 1 - row
        label = (
            axes.label(ticks[row])
            if row in ticks and 10 ** (math.expm1(top) > 0) and ticks[row] <= math.expm1(top)
            else ""
        )
        line = Text.assemble((label.rjust(_GUTTER - 1), ink.text), ("┤" if label else "│", ink.dim))
        for index, height in enumerate(heights):
            filled = min(8, max(0, round((height - floor) * 8)))
            if filled == 0 and height > 0 and floor == 0:
                filled = 1
            usual = bool(before) and floor <= levels[index] < floor + 1 and levels[index] > 0.05
            cell = _EIGHTHS[filled]
            body = wide - (wide > 2)
            if usual and filled == 0:
                line.append("─" * body, ink.curve(2))
            else:
                line.append(cell * body, ink.curve(1))
            line.append(" " * (wide - body))
        lines.append(line)
    lines.append(_axis(request, len(counts), wide))
    return page(lines, request.width, request.height)


def _axis(request: Request, bins: int, wide: int) -> Text:
    edges = request.run.manifest.get("token_loss_edges")
    if not isinstance(edges, list) or len(edges) != bins + 1:
        edges = list(range(bins + 1))
    cells = ["─"] * (bins * wide)
    room = 0
    for index in range(bins):
        words = axes.label(float(edges[index])) + ("+" if index == bins - 1 else "")
        place = index * wide
        due = index == 0 or index == bins - 1 or float(edges[index]) % 2 == 0
        if due and place >= room and place + len(words) <= len(cells):
            cells[place : place + len(words)] = list(words)
            room = place + len(words) + 2
    line = Text.assemble((" " * (_GUTTER - 1) + "└", request.ink.dim), ("".join(cells), request.ink.dim))
    line.append(f" {request.say('unit.nats')}", request.ink.dim)
    return line


def _worst(request: Request) -> list[Text]:
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
            line.append(bar(value / max(finite), 12), ink.curve(1))
        lines.append(line)
    return lines


def _mean(rows: list[list[float]], bins: int) -> list[float]:
    rows = [row for row in rows if len(row) == bins]
    return [sum(float(row[index] or 0) for row in rows) / len(rows) for index in range(bins)] if rows else []
