"""Sureness: how often predictions were right, by how sure the learner was."""

from collections.abc import Mapping

from textual.content import Content

from tutor.notebook.scores import Score
from tutor.words import say

BAR = 20
"""Cells of a full bar."""


def in_a_line(calibration: Mapping[int, Score], lang: str) -> Content:
    """The levels in one line, the surest first."""
    parts = [f"{sure}: {_right(score, lang)}" for sure, score in calibration.items()]
    return Content.assemble((f"{say('home.sure_short', lang)} ", "$foreground-muted"), " · ".join(parts))


def in_bars(calibration: Mapping[int, Score], lang: str) -> Content:
    """A bar for each level, the surest first, under what they are."""
    rows = [Content.assemble((say("home.sure", lang), "$foreground-muted"))]
    for sure, score in calibration.items():
        full = round(BAR * score.right / score.count)
        bar = ("━" * full, "$primary"), ("━" * (BAR - full), "$rule")
        level = say("home.sure_level", lang, sure=sure)
        rows.append(Content.assemble(f"{level}  ", *bar, f"  {_right(score, lang)}"))
    return Content("\n").join(rows)


def _right(score: Score, lang: str) -> str:
    return say("home.of", lang, right=score.right, count=score.count)
