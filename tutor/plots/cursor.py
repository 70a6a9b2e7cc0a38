"""Cursor: where it goes. Pure functions: it always stands on a logged step."""

from tutor import signals
from tutor.plots.view import View, rows_in
from tutor.run import Run

STEPLESS = ("tokens", "batch")
"""Panels that show one step: what is worst there is the loss."""

_LOWEST = ("throughput",)
"""Panels whose lowest value is the worst."""


def moved(run: Run, view: View, panel: str, cursor: int | None, by: int) -> int:
    """The step so many logged rows away.

    Without a cursor yet, the middle of what is in view; on a panel of one step, where it is the last that
    is drawn, from there.
    """
    if cursor is not None:
        row = run.row_at(cursor) + by
    elif panel in STEPLESS:
        row = len(run) - 1 + by
    else:
        row = (run.row_at(view[0]) + run.row_at(view[1])) // 2
    return int(run.steps[min(max(row, 0), len(run) - 1)])


def nearest(run: Run, step: int) -> int:
    """The logged step nearest to `step`."""
    row = run.row_at(step)
    after = min(row + 1, len(run) - 1)
    here, there = int(run.steps[row]), int(run.steps[after])
    return there if abs(there - step) < abs(step - here) else here


def worst(run: Run, panel: str, view: View) -> int | None:
    """The worst step in view: NaN or Inf first, then the highest value of the panel's first curve.

    Of throughput and loss scale it is the lowest. None where nothing was logged in view.
    """
    signal = main_signal(run, panel)
    if signal is None:
        return None
    begin, end = rows_in(run, view)
    values = run[signal][begin:end].cast(float)
    bad = (~values.is_finite()).fill_null(False).arg_true()
    if len(bad):
        return int(run.steps[begin + int(bad[0])])
    row = values.arg_min() if panel in _LOWEST else values.arg_max()
    return None if row is None else int(run.steps[begin + row])


def main_signal(run: Run, panel: str) -> str | None:
    """The first number that the panel draws and the run has; the loss where the panel draws none."""
    for name in (panel, "loss"):
        for signal in signals.of_panel(name):
            if signal.kind == "number" and signal.unit and run.has(signal.name) and name not in STEPLESS:
                return signal.name
    return None
