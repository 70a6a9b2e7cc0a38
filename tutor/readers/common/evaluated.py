"""Evaluations that are printed a batch at a time, with a counter of their own: each is a row."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_BLOCKS = 2
"""Evaluations that begin again, at least: one alone may be a run that goes on elsewhere."""


def in_one_row(
    rows: "pl.DataFrame", trained: Sequence[str], held_out: Sequence[str], counters: Sequence[str]
) -> "pl.DataFrame":
    """The rows with each evaluation in one: the means of its batches, at the step of training before it.

    An evaluation is what stands between two rows of training, of losses of held-out data alone: two or more,
    whose batches are counted from below where training is, each time.

    Args:
        rows: all that were printed, in order.
        trained: the columns of training's losses.
        held_out: those of held-out data.
        counters: the columns that count steps, or batches.
    """
    import polars as pl  # only who reads a log pays for it

    if not trained or not held_out:
        return rows
    own, other = (
        pl.any_horizontal(pl.Series(rows[name].is_not_null()) for name in names)
        for names in (trained, held_out)
    )
    marked = rows.select(own=own, other=other).with_row_index("row")
    for name in counters:
        if name not in rows.columns:
            continue
        said = marked.filter(rows[name].is_not_null() & (marked["own"] | marked["other"]))
        only = said["other"] & ~said["own"]
        blocks = said.with_columns(block=only.rle_id()).filter(only).group_by("block", maintain_order=True)
        found = [block["row"].to_list() for _, block in blocks]
        if _counted_anew(rows[name], said["row"].filter(~only), found):
            return _joined(rows, found, counters)
    return rows


def _counted_anew(counter: "pl.Series", trained: "pl.Series", blocks: Sequence[Sequence[int]]) -> bool:
    """Whether the counter goes up in each block, and begins under where training has come to before it."""
    if len(blocks) < _BLOCKS or any(len(block) < _BLOCKS for block in blocks):
        return False
    for block in blocks:
        before = trained.filter(trained < block[0])
        counts = [counter[row] for row in block]
        if not len(before) or counts[0] >= counter[int(before[-1])]:
            return False
        if any(later <= one for one, later in pairwise(counts)):
            return False
    return True


def _joined(rows: "pl.DataFrame", blocks: Sequence[Sequence[int]], counters: Sequence[str]) -> "pl.DataFrame":
    """The rows, of each block its first with the means of all; what counted its batches counts nothing."""
    import polars as pl  # only who reads a log pays for it

    firsts = [block[0] for block in blocks]
    dropped = pl.Series([row for block in blocks for row in block[1:]], dtype=pl.Int64)
    for name in rows.columns:
        column = rows[name]
        if column.dtype == pl.Null:
            continue
        if name in counters:
            column = column.scatter(firsts, None)
        elif column.dtype.is_float():
            means = [column.gather(block).mean() for block in blocks]
            column = column.scatter(firsts, pl.Series(means, dtype=column.dtype))
        rows = rows.with_columns(column.alias(name))
    kept = pl.repeat(True, rows.height, dtype=pl.Boolean, eager=True).scatter(dropped, False)
    return rows.filter(kept)
