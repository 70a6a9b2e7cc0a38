"""Rows that say of what they are: of which data, `{"split": "val", "loss": 0.5}`, or of which run.

The values of held-out data are named after it; of several runs, `Model,Epoch,Loss`, each is one of its own.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from tutor.run import names, whose
from tutor.run.remark import Remark
from tutor.words import quoted

_TRIED = 100  # rows by which a column of texts is known
_MOST = 12  # words for sets that one log has
_SHARED = {
    *("step", "steps", "global_step", "iter", "iters", "iteration", "epoch", "epochs", "batch", "episode"),
    *("lr", "learning_rate", "time", "timestamp", "wall_time", "elapsed", "date"),
}
"""What holds for a row whatever data it is of, as `names.spelled` has it."""
_FEWEST_ROWS = 3  # of a run, in the mean
_MOST_RUNS = 100
_PAIR = 2
_MOSTLY = 0.5  # of the held-out rows, above which their steps are a count of their own


def told_apart(rows: pl.DataFrame, remarks: list[Remark]) -> pl.DataFrame:
    """The rows with what is of held-out data in columns of its own: `loss` of `val` is `val_loss`.

    The first column whose texts are words for several sets of data, held-out ones among them, says of which
    a row is. Without one the rows are as they were.
    """
    for column in rows:
        if column.dtype != pl.String:
            continue
        said = column.drop_nulls()
        if not len(said) or not all(map(names.set_of, said.head(_TRIED))) or said.n_unique() > _MOST:
            continue
        words = {value: names.set_of(value) for value in said.unique(maintain_order=True)}
        held_out = list(dict.fromkeys(word for word in words.values() if word and word != names.TRAINED_ON))
        if held_out and len(words) > 1 and None not in words.values():
            sets = column.replace_strict(words, default=None, return_dtype=pl.String)
            parted = _parted(_on_one_count(rows.drop(column.name), sets), sets, held_out)
            remarks.append(Remark("of_sets", {"column": quoted([column.name]), "sets": ", ".join(held_out)}))
            return parted
    return rows


def _on_one_count(rows: pl.DataFrame, sets: pl.Series) -> pl.DataFrame:
    """The rows, where held-out ones count themselves each at the step of training that it came after."""
    counter = next((name for name, signal in names.known(rows.columns).items() if signal == "step"), None)
    if counter is None or not rows[counter].dtype.is_numeric():
        return rows
    trained = (sets == names.TRAINED_ON).fill_null(False)
    reached = _where(trained, rows[counter]).forward_fill()
    behind = (rows[counter] < reached).fill_null(False) & ~trained
    if not behind.any() or int(behind.sum()) <= _MOSTLY * int((~trained).sum()):
        return rows
    told = pl.select(pl.when(trained).then(rows[counter]).otherwise(reached)).to_series()
    return rows.with_columns(told.alias(counter))


def _parted(rows: pl.DataFrame, sets: pl.Series, held_out: Sequence[str]) -> pl.DataFrame:
    """The rows with the values of each held-out set in columns of its own."""
    apart = sets.is_in(list(held_out)).fill_null(False)
    found: list[pl.Series] = []
    taken = set(rows.columns)
    for column in rows:
        shared = names.spelled(column.name) in _SHARED or whose.says_run(column.name)
        if shared or names.says_held_out(column.name):
            found.append(column)
            continue
        found.append(_where(~apart, column))
        for word in held_out:
            name = names.free(f"{word}_{column.name}", taken)
            taken.add(name)
            found.append(_where(sets == word, column).alias(name))
    kept = [one for one in found if one.null_count() < len(one)]
    return pl.DataFrame(kept) if kept else rows


def _where(known: pl.Series, column: pl.Series) -> pl.Series:
    """The column's values at some rows, and null at the others."""
    return pl.select(pl.when(known).then(column).alias(column.name)).to_series()


def says_sets(rows: pl.DataFrame) -> bool:
    """Whether a column of texts may say of which data each row is."""
    texts = (column.drop_nulls() for column in rows if column.dtype == pl.String)
    return any(len(one) and all(map(names.set_of, one.head(_TRIED))) for one in texts)


def runs_apart(rows: pl.DataFrame, mapping: Mapping[str, str]) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each run, with what they call it; all of them, called "", where they are of one.

    A column that tells them apart has few values, at each of which the steps rise, where in all they begin
    again.
    """
    step = next((column for column, signal in mapping.items() if signal == "step"), None)
    if step is None or not rows[step].dtype.is_numeric() or _rises(rows[step], by=1):
        return [("", rows)]
    for name in rows.columns:
        if name in mapping or not whose.says_run(name) or rows[name].null_count():
            continue
        values = rows[name].unique(maintain_order=True)
        if not 1 < len(values) <= min(_MOST_RUNS, len(rows) // _FEWEST_ROWS):
            continue
        parts = [rows.filter(rows[name] == value) for value in values]
        if all(_rises(part[step]) for part in parts):
            return [(_in_words(value), part.drop(name)) for value, part in zip(values, parts, strict=True)]
    return [("", rows)]


def _in_words(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _rises(steps: pl.Series, by: int = 0) -> bool:
    """Whether steps rise, from row to row by so many: by none where two rows are of two sets of data."""
    known = steps.drop_nulls()
    whole = len(known) < _PAIR or known[-1] > known[0]
    return whole and bool((known.diff().drop_nulls() >= by).all())
