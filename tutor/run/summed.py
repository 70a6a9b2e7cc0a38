"""Losses that a loop adds up from the beginning of each epoch, and prints the sum so far of."""

import polars as pl

from tutor.run.scalars import to_float

_EPOCHS, _ROWS = 3, 3
"""Epochs that show it, and rows of each."""
_MOST = 0.6
"""The share of the rows that lie in such epochs."""
_TIMES = 3.0
"""So many times the smallest addition is the largest."""
_SOME, _LARGE = 0.45, 0.1
"""Where more rows than that fall, a step is as large a share of a loss at least."""
_FIRST = 1.5
"""And so many times the usual one is the sum at first, which may be of fewer batches."""


def added(loss: pl.Series) -> pl.Series | None:
    """What each row adds to such a sum; None of a loss that isn't summed up.

    Within each epoch it rises from row to row by about as much, and it began with hardly more than that. The
    first row of each is null, for it may be the sum of another number of batches, and so is a row between two
    epochs.
    """
    if not _may_be(loss.drop_nulls()):
        return None
    rows = pl.DataFrame({"loss": loss, "row": pl.int_range(len(loss), eager=True)}).drop_nulls()
    rows = rows.with_columns(
        epoch=(rows["loss"].diff() < 0).fill_null(False).cum_sum(), adds=rows["loss"].diff()
    )
    of_one = pl.col("adds").slice(1)
    epochs = rows.group_by("epoch").agg(
        rows=pl.len(),
        first=pl.col("loss").first(),
        least=of_one.min(),
        usual=of_one.median(),
        most=of_one.max(),
    )
    summed = epochs.filter(
        (pl.col("rows") >= _ROWS)
        & (pl.col("least") > 0)
        & (pl.col("first") <= _FIRST * pl.col("usual"))
        & (pl.col("most") <= _TIMES * pl.col("least"))
    )
    if len(summed) < _EPOCHS or summed["rows"].sum() < _MOST * len(rows):
        return None
    within = rows["epoch"].is_in(summed["epoch"].implode()) & (rows["epoch"] == rows["epoch"].shift())
    kept = rows.filter(within)
    return pl.repeat(None, len(loss), dtype=pl.Float64, eager=True).scatter(kept["row"], kept["adds"])


def _may_be(known: pl.Series) -> bool:
    """Whether it falls at few enough rows; where it falls at many, its epochs are short, and its steps large.

    A loss of a million rows is hardly ever a sum, and what tells is slow.
    """
    steps = known.diff().drop_nulls()
    falls = to_float((steps < 0).mean() or 0.0)
    if not 0 < falls <= _MOST or not known.is_finite().all():
        return False
    return falls <= _SOME or to_float(steps.abs().mean()) > _LARGE * to_float(known.mean())
