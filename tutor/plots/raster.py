"""Raster: lines as braille, drawn by plotext. The only owner of plotext's global state."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import Lock

import plotext

BLANK = 0x2800  # the braille cell without dots; the others are this plus one bit per dot

_LOCK = Lock()

Point = tuple[int, float]


def braille(lines: Iterable[Sequence[Point]], width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """Lines through (pixel column, share of the height from 0 to 1) as rows of dots, top row first.

    Args:
        lines: pixel columns run from 0 to 2 x width - 1.
        width: in cells, two dots wide.
        height: in cells, four dots high.

    Returns:
        `height` rows of `width` numbers: each cell's dots as bits, 0 where it is blank.
    """
    return _drawn(tuple(map(tuple, lines)), width, height)


@lru_cache(maxsize=128)  # a few views of nine panels: a curve costs plotext some 10 ms, and most come back
def _drawn(lines: tuple[tuple[Point, ...], ...], width: int, height: int) -> tuple[tuple[int, ...], ...]:
    with _LOCK:
        plotext.clear_figure()
        try:
            # Else plotext cuts the canvas down to the terminal that the app happens to run in.
            plotext.limit_size(False, False)
            plotext.plot_size(width, height)
            plotext.theme("clear")
            plotext.xaxes(False, False)
            plotext.yaxes(False, False)
            plotext.xfrequency(0)
            plotext.yfrequency(0)
            plotext.xlim(0, 2 * width - 1)
            plotext.ylim(0, 1)
            for line in lines:
                columns, shares = zip(*line, strict=True)
                draw = plotext.plot if len(line) > 1 else plotext.scatter
                draw(list(columns), list(shares), marker="braille")
            rows = plotext.uncolorize(plotext.build()).split("\n")
        finally:
            plotext.clear_figure()
    return tuple(
        tuple(max(0, ord(cell) - BLANK) if cell != " " else 0 for cell in (row + " " * width)[:width])
        for row in (rows + [""] * height)[:height]
    )
