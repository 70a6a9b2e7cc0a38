"""A first loss that was not measured as the others are: set up as 0, or divided."""

import polars as pl

from tutor.run.scalars import to_float

_SEVERAL, _ABOUT = 4, 0.1  # rows of which the first alone is divided, and how near it comes multiplied
_EVERY, _LEAP = 5, 3.0  # steps between rows, at least, and times that what else is measured doesn't rise
_MANY = 10  # rows of which the first alone is 0 by no chance


def begins_unmeasured(column: pl.Series) -> bool:
    """Whether a loss is exactly 0 in its first row and well above it in all others: set up, not measured.

    One that begins there and rises, as that of a policy beside its reference, was.
    """
    if not len(column) or column[0] != 0:
        return False
    rest = column[1:].drop_nulls()
    if len(rest) < _MANY or to_float(rest.min()) <= 0:
        return False
    return 2 * float(rest[0]) > to_float(rest[:_MANY].median())


def divided_at_first(typed: pl.DataFrame) -> tuple[int, int] | None:
    """The step of a first loss that is that of one batch, divided by as many as the others are means over.

    And how many these are: the steps between rows. Times that it is about as high as the second, from which
    the others come down for good. None elsewhere: where the log begins mid-way, or validation or the
    gradient's norm says that the loss leapt.
    """
    rows = typed.filter(typed["loss"].is_not_null())
    loss, steps = rows["loss"], rows["step"]
    if len(loss) < _SEVERAL or loss[0] <= 0:
        return None
    between, first, second, rest = int(steps[1] - steps[0]), loss[0], loss[1], loss[1:]
    if between < _EVERY or steps[0] > between or not abs(first * between - second) < _ABOUT * second:
        return None
    others = (typed[name].drop_nulls() for name in ("val_loss", "grad_norm") if name in typed.columns)
    leaps = any(len(one) > 1 and not one[:2].max() < _LEAP * one[0] for one in others)
    falls = second >= to_float(rest[1:].max()) and rest[-1] < (1 - _ABOUT) * second
    return (int(steps[0]), between) if falls and not leaps and first < to_float(rest.min()) / 2 else None
