"""Several held-out sets in one log, each with a loss of its own: the mean of them is the validation loss."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tutor.run import Remark, names
from tutor.words import quoted

if TYPE_CHECKING:
    import polars as pl

_LOADER = re.compile(r"/dataloader_idx_[0-9]+$")
"""What Lightning adds to a name where there are several: `val_loss/dataloader_idx_0`."""
_NAMED = re.compile(r"eval_(?!loss$)\w+_loss$")
"""What Hugging Face's Trainer calls the loss of one set of several: `eval_squad_loss`."""


def with_mean(rows: "pl.DataFrame", known: Collection[str]) -> tuple["pl.DataFrame", list[Remark]]:
    """The rows with the mean of the sets' losses as `val_loss`, where they have none, and what is to be said.

    Args:
        rows: by the log's own names.
        known: the signals that these are taken for.
    """
    import polars as pl  # only who reads a log pays for it

    if "val_loss" in known:
        return rows, []
    losses = [name for name in _of_sets(rows.columns) if rows[name].dtype.is_numeric()]
    if not losses:
        return rows, []
    whole = rows.select(pl.all_horizontal(pl.col(name).is_not_null() for name in losses)).to_series()
    if not whole.any():
        return rows, []
    mean = rows.select(pl.mean_horizontal(losses)).to_series().set(~whole, None)
    return rows.with_columns(mean.alias("val_loss")), _remarks(losses)


def _of_sets(columns: Sequence[str]) -> list[str]:
    """The losses of the sets: `val_loss/dataloader_idx_0`, `eval_squad_loss`, `val_squad/loss`."""
    held_out = [name for name in columns if names.says_held_out(name)]
    loaders = [name for name in held_out if _LOADER.search(name) and _is_loss(_LOADER.sub("", name))]
    named = [name for name in held_out if _NAMED.match(name)]
    return loaders or named or [name for name in held_out if name.endswith("/loss") and not _is_loss(name)]


def _is_loss(name: str) -> bool:
    """Whether it is what a known trainer calls the validation loss."""
    return names.known([name]).get(name) == "val_loss"


def _remarks(losses: Sequence[str]) -> list[Remark]:
    if len(losses) < 2:
        return [Remark("guessed", {"taken": f"val_loss = {quoted(losses)}"})] if losses else []
    return [Remark("sets_averaged", {"columns": quoted(losses), "first": losses[0]})]
