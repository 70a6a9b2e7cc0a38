"""Evaluations that are printed a batch at a time, with a counter of their own: each is a row."""

from collections.abc import Collection, Sequence
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
        if _counted_anew(rows[name].gather(said["row"]), only):
            blocks = said.select("row", block=only.rle_id()).filter(only)
            return _joined(rows, blocks, counters)
    return rows


def _counted_anew(counter: "pl.Series", only: "pl.Series") -> bool:
    """Whether the counter goes up in each block of the rows marked, and begins under the row before it."""
    before = only.shift(1, fill_value=False)
    begins, inside = only & ~before, only & before
    if begins.sum() < _BLOCKS or not (inside.shift(-1, fill_value=False) | ~begins).all():
        return False
    rises = counter.diff()
    return bool((rises.filter(begins) < 0).fill_null(False).all()) and bool((rises.filter(inside) > 0).all())


def _joined(rows: "pl.DataFrame", blocks: "pl.DataFrame", counters: Collection[str]) -> "pl.DataFrame":
    """The rows, of each block its first with the means of all; what counted its batches counts nothing."""
    import polars as pl  # only who reads a log pays for it

    first = blocks["block"].is_first_distinct()
    places, dropped = blocks["row"].filter(first), blocks["row"].filter(~first)
    joined = list[pl.Series]()
    for column in rows:
        if column.dtype == pl.Null:
            joined.append(column)
        elif column.name in counters:
            joined.append(column.clone().scatter(places, None))
        elif column.dtype.is_float():
            parts = blocks.select("block", value=column.gather(blocks["row"]))
            means = parts.group_by("block", maintain_order=True).mean()["value"]
            joined.append(column.clone().scatter(places, means))
        else:
            joined.append(column)
    kept = pl.repeat(True, rows.height, dtype=pl.Boolean, eager=True).scatter(dropped, False)
    return pl.DataFrame(joined).filter(kept)
