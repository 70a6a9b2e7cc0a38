"""Progress bars in printed lines: of which states a row is made, and which bars are of held-out data."""

from typing import TYPE_CHECKING

from tutor.readers.common.roles import role
from tutor.run import names

if TYPE_CHECKING:
    import polars as pl

_BARS = 2  # below a heading that are looked at: of training, then of held-out data
FEW = 5
"""Rows that most questions need: with fewer bars, each of their states is a row."""


def _begun(bar: "pl.Series") -> "pl.Series":
    """Whether a progress bar begins at a row."""
    return (bar < bar.shift()).fill_null(False)


def _changes(column: "pl.Series") -> "pl.Series":
    """Whether a value differs from the one before it."""
    return (column != column.shift()).fill_null(False)


def few_bars(rows: "pl.DataFrame") -> "pl.DataFrame | None":
    """The rows, each state of a progress bar among them, at its batch; None where the bars are rows enough.

    Only bars of the first one's length stay: others go over other data.
    """
    import polars as pl  # only who reads a log pays for it

    shown = rows["bar"].is_not_null()
    begun = ~shown.shift(fill_value=False) | _begun(rows["bar"])
    states, bars = int(shown.sum()), int((shown & begun).sum())
    if not bars < FEW <= states or states == bars:
        return None
    rows = rows.filter(~shown | (rows["of"] == rows["of"].filter(shown)[0]).fill_null(False))
    return rows.with_columns(pl.coalesce("at", "bar").alias("at"), pl.lit(None).alias("bar"))


def last_states(rows: "pl.DataFrame", headed: "pl.Series | None") -> "pl.DataFrame":
    """The rows, but of a progress bar's states only the last, and of the bars below a heading only two.

    The second of these, which has no heading of its own, is that of Keras's `evaluate`: its loss is that of
    held-out data. `headed` numbers the heading above each row; without headings (None) all bars stay.
    """
    import polars as pl  # only who reads a log pays for it

    if not rows["bar"].count():
        return rows
    bar, no_bar = rows["bar"], rows["bar"].is_null()
    begun = _begun(bar)
    if headed is None:
        return rows.filter(begun.shift(-1).fill_null(True) | no_bar)
    bars = pl.DataFrame({"headed": headed, "bar": (begun | _changes(rows["of"])).cum_sum()})
    later = bars.select(pl.col("bar") - pl.col("bar").first().over("headed")).to_series()
    shown = bars.with_row_index("row").filter(~no_bar)  # what is printed in between belongs to no bar
    ends = (_changes(shown["bar"]) | _changes(shown["headed"])).shift(-1, fill_value=True)
    last = pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True).scatter(
        shown["row"].filter(ends), True
    )
    kept = ((later < _BARS) & last) | no_bar
    return _as_held_out(rows, (later > 0) & ~no_bar).filter(kept)


def _as_held_out(rows: "pl.DataFrame", where: "pl.Series") -> "pl.DataFrame":
    """The rows, with the losses at `where` as held-out ones, which are dropped if the log names such."""
    import polars as pl  # only who reads a log pays for it

    if not where.any():
        return rows
    losses = [name for name in rows.columns if role(name) == "loss"]
    named = "val_loss" in names.known(losses).values()
    for name in losses:
        value = rows[name]
        rows = rows.with_columns(pl.when(where).then(None).otherwise(value).alias(name))
        if not named:
            rows = rows.with_columns(pl.when(where).then(value).otherwise(None).alias(f"val {name}"))
    return rows
