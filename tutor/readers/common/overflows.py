"""Messages that a gradient overflowed, so that a step was skipped and the loss scale reduced.

A trainer that overflows at every scale prints nothing else any more, until it gives up: its last messages
are rows as well.
Sources: fairseq/optim/dynamic_loss_scaler.py, apex/amp/handle.py, deepspeed/runtime/fp16/loss_scaler.py
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

REDUCED = "reduced"
"""The column of the scale to which a message on a line of its own says that it is reduced."""

_MANY = 3
"""Messages in a row that say that it goes on: one or two are usual in a sound run."""
_LAST = 1.0
"""The scale at which nothing is gained by scaling: a sound run may end after some overflows far above it."""


def after_the_last(rows: "pl.DataFrame", scales: "pl.Series", skipped: int | None = None) -> "pl.DataFrame":
    """The rows and, if the scale comes down to where it is of no use, a row for each overflow after the last
    of them, at the steps that follow.

    Args:
        rows: with their `step`, in the order of the log.
        scales: what the messages after the last row reduce the scale to. One that comes twice in a row was
            said by two processes.
        skipped: how many steps were skipped before them; None where the rows don't count those.
    """
    import polars as pl  # only who reads a log pays for it

    scales = scales.filter((scales != scales.shift()).fill_null(True))
    if len(scales) < _MANY or scales[-1] > _LAST or not rows["step"].count():
        return rows
    places = pl.int_range(1, len(scales) + 1, eager=True)
    last = rows["step"].drop_nulls()[-1]
    more = {"step": (places + last).cast(rows["step"].dtype), "loss_scale": scales.cast(pl.Float64)}
    if skipped is not None:
        more["skipped_steps"] = (places + skipped).cast(pl.Float64)
    return pl.concat([rows, pl.DataFrame(more)], how="diagonal_relaxed")


def with_scale(rows: "pl.DataFrame") -> "tuple[pl.DataFrame, pl.Series]":
    """The rows, each with the loss scale after the messages before it, the last row after all of them; and
    the scales of the messages after the last.

    Where there are messages alone, each is a row, but for those that another process repeats.
    """
    import polars as pl  # only who reads a log pays for it

    if REDUCED not in rows.columns:
        return rows, pl.Series(dtype=pl.Float64)
    message = rows[REDUCED].is_not_null()
    if all(column.null_count() == len(column) for column in rows.filter(~message)):
        rows, message = rows.filter(message), message.filter(message)
    scale = rows[REDUCED].forward_fill()
    if message.all():
        again = (scale != scale.shift()).fill_null(True)
        return rows.filter(again).rename({REDUCED: "loss_scale"}), scale.clear()
    last = int((~message).arg_true()[-1])
    below, scale = scale[last + 1 :], scale.scatter(last, scale[-1])
    told = rows if "loss_scale" in rows.columns else rows.with_columns(scale.alias("loss_scale"))
    return told.drop(REDUCED).filter(~message), below
