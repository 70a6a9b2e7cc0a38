"""Readout: what the log holds at the cursor's step, under the panel: values, the batch's text, its tokens."""

import math

from rich.text import Text

from tutor.plots import axes, lines
from tutor.plots.batch import most_repeated
from tutor.plots.cursor import STEPLESS
from tutor.plots.ink import glyph
from tutor.plots.request import Request
from tutor.words import plain

_TOKENS = 5  # worst tokens to name
_ROOM = ((16, 3), (11, 2), (5, 1))
"""From so many lines of the panel, so many for the readout."""


def rows(request: Request) -> int:
    """How many lines the readout takes of the panel's."""
    most = next((count for height, count in _ROOM if request.height >= height), 0)
    if request.panel in STEPLESS or request.others:
        return min(1, most)
    run = request.run
    batch = any(map(run.has, ("sentence_ids", "rare_tokens", "batch_hash")))
    return min(most, 1 + batch + run.has("worst_tokens"))


def draw(request: Request, cursor: int | None, count: int, *, values_only: bool = False) -> list[Text]:
    """At most `count` lines, none without a cursor: the first has the step and the curves' values there."""
    if cursor is None or not count:
        return []
    at = request.under(cursor)
    values, note = _values(at, cursor), _unclipped(at, cursor)
    drawn = [values]
    if request.panel not in STEPLESS and not values_only:
        drawn += [line for line in (_batch(at, cursor), _worst(at, cursor)) if line]
    if note and values.cell_len + note.cell_len <= request.width:
        values.append_text(note)
    elif note and len(drawn) < count:
        drawn.append(note)
    return drawn[:count]


def _values(request: Request, step: int) -> Text:
    ink = request.ink
    line = Text.assemble((f" {request.say('batch_at', step=step)} ", ink.cursor))
    if request.others:
        signal = next(iter(_signals(request)), None)
        for place, run in enumerate((request.run, *request.others) if signal else ()):
            value = run.value(signal, step) if signal and run.has(signal) else None
            _value(line, request, place, lines.short_name(run), value)
        return line
    for place, signal in enumerate(_signals(request)):
        _value(line, request, place, lines.label(request, signal), request.run.value(signal, step))
    return line


def _unclipped(request: Request, step: int) -> Text | None:
    """That clipping changed nothing there, on the panel that draws both norms."""
    before, after = (request.run.value(name, step) for name in ("grad_norm", "grad_norm_clipped"))
    if request.panel != "gradient" or request.others or not before or not after:
        return None
    same = abs(before - after) <= lines.SAME * abs(before)
    return Text(f"  {request.say('unclipped')}", request.ink.level) if same else None


def _value(line: Text, request: Request, place: int, name: str, value: float | None) -> None:
    ink = request.ink
    sign = glyph(place)
    line.append(f"  {sign}{' ' if sign else ''}{name} ", ink.curve(place))
    if value is None:
        line.append("–", ink.dim)
    elif not math.isfinite(value):
        line.append("NaN" if math.isnan(value) else f"{value:+}".replace("inf", "Inf"), ink.bad)
    else:
        line.append(number(value), ink.text)


def number(value: float) -> str:
    """A finite value with four digits."""
    return axes.label(value) if abs(value) >= 1e4 or 0 < abs(value) < 1e-2 else f"{value:.4g}"


def _signals(request: Request) -> list[str]:
    """The panel's curves as it draws them; the loss where it draws none."""
    runs = (request.run, *request.others)
    for panel in (request.panel, "loss"):
        families = lines.families(request.run, panel) if panel not in (*STEPLESS, "activations") else []
        names = [signal for family in families for signal in family.signals]
        if known := [name for name in names if any(run.has(name) for run in runs)]:
            return known
    return []


def _batch(request: Request, step: int) -> Text | None:
    """The batch's sentence that is repeated most, how many there are, and its rare tokens."""
    ink = request.ink
    line = Text(f" {request.say('batch')} ", ink.dim)
    found = most_repeated(request, step)
    if found:
        text, times, count, distinct = found
        line.append(f"“{text}”", ink.text)
        line.append(f" ×{times}" if times > 1 else "", ink.level)
        line.append(f"  {request.say('sentences', count=count, distinct=distinct)}", ink.dim)
    rare, counts = request.run.value("rare_tokens", step), request.run.value("rare_counts", step)
    if rare is not None and len(rare):
        most = f" ×{counts[0]:g}" if counts is not None and len(counts) and counts[0] is not None else ""
        line.append(f"  {request.say('rare')} “{plain(str(rare[0]))}”{most}", ink.text)
    if not found and (hash_ := request.run.value("batch_hash", step)):
        line.append(f"{request.say('hash')} {plain(str(hash_)[:8])}", ink.text)
    return line if line.cell_len > len(request.say("batch")) + 2 else None


def _worst(request: Request, step: int) -> Text | None:
    """The tokens of the highest loss at just this step."""
    tokens, losses = (request.run.value(name, step) for name in ("worst_tokens", "worst_token_losses"))
    if tokens is None or not len(tokens):
        return None
    ink = request.ink
    line = Text(f" {request.say('worst_tokens')} ", ink.dim)
    for place, token in enumerate(tokens[:_TOKENS]):
        loss = losses[place] if losses is not None and place < len(losses) else None
        line.append(f" “{plain(str(token))}” ", ink.text)
        line.append(
            "–" if loss is None else f"{loss:.1f}".replace("nan", "NaN").replace("inf", "Inf"), ink.dim
        )
    return line
