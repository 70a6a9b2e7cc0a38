"""Lines as braille dots."""

import random

import pytest

from tutor.plots.raster import BLANK, Point, braille


def picture(lines: list[list[Point]], width: int, height: int) -> list[str]:
    """The rows as text."""
    return ["".join(chr(BLANK + code) for code in row) for row in braille(lines, width, height)]


def dots(lines: list[list[Point]], width: int, height: int) -> set[tuple[int, int]]:
    """The dots as (pixel column, pixel row from the bottom)."""
    bits = {1: (0, 3), 2: (0, 2), 4: (0, 1), 64: (0, 0), 8: (1, 3), 16: (1, 2), 32: (1, 1), 128: (1, 0)}
    return {
        (2 * column + across, 4 * (height - 1 - row) + up)
        for row, codes in enumerate(braille(lines, width, height))
        for column, code in enumerate(codes)
        for bit, (across, up) in bits.items()
        if code & bit
    }


def test_a_rising_line() -> None:
    assert picture([[(0, 0.0), (7, 1.0)]], 4, 2) == ["⠀⠀⡠⠊", "⡠⠊⠀⠀"]


def test_a_single_value_is_a_dot() -> None:
    assert picture([[(1, 1.0)], [(2, 0.0)]], 2, 1) == ["⠈⡀"]


def test_no_line_is_blank() -> None:
    assert braille([], 3, 2) == ((0, 0, 0), (0, 0, 0))


def test_lines_that_meet_in_a_cell_both_show() -> None:
    assert dots([[(0, 0.0), (1, 0.0)], [(0, 1.0), (1, 1.0)]], 1, 1) == {(0, 0), (1, 0), (0, 3), (1, 3)}


def test_what_lies_beyond_an_edge_is_at_it() -> None:
    assert dots([[(0, 1.0), (0, 0.0)]], 1, 3) == {(0, place) for place in range(12)}


@pytest.mark.parametrize("seed", range(20))
def test_a_line_is_unbroken_and_passes_through_its_points(seed: int) -> None:
    draw = random.Random(seed)
    columns = sorted(draw.randrange(40) for _ in range(30))
    line = [(column, draw.random()) for column in columns]
    drawn = dots([line], 20, 6)
    assert {(column, int(23 * share + 0.5)) for column, share in line} <= drawn
    assert {column for column, _ in drawn} == set(range(columns[0], columns[-1] + 1))
    reached, ahead = set(), [min(drawn)]
    while ahead:
        column, row = ahead.pop()
        reached.add((column, row))
        near = {(column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)}
        ahead += (near & drawn) - reached
    assert reached == drawn
