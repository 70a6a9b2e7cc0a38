"""Ink: the styles of a plot on dark, light and colourless terminals, and lines of exactly so many cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

_GLYPHS = ("", "●", "◆", "▲", "■", "○", "◇", "△", "□")


@dataclass(frozen=True)
class Ink:
    """Styles by role. The mark and the level are the loudest: the eye should find them first."""

    curves: tuple[str, ...]
    mark: str
    cursor: str
    level: str
    bad: str
    text: str
    dim: str
    faint: str

    def curve(self, index: int) -> str:
        """The style of the curve at `index`."""
        return self.curves[index % len(self.curves)]


# Okabe and Ito's hues, which people with any colour vision tell apart (https://jfly.uni-koeln.de/color/).
_DARK = Ink(
    ("#b0b6c0", "#56b4e9", "#e69f00", "#2fbf9b", "#cc79a7"),
    mark="bold #f0e442",
    cursor="bold #ffffff on #3a4150",
    level="bold #ff8a5c",
    bad="bold #ff6b6b",
    text="#d0d4da",
    dim="#7d8590",
    faint="#454c58",
)
_LIGHT = Ink(
    ("#6a6f78", "#0072b2", "#a86400", "#00795a", "#9b3f74"),
    mark="bold #7a00a8",
    cursor="bold #000000 on #d0d7de",
    level="bold #c43c00",
    bad="bold #c00000",
    text="#24292f",
    dim="#6e7781",
    faint="#c4cad1",
)
_NONE = Ink(("",), mark="bold", cursor="reverse", level="bold", bad="bold", text="", dim="", faint="")


def ink(colour: bool, dark: bool) -> Ink:
    """The styles for a terminal with or without colour, with a dark or a light background."""
    if not colour:
        return _NONE
    return _DARK if dark else _LIGHT


def glyph(place: int) -> str:
    """What tells curves apart without colour: a sign now and then on the line; the first curve has none."""
    return _GLYPHS[place] if place < len(_GLYPHS) else _GLYPHS[1 + place % (len(_GLYPHS) - 1)]


def fit(line: Text, width: int) -> Text:
    """The line at exactly `width` cells: cut with an ellipsis, or padded."""
    line = line.copy()
    line.truncate(max(0, width), overflow="ellipsis" if width > 1 else "crop", pad=True)
    return line


def page(lines: Sequence[Text], width: int, height: int) -> list[Text]:
    """Exactly `height` lines of exactly `width` cells: the first ones, padded below."""
    return [fit(lines[row] if row < len(lines) else Text(), width) for row in range(height)]


def beside(left: Sequence[Text], right: Sequence[Text]) -> list[Text]:
    """Two pages of the same height, side by side."""
    return [Text.assemble(a, b) for a, b in zip(left, right, strict=True)]


def centred(lines: Sequence[Text], width: int, height: int) -> list[Text]:
    """The lines in the middle of a page."""
    top = max(0, (height - len(lines)) // 2)
    shifted = [Text.assemble(" " * max(0, (width - line.cell_len) // 2), line) for line in lines]
    return page([Text()] * top + shifted, width, height)


def bar(share: float, width: int) -> str:
    """A horizontal bar of up to `width` cells, in eighths of a cell; never nothing for something."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8) or int(share > 0)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]
