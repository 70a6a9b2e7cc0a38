"""The numbers of a rule, as a tree's file gives them: alone, or several that belong together."""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import Discriminator, Tag

from tutor.detectors.grouped import (
    Apart,
    BelowZero,
    Beyond,
    Enough,
    Evaluation,
    Foremost,
    Gain,
    Grouped,
    Guess,
    Lasting,
    Leak,
    Motion,
    NormBound,
    Rise,
    Runaway,
    Scaler,
    Scores,
    Sustained,
    Twice,
)
from tutor.detectors.windows import Window

Number = int | float
Group = (
    Window
    | BelowZero
    | Beyond
    | Apart
    | Enough
    | Evaluation
    | Gain
    | Guess
    | Lasting
    | Leak
    | Motion
    | NormBound
    | Sustained
    | Rise
    | Foremost
    | Runaway
    | Scaler
    | Scores
    | Twice
)
_KINDS: Mapping[str, type[Grouped]] = {f"<{kind.__name__}>": kind for kind in get_args(Group)}


def _kind(value: Any) -> str:
    """Which number is meant, so that only what is wrong with that one is named: the group most like it.

    In angle brackets, as no author of a tree writes it: messages leave it out of the place that they name.
    """
    if isinstance(value, Grouped):
        return f"<{type(value).__name__}>"
    if not isinstance(value, Mapping):
        return "<number>"
    return max(_KINDS, key=lambda name: len(value.keys() & set(_KINDS[name].names())))


Given = Annotated[
    Annotated[Number, Tag("<number>")]
    | Annotated[Window, Tag("<Window>")]
    | Annotated[BelowZero, Tag("<BelowZero>")]
    | Annotated[Beyond, Tag("<Beyond>")]
    | Annotated[Apart, Tag("<Apart>")]
    | Annotated[Enough, Tag("<Enough>")]
    | Annotated[Evaluation, Tag("<Evaluation>")]
    | Annotated[Gain, Tag("<Gain>")]
    | Annotated[Guess, Tag("<Guess>")]
    | Annotated[Lasting, Tag("<Lasting>")]
    | Annotated[Leak, Tag("<Leak>")]
    | Annotated[Motion, Tag("<Motion>")]
    | Annotated[NormBound, Tag("<NormBound>")]
    | Annotated[Sustained, Tag("<Sustained>")]
    | Annotated[Rise, Tag("<Rise>")]
    | Annotated[Foremost, Tag("<Foremost>")]
    | Annotated[Runaway, Tag("<Runaway>")]
    | Annotated[Scaler, Tag("<Scaler>")]
    | Annotated[Scores, Tag("<Scores>")]
    | Annotated[Twice, Tag("<Twice>")],
    Discriminator(_kind),
]
"""A number as a tree gives it."""
