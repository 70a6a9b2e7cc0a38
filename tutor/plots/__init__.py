"""Plots: (run, panel, size) -> a picture in text. It knows nothing of any screen.

Nine panels, numbered as in `tutor.run.PANELS`. To add one, write a function (Request) -> Drawn and name it
in `board.py`.
"""

from typing import Unpack

from rich.text import Text

from tutor.plots import cursor, smoothing
from tutor.plots.board import Board, How
from tutor.plots.ruling import Ruling
from tutor.plots.view import (
    View,
    around_checkpoints,
    around_ruling,
    default_view,
    followed,
    holding,
    pan,
    whole,
    zoom,
)
from tutor.run import Run
from tutor.words import say


def draw(run: Run, panel: str, width: int, height: int, *, at: int | None = None, **how: Unpack[How]) -> Text:
    """The panel as exactly `height` lines of exactly `width` cells, the cursor `at` a step: see `How`."""
    return Board(run, panel, width, height, readout=at is not None, **how).text(at)


def panel_title(panel: str, lang: str = "en") -> str:
    """What the panel is called, without its number."""
    return say(f"plots.title.{panel}", lang)


__all__ = [
    "Board",
    "How",
    "Ruling",
    "View",
    "around_checkpoints",
    "around_ruling",
    "cursor",
    "default_view",
    "draw",
    "followed",
    "holding",
    "pan",
    "panel_title",
    "smoothing",
    "whole",
    "zoom",
]
