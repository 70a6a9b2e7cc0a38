"""Losses that stand still, or repeat others to the last digit: weights that don't move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tutor.detectors.windows import FEWEST, cadence, finite
from tutor.run import Run, to_float

if TYPE_CHECKING:
    import polars as pl

_APART = 50
"""Updates between two rows, from which on they show how far a run comes and not its single batches."""
DIGITS = 4
"""Digits from which on the same loss twice is no matter of rounding: a constant of the method."""
THRICE = 3
"""Epochs, at least, in which the same comes: a constant of the method."""


def stands_still(run: Run, loss: pl.Series, share: float) -> bool:
    """Whether a few rows are enough: one number fills the loss, or nearly one, or the evaluations.

    `FEWEST` losses or more are nearly one where they agree to `DIGITS` digits or, if each is the mean of many
    batches, or as many updates lie between two, lie within `share` of the highest.
    """
    means = run.counts == "epochs" or run.aggregation("loss").over == "window" or cadence(run) >= _APART
    still = nearly_one(loss.drop_nulls(), share if means else 10**-DIGITS)
    return still or stuck(loss) or (run.has("val_loss") and all_stuck(finite(run["val_loss"])))


def nearly_one(known: pl.Series, share: float) -> bool:
    """Whether the values, `FEWEST` or more, differ, and lie within `share` of the highest."""
    if len(known) < FEWEST:
        return False
    low, high = (to_float(one) for one in (known.min(), known.max()))
    return 0 < high - low < share * abs(high)


def all_stuck(values: pl.Series) -> bool:
    """Whether the values are all the same number, to `DIGITS` digits or more: `FEWEST` of them."""
    return stuck(values) and values.drop_nulls().n_unique() == 1


def one_number(values: pl.Series) -> bool:
    """Whether `THRICE` values or more are the same number, to twice `DIGITS` digits: no chance does that."""
    return len(values) >= THRICE and values.n_unique() == 1 and exact(float(values[0]), 2 * DIGITS)


def stuck(loss: pl.Series) -> bool:
    """Whether the same number, to `DIGITS` digits or more, ends the log and fills half of it: `FEWEST` rows.

    The losses of two batches, or of two epochs while weights move, don't agree to the last digit. Of losses
    that agree to twice as many digits, however they end, one row more than `THRICE` is enough.
    """
    known = loss.drop_nulls().cast(float)
    if not len(known):
        return False
    last = float(known[-1])
    apart = (known - last).abs()
    if exact(last, 2 * DIGITS) and _at_end(apart <= abs(last) * 10 ** (-2 * DIGITS)) > max(
        THRICE, len(known) / 2
    ):
        return True
    return exact(last) and _at_end(apart == 0) >= max(FEWEST, len(known) / 2)


def _at_end(holds: pl.Series) -> int:
    """For how many rows at the end it holds."""
    return int((~holds.reverse()).arg_max() or 0) if not holds.all() else len(holds)


def both_stuck(run: Run) -> int:
    """In how many rows at the end the training loss and the validation loss are one number each, to `DIGITS`
    digits or more: `THRICE` rows, and half of those that have both; else 0. Of one loss alone it takes more.
    """
    if not (run.has("loss") and run.has("val_loss")):
        return 0
    loss, held_out = finite(run["loss"]), finite(run["val_loss"])
    both = loss.is_not_null() & held_out.is_not_null()
    loss, held_out = loss.filter(both), held_out.filter(both)
    if not len(loss) or not (exact(loss[-1]) and exact(held_out[-1])):
        return 0
    other = ((loss != loss[-1]) | (held_out != held_out[-1])).reverse()
    same = int(other.arg_max() or 0) if other.any() else len(loss)
    return same if same >= max(THRICE, len(loss) / 2) else 0


def exact(loss: float, digits: int = DIGITS) -> bool:
    """Whether a value was logged with so many digits or more."""
    return digits_of(loss) >= digits


def digits_of(value: float) -> int:
    """With how many digits a value was logged, but for zeros at either end."""
    return len(repr(abs(value)).partition("e")[0].replace(".", "").strip("0"))


def period_of(loss: pl.Series) -> int:
    """After how many rows every loss comes again, digit by digit, `FEWEST` times or more; 0: they don't."""
    known = loss.drop_nulls()
    last = known[-FEWEST:]
    if last.n_unique() < FEWEST or not any(map(exact, last)):
        return 0  # of losses that hardly differ, another rule asks
    again = (known == known[0]).arg_true()
    again = again.filter((again > 1) & (again <= len(known) - FEWEST))
    for place in range(len(known) - FEWEST, len(known)):
        again = again.filter(known.gather(place - again) == last[place - len(known)])
    period = _shortest_period(known.to_list()) if len(again) else 0
    return period if period <= len(known) - FEWEST else 0


BEYOND = 10
"""Batches differ by so many times what each of them moved: a constant of the method."""


def batches_of(loss: pl.Series, share: float) -> int:
    """After how many rows each loss comes again to within `share` of it, to the end; 0 where they don't.

    So look the batches of an epoch in an order that is always the same, where the weights hardly move: one
    differs from the next far more than from itself.
    """
    known = loss.drop_nulls()
    if len(known) < THRICE * FEWEST:
        return 0
    again = ((known - known[0]).abs() <= share * abs(known[0])).arg_true()
    again = again.filter((again > 1) & (again <= min(len(known) // THRICE, len(known) - FEWEST)))
    for place in range(1, FEWEST):
        again = again.filter((known.gather(again + place) - known[place]).abs() <= share * abs(known[place]))
    for period in again[:FEWEST]:  # rows of noise seldom leave more to try
        moved = (known - known.shift(period)).abs().drop_nulls()
        apart = to_float(known[:period].max()) - to_float(known[:period].min())
        if apart and to_float(moved.max()) <= min(share * to_float(known.abs().min()), apart / BEYOND):
            return int(period)
    return 0


def _shortest_period(values: Sequence[float]) -> int:
    """After how many places a list goes on as it began, to its end; its length where it doesn't.

    In time that grows with the length alone, however much of it comes again before it goes on otherwise.
    Source: Knuth, Morris and Pratt, SIAM Journal on Computing 6 (1977), 323.
    """
    same = [0] * len(values)  # so many values that end here are those of the beginning
    count = 0
    for place in range(1, len(values)):
        while count and values[place] != values[count]:
            count = same[count - 1]
        count += values[place] == values[count]
        same[place] = count
    return len(values) - count
