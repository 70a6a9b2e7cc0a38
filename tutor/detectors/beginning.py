"""Where a log begins: with the run, mid-way, or where a run goes on from a checkpoint."""

from tutor.detectors.windows import Window, cadence, finite
from tutor.run import Run, to_float


def begins_late(run: Run) -> bool:
    """Whether the first row of the log isn't the run's first: more steps lie before it than between rows."""
    return len(run) > 0 and int(run.steps[0]) > max(1.0, cadence(run))


def resumed(run: Run, window: Window) -> bool:
    """Whether the log begins mid-way: more than a window of steps lies before its first row."""
    return len(run) > 0 and int(run.steps[0]) > window.count(run) * cadence(run)


CHECKPOINTS = 50
"""Steps of which checkpoints are multiples: how people set them, and no bound."""


def continued(run: Run, window: Window) -> bool:
    """Whether the log begins mid-way where a run goes on from a checkpoint: at its step, or a row later.

    Elsewhere it is as likely a part of a log that somebody cut out. tutor's own logs are whole.
    """
    first = int(run.steps[0]) if len(run) else 0
    places = (first, first - 1, first - round(cadence(run)))
    return resumed(run, window) and (bool(run.manifest.tutor) or any(at % CHECKPOINTS == 0 for at in places))


def warming_up(run: Run) -> bool:
    """Whether the learning rate has only risen so far, and still rises at the end of the log."""
    if not run.has("lr"):
        return False
    lr = finite(run["lr"]).drop_nulls()
    changes = lr.diff().drop_nulls()
    return len(changes) > 0 and to_float(changes.min()) >= 0 and float(changes[-1]) > 0
