"""Ruling: what a rule looked at and decided by, to draw over a panel once the learner has committed."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, eq=False)
class Ruling:
    """What the rule that answered has to show.

    Attributes:
        window: first and last step that it looked at.
        step: the step that decided.
        signal: what `values` are made of.
        steps, values: the curve that it compared with its bound, where that isn't the logged one.
    """

    window: tuple[int, int] | None = None
    step: int | None = None
    signal: str = ""
    steps: pl.Series | None = None
    values: pl.Series | None = None
