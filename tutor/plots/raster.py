"""Raster: lines as braille. Upright strokes are whole numbers used as columns of bits: a noisy log is all
upright strokes, and drawing them dot by dot would take a tenth of a second."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

BLANK = 0x2800  # the braille cell without dots; the others are this plus one bit per dot

Point = tuple[int, float]

_LEFT, _RIGHT = (
    tuple(sum(dot for place, dot in enumerate(dots) if column >> place & 1) for column in range(16))
    for dots in ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
)
"""The bits of a cell for each of the sixteen ways that four dots, the lowest bit at the bottom, can fill its
left and its right column (Unicode 15, chapter 21.1)."""


def braille(lines: Iterable[Sequence[Point]], width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """Lines through (pixel column, share of the height from 0 to 1) as rows of dots, top row first.

    Args:
        lines: pixel columns ascend, from 0 to 2 x width - 1.
        width: in cells, two dots wide.
        height: in cells, four dots high.

    Returns:
        `height` rows of `width` numbers: each cell's dots as bits, 0 where it is blank.
    """
    return _drawn(tuple(map(tuple, lines)), width, height)


@lru_cache(maxsize=128)  # a few views of nine panels: most come back
def _drawn(lines: tuple[tuple[Point, ...], ...], width: int, height: int) -> tuple[tuple[int, ...], ...]:
    columns = [0] * (2 * width)  # of each pixel column its dots, the lowest bit at the bottom
    for line in lines:
        placed = [(column, int((4 * height - 1) * share + 0.5)) for column, share in line]
        for column, dots in _strokes(placed):
            columns[column] |= dots
    cells = [_cells(columns[place], columns[place + 1], height) for place in range(0, 2 * width, 2)]
    return tuple(zip(*cells, strict=True))


def _strokes(points: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The dots of a line through whole points, by pixel column."""
    for (x, y), (x_next, y_next) in pairwise(points):
        across, up = x_next - x, y_next - y
        if across <= 1 <= abs(up):
            low, high = (y, y_next - 1) if up > 0 else (y_next + 1, y)
            yield x, (2 << high) - (1 << low)
            continue
        count = max(across, abs(up))
        for place in range(count):
            yield int(x + place * across / count), 1 << int(y + place * up / count)
    x, y = points[-1]
    yield x, 1 << y


def _cells(left: int, right: int, height: int) -> list[int]:
    """The cells of two pixel columns side by side, the top one first."""
    return [
        _LEFT[left >> shift & 15] | _RIGHT[right >> shift & 15] for shift in range(4 * height - 4, -1, -4)
    ]
