"""Starts: a log to which several runs were written one after another, or one whose counter began again.

Loggers that append to a file, and loops over folds or seeds, leave several runs in one log; loops that count
the batches of each epoch begin at 0 in every one. Either way the steps go back to the first one. Which it is
shows in the heading, which a logger that appends writes again, in the column `epoch`, which goes on or
doesn't, or else in the loss, which goes on or begins anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from tutor.run.names import HEADINGS
from tutor.run.scalars import to_float

_MOST = 100
"""Times that a log begins again, at most: one that does more often has several writers, or was shuffled."""
_OWN = 5
"""Rows of a run that is taken for one of its own; a shorter one was given up before it told anything."""
_MOVED, _CLEARLY, _STEPS = 0.1, 0.02, 5
"""How far the loss of a run has to have moved for another beginning to be told from its end: by the first
share of it, or by the second one and so many times what it moves from row to row."""
_LEVEL = 3
"""Rows whose median says where a loss began, or had come to."""
_LEAP = 2
"""A loss so many times as high as any of the later half leaps."""
_STEEP = 20
"""Rows for each of those: over three epochs of ten a loss comes down most of its way."""


def starts(frame: pl.DataFrame, *, by_epochs: bool = False) -> list[pl.DataFrame]:
    """The rows of each run in a log, in the order in which they were logged: one table, if it holds one.

    A run that went back to a step on its way is one run, and so is one whose counter began again. Below a
    heading that stands again, one that begins before the second step of the one above is another, however
    few rows that had.

    Args:
        frame: `step` (whole numbers, no nulls) and the run's signals, a row for each that was logged.
        by_epochs: whether its steps are epochs: those of a run that is resumed are counted on, so that one
            which begins again at the first is another, however little the loss had moved.
    """
    edges, begun = [0], 0
    for row, end in _back(frame):
        headed = _headed(frame, row)
        first = frame["step"][begun + (headed and row > begun + 1)]
        if frame["step"][row] > frame["step"][begun] and not frame["step"][row] < first:
            continue
        if headed or (row - begun >= _OWN and _anew(frame, edges[-1], row, end, by_epochs)):
            edges.append(row)
        begun = row
    return [frame[begin:end] for begin, end in pairwise([*edges, frame.height])]


def counted_on(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows of one run with steps that go on where its counter began again, and how often it did."""
    steps = frame["step"]
    rows = _backwards(steps).to_list()
    if rows and not _counts_in_epochs(frame):
        rows = [row for row, end in _back(frame) if _goes_on(frame, 0, row, end)]
    if not rows:
        return frame, 0
    change = steps.diff().drop_nulls()
    gap = round(to_float(change.filter(change > 0).median())) if (change > 0).any() else 1
    jumps = [int(steps[row - 1]) + gap - int(steps[row]) for row in rows]
    added = pl.zeros(frame.height, dtype=pl.Int64, eager=True).scatter(rows, jumps).cum_sum()
    return frame.with_columns((steps + added).alias("step")), len(rows)


def _backwards(steps: pl.Series) -> pl.Series:
    """The rows whose step is lower than that of the row before."""
    return (steps.diff() < 0).fill_null(False).arg_true()


def _back(frame: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """Each row at which the steps go back, with the one at which they next do; none, where they often do."""
    rows = _backwards(frame["step"]).to_list()
    if len(rows) <= _MOST:
        yield from pairwise([*rows, frame.height])


def _counts_in_epochs(frame: pl.DataFrame) -> bool:
    """Whether the steps go back wherever a new epoch begins, and nowhere else."""
    epochs = _epochs(frame)
    if epochs is None or epochs.null_count():
        return False
    change, back = epochs.diff().fill_null(0), frame["step"].diff().fill_null(0) < 0
    return bool(back.any()) and bool((change >= 0).all()) and bool((change.filter(back) > 0).all())


def _epochs(frame: pl.DataFrame) -> pl.Series | None:
    column = frame["epoch"] if "epoch" in frame.columns else None
    return column if column is not None and column.dtype.is_numeric() else None


def _headed(frame: pl.DataFrame, row: int) -> bool:
    """Whether the heading stands again above the row."""
    return HEADINGS in frame.columns and frame[HEADINGS][row] > frame[HEADINGS][row - 1]


def _anew(frame: pl.DataFrame, begun: int, row: int, end: int, by_epochs: bool) -> bool:
    """Whether what is logged from `row` to `end` is another run than the one from `begun` to `row`."""
    epochs, loss = _epochs(frame), _losses(frame, begun, row, end)
    if epochs is not None and (epochs[row] or 0) > (epochs[begun] or 0):
        return False
    if loss is None:
        return _was_lost(frame, row, end)
    again = by_epochs and frame["step"][row] == frame["step"][begun]
    return loss.begins_anew or (again and loss.moved and (loss.leaps or not loss.goes_on))


def _was_lost(frame: pl.DataFrame, row: int, end: int) -> bool:
    """Whether the `_LEVEL` losses before `row` were NaN or Inf, and those up to `end` begin finite.

    A run that told nothing else before was lost from its beginning, and begins there again.
    """
    if "loss" not in frame.columns:
        return False
    before, after = (
        some.drop_nulls().cast(float).is_finite() for some in (frame["loss"][:row], frame["loss"][row:end])
    )
    return len(before) >= _LEVEL and len(after) > 0 and not before[-_LEVEL:].any() and bool(after[0])


def _goes_on(frame: pl.DataFrame, begun: int, row: int, end: int) -> bool:
    """Whether the steps begin again at `row`, and the loss goes on from where it had come to."""
    if frame["step"][row] > frame["step"][begun]:
        return False
    loss = _losses(frame, begun, row, end)
    return loss is not None and loss.goes_on


@dataclass(frozen=True)
class _Losses:
    """Where the loss of some rows began and had come to, and where that of the rows after them begins."""

    first: float
    last: float
    here: float
    change: float  # from row to row, in the median
    lately: float  # the highest of its later half
    next: float  # the very first of the rows after them

    @property
    def goes_on(self) -> bool:
        """Whether it begins nearer to where it had come to."""
        return abs(self.here - self.last) < abs(self.here - self.first)

    @property
    def leaps(self) -> bool:
        """Whether it begins far above where it had come to, as no epoch of a run that goes on does."""
        return self.next > _LEAP * self.lately > 0

    @property
    def moved(self) -> bool:
        """Whether it had come away from where it began."""
        return self.first != self.last

    @property
    def begins_anew(self) -> bool:
        """Whether it is back where it began, or beyond, having come away from there."""
        moved, back = self.first - self.last, self.here - self.last
        clearly = max(_CLEARLY * abs(self.first), _STEPS * self.change)
        return abs(moved) > min(_MOVED * abs(self.first), clearly) and back / moved > 1 / 2


def _losses(frame: pl.DataFrame, begun: int, row: int, end: int) -> _Losses | None:
    """The losses around `row`, or the validation losses where no other is known; None for one row.

    A loss of exactly 0 is none, and says nothing of where a run stands.
    """
    for name in ("loss", "val_loss"):
        if name not in frame.columns:
            continue
        before, after = (
            values.filter((values.is_finite() & (values != 0)).fill_null(False))
            for values in (frame[name][begun:row].cast(float), frame[name][row:end].cast(float))
        )
        if len(before) > 1 and len(after):
            span = min(_LEVEL, 1 + len(before) // _STEEP)
            parts = before[:span], before[-span:], after[:span], before.diff().abs()
            first, last, here, change = (to_float(part.median()) for part in parts)
            lately = to_float(before[len(before) // 2 :].max())
            return _Losses(first, last, here, change, lately, float(after[0]))
    return None
