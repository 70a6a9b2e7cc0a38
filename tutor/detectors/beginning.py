"""Where a log begins: with the run, mid-way, or where a run goes on from a checkpoint."""

from dataclasses import replace

from tutor.detectors.windows import Window, cadence, finite
from tutor.run import Run, to_float
from tutor.run.other_data import other_data_from


def begins_late(run: Run) -> bool:
    """Whether the first row of the log isn't the run's first: more steps lie before it than between rows.

    Of rows that say no step the epochs tell, where they have parts: 0.42, 0.42, 0.43.
    """
    return len(run) > 0 and (int(run.steps[0]) > max(1.0, cadence(run)) or _within_an_epoch(run))


def _within_an_epoch(run: Run) -> bool:
    """Whether the first row lies further into its epoch than rows lie apart, and than logs round.

    Of rows that are counted, as those are that say no step; and not where their epochs begin again.
    """
    if "epoch" not in run.frame.columns or not run.frame["epoch"].dtype.is_float():
        return False
    if int(run.steps[0]) != 1 or int(run.steps[-1]) != len(run):
        return False
    epochs = finite(run.frame["epoch"]).drop_nulls()
    apart = epochs.diff().drop_nulls()
    apart = apart.filter(apart != 0)
    if not len(apart) or to_float(apart.min()) < 0 or (epochs == epochs.floor()).all():
        return False
    return float(epochs[0]) % 1 > 2 * to_float(apart.median()) + _ROUNDED


def on_its_last_data(run: Run) -> Run:
    """The rows since the run was resumed on other data; all rows where it never was."""
    row = other_data_from(run.frame)
    return run if row is None else replace(run, frame=run.frame[row:])


def resumed(run: Run, window: Window) -> bool:
    """Whether the log begins mid-way: more than a window of steps lies before its first row."""
    return len(run) > 0 and int(run.steps[0]) > window.count(run) * cadence(run)


_ROUNDED = 0.01
"""To what logs round an epoch, which is no bound: a constant of the method."""

CHECKPOINTS = 50
"""Steps of which checkpoints are multiples: how people set them, and no bound."""


def continued(run: Run, window: Window) -> bool:
    """Whether the log begins mid-way where a run goes on from a checkpoint: at its step, or a row later.

    Elsewhere it is as likely a part of a log that somebody cut out. tutor's own logs are whole.
    """
    first = int(run.steps[0]) if len(run) else 0
    places = (first, first - 1, first - round(cadence(run)))
    return resumed(run, window) and (bool(run.manifest.tutor) or any(at % CHECKPOINTS == 0 for at in places))


def is_over(run: Run, share: float) -> bool:
    """Whether the learning rate has come down from its highest to this share of it, and never rose again."""
    if not run.has("lr"):
        return False
    lr = finite(run["lr"]).drop_nulls()
    since = lr[lr.arg_max() or 0 :]
    falls = len(since) > 1 and to_float(since.diff().max()) <= 0
    return falls and float(since[-1]) <= share * float(since[0]) > 0


def warming_up(run: Run) -> bool:
    """Whether the learning rate has only risen so far, and still rises at the end of the log."""
    if not run.has("lr"):
        return False
    lr = finite(run["lr"]).drop_nulls()
    changes = lr.diff().drop_nulls()
    return len(changes) > 0 and to_float(changes.min()) >= 0 and float(changes[-1]) > 0
