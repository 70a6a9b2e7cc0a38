"""Frame: what stands around the curves: the legend above, the numbers on the left, the steps below."""

from collections.abc import Sequence

from rich.text import Text

from tutor.plots import axes
from tutor.plots.canvas import Canvas
from tutor.plots.chart import Chart
from tutor.plots.ink import Ink
from tutor.plots.sample import Sample
from tutor.plots.view import View, column_of, overlaps

BAD = "×"
NOTCH = "▣"
WINDOW = "━"
BEYOND = "↑"


def gutter(
    scale: axes.Scale, rows: int, width: int, ink: Ink, known: bool, level: float | None
) -> list[Text]:
    """The left edge with its numbers, `width` cells wide; without numbers where no value is known."""
    if not width:
        return [Text()] * rows
    lines = [Text(" " * (width - 1) + "│", ink.dim) for _ in range(rows)]
    for value, words in scale.ticks(max(2, min(6, (rows + 1) // 3))) if known else []:
        number = Text(words[: width - 1].rjust(width - 1), ink.text)
        lines[scale.row(value, rows)] = Text.assemble(number, ("┤", ink.dim))
    if known and "┤" not in lines[0].plain:  # else nobody can read how high a spike is
        top = axes.label(scale.high, (scale.high - scale.low) / 20)[: width - 1]
        lines[0] = Text.assemble(Text(top.rjust(width - 1), ink.text), ("┤", ink.dim))
    if level is not None:
        words = axes.label(level)[: width - 1]
        lines[scale.row(level, rows)] = Text(words.rjust(width - 1) + "┤", ink.level)
    return lines


def legend(
    chart: Chart,
    samples: Sequence[Sample],
    scale: axes.Scale,
    bad: bool,
    notched: bool,
    level: float | None,
    width: int,
    ink: Ink,
) -> Text:
    """The line above: unit, remarks, each curve's name; brief where room is short."""
    log = chart.log_word if scale.log else ""
    units = [
        [Text(words, ink.dim)] if words else []
        for words in (" · ".join(filter(None, (chart.unit, log))), log)
    ]
    head = []
    if level is not None and chart.level_label:
        head.append(Text(f"╌╌ {chart.level_label}", ink.level))
    if bad:
        head.append(Text(f"{BAD} {chart.bad_word}", ink.bad))
    drawn = list(zip(chart.curves, samples, strict=True))
    if fitted := next((curve.label for curve in chart.curves if curve.asked), ""):
        beyond = ", ".join(curve.label for curve, one in drawn if not (one.lines or curve.faint))
        head.append(
            Text(
                f"{chart.fit_word} {fitted}" + (f" ({beyond} {chart.beyond_word})" if beyond else ""), ink.dim
            )
        )
        drawn = [(curve, one) for curve, one in drawn if one.lines]
    if chart.says:
        head.append(Text(chart.says, ink.text))
    note = [Text(chart.note, ink.dim)] if chart.note else []
    notch = [Text(f"{NOTCH} {chart.notch_word}", ink.text)] if notched else []
    seen = chart.window is not None and overlaps(chart.view, chart.window)
    window = [Text(f"{WINDOW * 2} {chart.window_word}", ink.level)] if seen else []
    long, short = [], []
    for curve, one in drawn:
        if curve.faint or not curve.label:
            continue
        sign = curve.sign or "⠤"
        for entries, symbol in ((long, f"{sign} " if one.points else f"⠤{sign}⠤ "), (short, sign)):
            entries.append(Text.assemble((symbol, curve.style(ink)), (curve.label, ink.text)))
    for entries in (
        [*units[0], *head, *long, *window, *notch, *note],
        [*units[0], *head, *long, *window, *notch],
        [*units[0], *head, *short, *window, *notch],
        [*units[1], *head, *short, *window, *notch],
        [*units[1], *head, *short, *window],
        [*units[1], *head, *short],
    ):
        if sum(entry.cell_len + 2 for entry in entries) - 2 <= width:
            break
    return Text("  ").join(entries)


def axis(chart: Chart, columns: int, ink: Ink, cursor: int | None) -> Text:
    """The bottom line, with the steps written into it and the rule's window in bold."""
    canvas = Canvas(columns, 1)
    first, last = chart.view
    for step, style in ((cursor, ink.cursor), (chart.mark, ink.mark), (chart.decided, ink.level)):
        _caret(canvas, chart.view, step, style)
    steps = [first, last, *(int(value) for value in axes.round_values(first, last, max(2, columns // 14)))]
    for step in steps:
        words = f" {step} "
        centre = column_of(chart.view, step, columns)
        if centre is None:
            continue
        left = min(max(0, centre - len(words) // 2), columns - len(words))
        if left >= 0 and canvas.blank(0, left, len(words)):
            canvas.write(0, left, words.replace(" ", "\0"), ink.text)
    begin, end = _span(chart.window, chart.view, columns)
    for place, cell in enumerate(canvas.cells[0]):
        if cell == " ":
            inside = begin <= place <= end
            canvas.put(0, place, WINDOW if inside else "─", ink.level if inside else ink.dim)
        elif cell == "\0":
            canvas.put(0, place, " ", ink.dim)
    return canvas.line(0)


def _caret(canvas: Canvas, view: View, step: int | None, style: str) -> None:
    """The step under its column, unless another stands there."""
    column = column_of(view, step, canvas.width)
    if column is None:
        return
    words = f"^{step}"
    if column + len(words) > canvas.width:
        column, words = column - len(words) + 1, f"{step}^"
    if canvas.blank(0, max(0, column), min(len(words), canvas.width)):
        canvas.write(0, max(0, column), words, style)


def _span(window: tuple[int, int] | None, view: View, columns: int) -> tuple[int, int]:
    """First and last column of the window; an empty span where it isn't in view."""
    if window is None or not overlaps(view, window):
        return 0, -1
    begin, end = (column_of(view, min(max(step, view[0]), view[1]), columns) for step in window)
    return begin or 0, end or 0
