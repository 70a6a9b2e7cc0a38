"""What a loop writes in each row until the next evaluation comes: the last one again, or NaN."""

import polars as pl

from tutor.run.names import says_held_out
from tutor.run.scalars import to_float
from tutor.run.scoring import is_reward

_MANY = 10
"""Values from which on a column is looked at: with fewer, each may come twice in a row by chance."""
_TWICE = 2
"""Rows for which each value stands, and stretches of these, at least."""
_EVALUATED = 3
"""Evaluations that come at equal distances, at least."""
_DIGITS = 3
"""Significant digits above which two values are hardly the same by chance."""


def once_each(typed: pl.DataFrame) -> dict[str, pl.Series]:
    """By name the columns of held-out data, and of rewards, that write each value again until the next comes.

    In them each value stands once, and null in place of the others. Only in a log that has a training loss of
    its own in each row; the first value and the last may stand for one row. Where numbers have few digits,
    the same may be chance. Where the validation loss has a value of its own in each row, too, no evaluation
    is written again. One that is the same in every row was evaluated once, where more than a step lies
    between two of them: an epoch's is its own.
    """
    if not _moves(typed, "loss") or _moves(typed, "val_loss"):
        return {}
    found = dict[str, pl.Series]()
    for name in typed.columns:
        known = typed[name].drop_nulls()
        if known.dtype != pl.Float64() or len(known) < _MANY or not (says_held_out(name) or is_reward(name)):
            continue
        stretches = known.rle().struct.unnest()[1:-1]
        lengths, values = stretches["len"], stretches["value"]
        exact = values.round_sig_figs(_DIGITS) != values
        if len(lengths) >= _TWICE and to_float(lengths.min()) >= _TWICE and 2 * exact.sum() >= len(exact):
            found[name] = _once(typed[name], round(to_float(lengths.median())))
        elif says_held_out(name) and _stands(known) and to_float(typed["step"].diff().median() or 0) > 1:
            found[name] = _once(typed[name], len(known))
    return found


def nan_between(typed: pl.DataFrame) -> dict[str, pl.Series]:
    """By name the columns of held-out data that are NaN in all rows but every so many-th.

    In them null stands in place of NaN. Only in a log whose training loss is finite in each row: a model that
    is lost is so at any row.
    """
    if "loss" not in typed.columns or not typed["loss"].is_finite().fill_null(False).all():
        return {}
    held_out = (typed[name] for name in typed.columns if says_held_out(name))
    return {
        column.name: column.fill_nan(None)
        for column in held_out
        if column.dtype == pl.Float64() and _at_each(column)
    }


def _at_each(column: pl.Series) -> bool:
    """Whether a column is finite in every so many-th row, `_EVALUATED` or more in all, and NaN in between."""
    finite = column.is_finite().fill_null(False)
    places = finite.arg_true()
    logged = finite | column.is_nan().fill_null(False)
    if len(places) < _EVALUATED or not logged.all():
        return False
    apart = places.diff().drop_nulls()
    every = int(apart[0])
    whole = every >= _TWICE and bool((apart == every).all())
    return whole and int(places[0]) < every and len(column) - int(places[-1]) <= every


def _stands(known: pl.Series) -> bool:
    """Whether a column is one number, of more than `_DIGITS` digits."""
    value = known[:1]
    return known.n_unique() == 1 and bool((value.round_sig_figs(_DIGITS) != value).all())


def _moves(typed: pl.DataFrame, signal: str) -> bool:
    """Whether most of a signal's rows have a value of their own."""
    lengths = typed[signal].drop_nulls().rle().struct.field("len") if signal in typed.columns else ()
    return len(lengths) > 0 and to_float(pl.Series(lengths).mean()) < _TWICE


def _once(column: pl.Series, length: int) -> pl.Series:
    """The column with one value for every `length` rows in which it stands, and null in the others.

    A longer stretch is of as many evaluations that came out the same.
    """
    known = column.is_not_null()
    stretches = pl.DataFrame({"stretch": column.filter(known).rle_id()})
    place = stretches.select(pl.int_range(pl.len()).over("stretch")).to_series()
    repeated = known.arg_true().filter(place % length != 0)
    return column.scatter(repeated, None)
