"""Several held-out sets in one log, each with a loss of its own: the mean of them is the validation loss."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tutor.run import Remark, names
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl


def with_mean(rows: "pl.DataFrame", known: Collection[str]) -> tuple["pl.DataFrame", list[Remark]]:
    """The rows with the mean of the sets' losses as `val_loss`, where they have none, and what is to be said.

    Args:
        rows: by the log's own names.
        known: the signals that these are taken for.
    """
    import polars as pl  # only who reads a log pays for it

    if "val_loss" in known:
        return rows, []
    losses = [name for name in names.losses_of_sets(rows.columns) if rows[name].dtype.is_numeric()]
    if not losses:
        return rows, []
    whole = rows.select(pl.all_horizontal(pl.col(name).is_not_null() for name in losses)).to_series()
    if not whole.any():
        return rows, []
    mean = rows.select(pl.mean_horizontal(losses)).to_series().set(~whole, None)
    return rows.with_columns(mean.alias("val_loss")), _remarks(losses)


def _remarks(losses: Sequence[str]) -> list[Remark]:
    if len(losses) < 2:
        return [Remark("guessed", {"taken": f"val_loss = {quoted(losses)}"})] if losses else []
    return [Remark("sets_averaged", {"columns": quoted(losses), "first": losses[0]})]
