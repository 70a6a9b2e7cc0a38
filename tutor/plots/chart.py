"""Chart: what a picture of curves shows over steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tutor.plots.ink import Ink, glyph
from tutor.plots.view import View

RULED = "+"


@dataclass(frozen=True)
class Curve:
    """A signal to draw.

    Attributes:
        label: for the legend; "" where a picture beside this one names the same.
        steps: ascending.
        values: one for each step; null where nothing was logged.
        place: chooses its style and glyph, so that a signal looks the same in every run.
        smooth: a smoothed curve, drawn over the others.
        ruled: what a rule compared with its bound, drawn over all in the bound's style.
        faint: the logged values behind a smoothed curve: without a glyph or a place in the legend.
        asked: what a question asks about: the axis fits it, and others are cut off where they leave that.
            See Chart.spared.
    """

    label: str
    steps: pl.Series
    values: pl.Series
    place: int = 0
    smooth: bool = False
    ruled: bool = False
    faint: bool = False
    asked: bool = False

    def style(self, ink: Ink) -> str:
        """Its colour."""
        if self.faint:
            return ink.faint
        return ink.level if self.ruled else ink.curve(self.place)

    @property
    def sign(self) -> str:
        """Its glyph; "" where it is told by its line alone."""
        if self.faint:
            return ""
        return RULED if self.ruled else glyph(self.place)


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
        fit_word: says that the axis fits the curve asked about, before its name.
        beyond_word: says of curves that they lie beyond that axis, after their names.
        spared: the others are cut off only where one reaches so many times as far as the curve asked about.
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
    fit_word: str = ""
    beyond_word: str = ""
    spared: float = 0.0
    says: str = ""
    window: tuple[int, int] | None = None
    window_word: str = ""
    decided: int | None = None
