"""Plots: (run, panel, size) -> a picture in text. It knows nothing of any screen.

Nine panels, numbered as in `tutor.run.PANELS`. To add one, write a function (Request) -> lines and name
it in `_PANELS`.
"""

from collections.abc import Sequence

from rich.text import Text

from tutor.plots import batch, layers, lines, tokens
from tutor.plots.ink import ink, page
from tutor.plots.request import Request
from tutor.plots.view import View, default_view, pan, whole, zoom
from tutor.run import Run
from tutor.words import say

_PANELS = {
    "loss": lines.draw,
    "lr": lines.draw,
    "gradient": lines.draw,
    "activations": layers.draw,
    "parameters": lines.draw,
    "optimizer": lines.draw,
    "tokens": tokens.draw,
    "batch": batch.draw,
    "throughput": lines.draw,
}


def draw(
    run: Run,
    panel: str,
    width: int,
    height: int,
    *,
    lang: str = "en",
    view: View | None = None,
    mark: int | None = None,
    level: float | None = None,
    level_label: str = "",
    colour: bool = True,
    dark: bool = True,
    others: Sequence[Run] = (),
) -> Text:
    """The panel as exactly `height` lines of exactly `width` cells.

    Args:
        run: the run.
        panel: one of `tutor.run.PANELS`.
        width: in cells, at least 1.
        height: in lines, at least 1.
        lang: "en" or "es".
        view: first and last step to show; the whole run by default.
        mark: the step under discussion.
        level: the rule's threshold, in the panel's unit.
        level_label: what the threshold is.
        colour: whether the terminal has colours.
        dark: whether its background is dark.
        others: runs to lay over this one, each by its name.
    """
    request = Request(
        run,
        panel,
        width,
        height,
        lang,
        view or _all(run, others),
        mark,
        level,
        level_label,
        ink(colour, dark),
        others,
    )
    return Text("\n", no_wrap=True, end="").join(page(_PANELS[panel](request), width, height))


def panel_title(panel: str, lang: str = "en") -> str:
    """What the panel is called, without its number."""
    return say(f"plots.title.{panel}", lang)


def _all(run: Run, others: Sequence[Run]) -> View:
    views = [whole(one) for one in (run, *others) if len(one)] or [whole(run)]
    return min(first for first, _ in views), max(last for _, last in views)


__all__ = ["View", "default_view", "draw", "pan", "panel_title", "whole", "zoom"]
