"""Where a run that was resumed goes on with other data than before."""

import polars as pl

from tutor.run.scalars import to_float

_TIMES = 3
"""Times that a run is resumed on other data, at most."""
_ROUNDED = 0.01
"""To what logs round an epoch."""
_FEWEST = 10
"""Rows that tell something by themselves."""
_ROWS = 5
"""So many rows behind its beginning a new epoch may be logged first."""


def other_data_from(frame: pl.DataFrame) -> int | None:
    """The row from which on the epochs, in parts, began again while the steps went on; None where none did.

    A run that is resumed goes on with its epoch. One that begins an epoch anew on its way, out of the middle
    of another, is trained on other data from there on, so that what it cost before is no measure. Epochs that
    often begin again, or where they are whole, count something else, and few rows tell nothing by themselves.
    """
    if "epoch" not in frame.columns or not frame["epoch"].dtype.is_float():
        return None
    trained = frame["loss"].is_not_null() if "loss" in frame.columns else frame["epoch"].is_not_null()
    rows = trained.arg_true()
    epochs = frame["epoch"].gather(rows).fill_nan(None).forward_fill()
    steps = epochs.diff()
    anew = (steps < -_ROUNDED).fill_null(False).arg_true()
    if not 0 < len(anew) <= _TIMES or (epochs == epochs.floor()).all() or len(rows) - anew[-1] < _FEWEST:
        return None
    near = _ROUNDED + _ROWS * to_float(steps.filter(steps > 0).median() or 0.0)
    before, after = epochs.gather(anew - 1), epochs.gather(anew)
    within = (before - before.round()).abs()
    usual = _ROUNDED + to_float(steps.filter(steps > 0).min() or 0.0)
    return int(rows[anew[-1]]) if to_float(after.max()) <= near and to_float(within.min()) > usual else None
