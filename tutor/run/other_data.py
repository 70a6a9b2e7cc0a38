"""Where a run that was resumed goes on with other data than before."""

import polars as pl

_TIMES = 3
"""Times that a run is resumed on other data, at most."""
_ROUNDED = 0.01
"""To what logs round an epoch."""
_FEWEST = 10
"""Rows that tell something by themselves."""


def other_data_from(frame: pl.DataFrame) -> int | None:
    """The row from which on the epochs, in parts, began again while the steps went on; None where none did.

    A run that is resumed goes on with its epoch. One that begins an epoch anew on its way is trained on other
    data from there on, so that what it cost before is no measure. Epochs that often begin again count
    something else, and few rows tell nothing by themselves.
    """
    if "epoch" not in frame.columns or not frame["epoch"].dtype.is_float():
        return None
    epochs = frame["epoch"].fill_nan(None).forward_fill()
    anew = (epochs.diff() < -_ROUNDED).fill_null(False).arg_true()
    if not 0 < len(anew) <= _TIMES or (epochs == epochs.floor()).all() or len(frame) - anew[-1] < _FEWEST:
        return None
    return int(anew[-1])
