"""Picture: a chart drawn at one size: curves, the rule's bound, the step under discussion, the cursor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.text import Text

from tutor.plots import axes, frame, raster
from tutor.plots.canvas import Canvas
from tutor.plots.chart import Chart, Curve
from tutor.plots.ink import Ink, page
from tutor.plots.sample import Sample, sample
from tutor.plots.view import column_of

CURSOR = "┃"
DECIDED = "┊"


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
        column = column_of(self.chart.view, cursor, columns)
        if column is not None:
            canvas = canvas.copy()
            for row in range(canvas.height):
                cell = canvas.cells[row][column]
                canvas.put(row, column, CURSOR if cell in f" │╌{DECIDED}" else cell, self.ink.cursor)
        body = [Text.assemble(gutter, canvas.line(row)) for row, gutter in enumerate(self.gutters)]
        corner = " " * (self.width - columns - 1) + "└" if self.width > columns else ""
        axis = Text.assemble((corner, self.ink.dim), frame.axis(self.chart, columns, self.ink, cursor))
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
    asked = _asked(chart, samples, values)
    level = chart.level if chart.level is not None and abs(chart.level) < float("inf") else None
    scale = axes.scale(asked or values, chart.log_beyond, chart.floor, level)
    canvas = Canvas(columns, rows)
    whole = samples
    if asked:
        samples = [one.between(scale.low, scale.high) for one in samples]
    else:
        chart = replace(chart, curves=[replace(curve, asked=False) for curve in chart.curves])
    _curves(canvas, chart.curves, samples, scale, ink)
    _leaving(canvas, chart.curves, whole, samples, scale.high, ink)
    labelled = _level(canvas, scale, level, chart.level_label, ink)
    notched = _notches(canvas, chart, ink)
    _upright(canvas, chart, chart.decided, DECIDED, ink.level)
    _upright(canvas, chart, chart.mark, "│", ink.mark)
    bad = sorted({pixel // 2 for one in samples for pixel in one.bad})
    for column in bad:
        canvas.put(rows - 1, column, frame.BAD, ink.bad)

    legend = frame.legend(chart, samples, scale, bool(bad), notched, None if labelled else level, width, ink)
    gutters = frame.gutter(scale, rows, gutter, ink, bool(values), level)
    return Picture(chart, width, height, ink, canvas, [legend] * legend_rows, gutters)


def _asked(chart: Chart, samples: Sequence[Sample], values: Sequence[float]) -> list[float]:
    """Those of all `values` that the axis fits: what is asked about; none where no other needs to be cut."""
    drawn = zip(chart.curves, samples, strict=True)
    asked = [value for curve, one in drawn if curve.asked for value in one.values]
    reach = max(map(abs, asked), default=0.0)
    return asked if max(map(abs, values), default=0.0) > chart.spared * reach else []


def _curves(
    canvas: Canvas, curves: Sequence[Curve], samples: Sequence[Sample], scale: axes.Scale, ink: Ink
) -> None:
    behind = [[0] * canvas.width for _ in range(canvas.height)]
    before = [[0] * canvas.width for _ in range(canvas.height)]
    drawn = list(zip(curves, samples, strict=True))
    for curve, one in sorted(drawn, key=_depth):
        if not one.lines or (one.points and curve.sign):
            continue
        dots = behind if curve.faint else before  # a smoothed line is not lost among the dots behind it
        style = curve.style(ink)
        placed = [[(pixel, scale.share(value)) for pixel, value in line] for line in one.lines]
        for row, line in enumerate(raster.braille(placed, canvas.width, canvas.height)):
            for column, code in enumerate(line):
                if code:
                    dots[row][column] |= code
                    canvas.put(row, column, chr(raster.BLANK + dots[row][column]), style)
    for curve, one in sorted(drawn, key=lambda pair: -len(pair[1].values)):  # the rarest value lies on top
        if not curve.sign:
            continue
        due = 4 + 5 * curve.place  # curves that coincide show their glyphs in turn
        for pixel, value in (point for line in one.lines for point in line):
            if one.few or pixel // 2 >= due:
                row = scale.row(value, canvas.height)
                canvas.put(row, pixel // 2, curve.sign, curve.style(ink))
                due = pixel // 2 + 16


def _leaving(
    canvas: Canvas,
    curves: Sequence[Curve],
    whole: Sequence[Sample],
    inside: Sequence[Sample],
    high: float,
    ink: Ink,
) -> None:
    """Point up at the upper edge where a curve leaves the axis; one that lies beyond it is in the legend."""
    for curve, one, rest in zip(curves, whole, inside, strict=True):
        if curve.faint or not rest.lines:
            continue
        for column in sorted({pixel // 2 for line in one.lines for pixel, value in line if value > high}):
            canvas.put(0, column, frame.BEYOND, curve.style(ink))


def _depth(drawn: tuple[Curve, Sample]) -> tuple[bool, bool, bool, int]:
    """What is drawn first lies lowest."""
    curve, _ = drawn
    return not curve.faint, curve.ruled, curve.smooth, -curve.place


def _level(canvas: Canvas, scale: axes.Scale, level: float | None, words: str, ink: Ink) -> bool:
    """Draw the bound; gives back whether its label found room on the line itself."""
    if level is None:
        return True
    row = scale.row(level, canvas.height)
    where = None
    if words and cell_len(words) == len(words):
        room = len(words) + 2
        spots = range(canvas.width - room - 1, canvas.width // 2, -1)
        where = next((column for column in spots if canvas.blank(row, column, room)), None)
    blank = [sign == " " for sign in canvas.cells[row]]
    for column in range(canvas.width):
        alone = not column or any(blank[column - 1 : column + 2])  # a spike, or where a curve begins
        if blank[column] or (column % 8 < 2 and not alone):  # through a noisy curve it still shows
            canvas.put(row, column, "╌", ink.level)
    if where is not None:
        canvas.write(row, where, f" {words} ", ink.level)
    return where is not None


def _notches(canvas: Canvas, chart: Chart, ink: Ink) -> bool:
    """Point out steps at the bottom edge, as far apart as can be told; gives back whether there are any."""
    free = 0
    for step in chart.notches:
        column = column_of(chart.view, step, canvas.width)
        if column is not None and column >= free:
            canvas.put(canvas.height - 1, column, frame.NOTCH, ink.text)
            free = column + 3
    return free > 0


def _upright(canvas: Canvas, chart: Chart, step: int | None, sign: str, style: str) -> None:
    column = column_of(chart.view, step, canvas.width)
    if column is None:
        return
    for row in range(canvas.height):
        cell = canvas.cells[row][column]
        # The curve stays: the spike under discussion is just there.
        canvas.put(row, column, {" ": sign, DECIDED: sign, "╌": "┼"}.get(cell, cell), style)
