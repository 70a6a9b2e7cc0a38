"""Chart: curves over steps with axes, a legend, the step under discussion and the rule's threshold."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from rich.cells import cell_len
from rich.text import Text

from tutor.plots import axes, raster
from tutor.plots.canvas import Canvas
from tutor.plots.ink import Ink, glyph, page
from tutor.plots.sample import Sample, sample
from tutor.plots.view import View

BAD = "×"
NOTCH = "▣"
CURSOR = "┃"
DECIDED = "┊"
WINDOW = "━"
RULED = "+"


@dataclass(frozen=True)
class Curve:
    """A signal to draw.

    Attributes:
        label: for the legend.
        steps: ascending.
        values: one for each step; null where nothing was logged.
        place: chooses its style and glyph, so that a signal looks the same in every run.
        smooth: a smoothed curve, drawn over the others.
        ruled: what a rule compared with its bound, drawn over all in the bound's style.
    """

    label: str
    steps: pl.Series
    values: pl.Series
    place: int = 0
    smooth: bool = False
    ruled: bool = False


@dataclass(frozen=True)
class Chart:
    """A picture of curves.

    Attributes:
        curves: the first lies highest, but for smooth ones.
        view: first and last step.
        unit: of the values, written above the axis.
        mark: the step under discussion.
        level: a bound to draw across, in the curves' unit.
        level_label: what the bound is.
        log_beyond: logarithmic where the largest value is so many times the smallest.
        log_word: says so beside the unit.
        floor: a value that the axis includes where it is linear.
        bad_word: what to call NaN and Inf in the legend.
        notches: steps to point out at the bottom edge.
        notch_word: what they are.
        note: a remark at the end of the legend, dropped first where room is short.
        says: what the curves in view say, in a few words; kept as long as the curves' names.
        window: first and last step that a rule looked at.
        window_word: what that is.
        decided: the step that decided a rule.
    """

    curves: Sequence[Curve]
    view: View
    unit: str = ""
    mark: int | None = None
    level: float | None = None
    level_label: str = ""
    log_beyond: float = 1e3
    log_word: str = "log"
    floor: float | None = None
    bad_word: str = "NaN/Inf"
    notches: Sequence[int] = ()
    notch_word: str = ""
    note: str = ""
    says: str = ""
    window: tuple[int, int] | None = None
    window_word: str = ""
    decided: int | None = None


@dataclass(frozen=True)
class Picture:
    """A chart that is drawn. The cursor is laid over it, so that moving it draws no curve anew."""

    chart: Chart
    width: int
    height: int
    ink: Ink
    canvas: Canvas
    legend: Sequence[Text]
    gutters: Sequence[Text]

    def lines(self, cursor: int | None) -> list[Text]:
        """Legend, curves and axis, with the cursor over them."""
        canvas, columns = self.canvas, self.canvas.width
        column = _column(cursor, self.chart.view, columns)
        if column is not None:
            canvas = canvas.copy()
            for row in range(canvas.height):
                cell = canvas.cells[row][column]
                canvas.put(row, column, CURSOR if cell in f" │╌{DECIDED}" else cell, self.ink.cursor)
        body = [Text.assemble(gutter, canvas.line(row)) for row, gutter in enumerate(self.gutters)]
        corner = " " * (self.width - columns - 1) + "└" if self.width > columns else ""
        axis = Text.assemble((corner, self.ink.dim), _axis(self.chart, columns, self.ink, cursor))
        return page([*self.legend, *body, axis], self.width, self.height)

    def step_at(self, column: int) -> int | None:
        """The step at a column of the picture; None over the gutter."""
        (first, last), columns = self.chart.view, self.canvas.width
        place = column - (self.width - columns)
        if not 0 <= place < columns:
            return None
        return round(first + (2 * place + 0.5) * (last - first) / max(1, 2 * columns - 1))


def draw(chart: Chart, width: int, height: int, ink: Ink) -> Picture:
    """The chart in `height` lines of `width` cells."""
    legend_rows = 1 if height >= 4 else 0
    rows = max(1, height - 1 - legend_rows)
    gutter = 8 if width >= 24 else 0
    columns = max(1, width - gutter)
    samples = [sample(c.steps, c.values, chart.view, 2 * columns) for c in chart.curves]
    values = [value for one in samples for value in one.values]
    level = chart.level if chart.level is not None and abs(chart.level) < float("inf") else None
    scale = axes.scale(values, chart.log_beyond, chart.floor, level)
    canvas = Canvas(columns, rows)
    _curves(canvas, chart.curves, samples, scale, ink)
    labelled = _level(canvas, scale, level, chart.level_label, ink)
    notched = _notches(canvas, chart, ink)
    _upright(canvas, chart, chart.decided, DECIDED, ink.level)
    _upright(canvas, chart, chart.mark, "│", ink.mark)
    bad = sorted({pixel // 2 for one in samples for pixel in one.bad})
    for column in bad:
        canvas.put(rows - 1, column, BAD, ink.bad)

    legend = _legend(chart, samples, scale, bool(bad), notched, None if labelled else level, width, ink)
    gutters = _gutter(scale, rows, gutter, ink, bool(values), level)
    return Picture(chart, width, height, ink, canvas, [legend] * legend_rows, gutters)


def _curves(
    canvas: Canvas, curves: Sequence[Curve], samples: Sequence[Sample], scale: axes.Scale, ink: Ink
) -> None:
    dots = [[0] * canvas.width for _ in range(canvas.height)]
    drawn = list(zip(curves, samples, strict=True))
    for curve, one in sorted(drawn, key=_depth):
        if not one.lines or (_points(one) and _sign(curve)):
            continue
        placed = [[(pixel, scale.share(value)) for pixel, value in line] for line in one.lines]
        for row, line in enumerate(raster.braille(placed, canvas.width, canvas.height)):
            for column, code in enumerate(line):
                if code:
                    dots[row][column] |= code
                    canvas.put(row, column, chr(raster.BLANK + dots[row][column]), _style(curve, ink))
    for curve, one in sorted(drawn, key=lambda pair: -len(pair[1].values)):  # the rarest value lies on top
        if not _sign(curve):
            continue
        due = 4 + 5 * curve.place  # curves that coincide show their glyphs in turn
        for pixel, value in (point for line in one.lines for point in line):
            if one.few or pixel // 2 >= due:
                row = _row(scale, value, canvas.height)
                canvas.put(row, pixel // 2, _sign(curve), _style(curve, ink))
                due = pixel // 2 + 16


def _depth(drawn: tuple[Curve, Sample]) -> tuple[bool, bool, int]:
    """What is drawn first lies lowest."""
    curve, _ = drawn
    return curve.ruled, curve.smooth, -curve.place


def _style(curve: Curve, ink: Ink) -> str:
    return ink.level if curve.ruled else ink.curve(curve.place)


def _sign(curve: Curve) -> str:
    return RULED if curve.ruled else glyph(curve.place)


def _points(one: Sample) -> bool:
    """Whether a signal is drawn as points: a line would claim what was not measured."""
    return one.sparse and one.few


def _level(canvas: Canvas, scale: axes.Scale, level: float | None, words: str, ink: Ink) -> bool:
    """Draw the bound; gives back whether its label found room on the line itself."""
    if level is None:
        return True
    row = _row(scale, level, canvas.height)
    where = None
    if words and cell_len(words) == len(words):
        room = len(words) + 2
        spots = range(canvas.width - room - 1, canvas.width // 2, -1)
        where = next((column for column in spots if canvas.blank(row, column, room)), None)
    for column in range(canvas.width):
        if canvas.cells[row][column] == " " or column % 8 < 2:  # through a noisy curve it still shows
            canvas.put(row, column, "╌", ink.level)
    if where is not None:
        canvas.write(row, where, f" {words} ", ink.level)
    return where is not None


def _notches(canvas: Canvas, chart: Chart, ink: Ink) -> bool:
    """Point out steps at the bottom edge, as far apart as can be told; gives back whether there are any."""
    free = 0
    for step in chart.notches:
        column = _column(step, chart.view, canvas.width)
        if column is not None and column >= free:
            canvas.put(canvas.height - 1, column, NOTCH, ink.text)
            free = column + 3
    return free > 0


def _upright(canvas: Canvas, chart: Chart, step: int | None, sign: str, style: str) -> None:
    column = _column(step, chart.view, canvas.width)
    if column is None:
        return
    for row in range(canvas.height):
        cell = canvas.cells[row][column]
        # The curve stays: the spike under discussion is just there.
        canvas.put(row, column, {" ": sign, DECIDED: sign, "╌": "┼"}.get(cell, cell), style)


def _row(scale: axes.Scale, value: float, rows: int) -> int:
    """The row that holds the value's dot, four dots to a row; rounds as plotext does."""
    return rows - 1 - int((rows * 4 - 1) * scale.share(value) + 0.5) // 4


def _column(step: int | None, view: View, columns: int) -> int | None:
    first, last = view
    if step is None or not first <= step <= last:
        return None
    return round((step - first) * (2 * columns - 1) / max(1, last - first)) // 2


def _gutter(
    scale: axes.Scale, rows: int, width: int, ink: Ink, known: bool, level: float | None
) -> list[Text]:
    """The left edge with its numbers, `width` cells wide; without numbers where no value is known."""
    if not width:
        return [Text()] * rows
    lines = [Text(" " * (width - 1) + "│", ink.dim) for _ in range(rows)]
    for value, words in scale.ticks(max(2, min(6, (rows + 1) // 3))) if known else []:
        number = Text(words[: width - 1].rjust(width - 1), ink.text)
        lines[_row(scale, value, rows)] = Text.assemble(number, ("┤", ink.dim))
    if known and "┤" not in lines[0].plain:  # else nobody can read how high a spike is
        top = axes.label(scale.high, (scale.high - scale.low) / 20)[: width - 1]
        lines[0] = Text.assemble(Text(top.rjust(width - 1), ink.text), ("┤", ink.dim))
    if level is not None:
        words = axes.label(level)[: width - 1]
        lines[_row(scale, level, rows)] = Text(words.rjust(width - 1) + "┤", ink.level)
    return lines


def _legend(
    chart: Chart,
    samples: Sequence[Sample],
    scale: axes.Scale,
    bad: bool,
    notched: bool,
    level: float | None,
    width: int,
    ink: Ink,
) -> Text:
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
    if chart.says:
        head.append(Text(chart.says, ink.text))
    note = [Text(chart.note, ink.dim)] if chart.note else []
    notch = [Text(f"{NOTCH} {chart.notch_word}", ink.text)] if notched else []
    seen = chart.window is not None and _overlaps(chart.window, chart.view)
    window = [Text(f"{WINDOW * 2} {chart.window_word}", ink.level)] if seen else []
    long, short = [], []
    for curve, one in zip(chart.curves, samples, strict=True):
        sign = _sign(curve) or "⠤"
        for entries, symbol in ((long, f"{sign} " if _points(one) else f"⠤{sign}⠤ "), (short, sign)):
            entries.append(Text.assemble((symbol, _style(curve, ink)), (curve.label, ink.text)))
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


def _overlaps(window: tuple[int, int], view: View) -> bool:
    return window[0] <= view[1] and view[0] <= window[1]


def _axis(chart: Chart, columns: int, ink: Ink, cursor: int | None) -> Text:
    """The bottom line, with the steps written into it and the rule's window in bold."""
    canvas = Canvas(columns, 1)
    first, last = chart.view
    for step, style in ((cursor, ink.cursor), (chart.mark, ink.mark), (chart.decided, ink.level)):
        _caret(canvas, chart.view, step, style)
    steps = [first, last, *(int(value) for value in axes.round_values(first, last, max(2, columns // 14)))]
    for step in steps:
        words = f" {step} "
        centre = _column(step, chart.view, columns)
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
    column = _column(step, view, canvas.width)
    if column is None:
        return
    words = f"^{step}"
    if column + len(words) > canvas.width:
        column, words = column - len(words) + 1, f"{step}^"
    if canvas.blank(0, max(0, column), min(len(words), canvas.width)):
        canvas.write(0, max(0, column), words, style)


def _span(window: tuple[int, int] | None, view: View, columns: int) -> tuple[int, int]:
    """First and last column of the window; an empty span where it isn't in view."""
    if window is None or not _overlaps(window, view):
        return 0, -1
    begin, end = (_column(min(max(step, view[0]), view[1]), view, columns) for step in window)
    return begin or 0, end or 0
