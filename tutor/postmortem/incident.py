"""Incident: the few numbers around the step where it began, measured once for symptoms and evidence."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tutor import detectors
from tutor.detectors import windows
from tutor.detectors.windows import Baseline, Window, finite
from tutor.postmortem.thresholds import AS_BEFORE, BASELINE, EMA_STEPS, LOOK_AHEAD, WIDE
from tutor.run import Run, known_float, to_float

JUDGED_BY = (
    "bad_batch",
    "lr_jump",
    "recovery",
    "repeated_batch",
    "ends_high",
    "learned",
    "validation_turns",
    "gradient_course",
    "zero_gradient",
    "update_size",
    "broken_after",
    "oscillates",
    "comes_back",
    "settles",
    "quick_second_moment",
)
"""The detectors whose numbers an incident is judged by, so that a post-mortem says what the walk said."""

Numbers = Mapping[str, Mapping[str, Any]]
"""The tree's numbers of each detector of JUDGED_BY that it uses."""


@dataclass(frozen=True)
class Incident:
    """Where it began and how high it rose.

    Attributes:
        numbers: the tree's; a detector that the tree doesn't use is missing.
        rows: from the row where it began to that of the greatest loss in the 50 steps from there, or of the
            first loss that is NaN or Inf, which began where the loss left its level; None where no step is
            under discussion.
        bad_row: the first row whose loss is NaN or Inf, None where there is none.
    """

    run: Run
    numbers: Numbers
    rows: range | None
    bad_row: int | None

    @property
    def row(self) -> int | None:
        """The row where it began."""
        return None if self.rows is None else self.rows.start

    @property
    def began(self) -> int | None:
        """The step where it began."""
        return None if self.rows is None else int(self.run.steps[self.rows.start])

    @property
    def peak_row(self) -> int | None:
        """The row of the peak."""
        return None if self.rows is None else self.rows.stop - 1

    @property
    def bad_step(self) -> int | None:
        """The first step whose loss is NaN or Inf."""
        return None if self.bad_row is None else int(self.run.steps[self.bad_row])

    @property
    def span(self) -> int:
        """How many rows before it began give the baseline."""
        return self._window.count(self.run)

    @property
    def spans_rows(self) -> bool:
        """Whether the baseline is counted in rows, of a log too sparse for its steps or without any."""
        return self.run.by_row or self.span > windows.rows(self.run, self._window.steps)

    @property
    def _window(self) -> Window:
        return self.numbers.get("bad_batch", {}).get("window", BASELINE)

    @property
    def spike_ratio(self) -> float:
        """The tree's bound on the gradient norm against its baseline."""
        return self.numbers["bad_batch"]["ratio"]

    @property
    def rare_share(self) -> float:
        """The tree's bound on the share of a batch that one rare token takes, from 0 to 1."""
        return self.numbers["bad_batch"]["share"]

    def found(self, detector: str) -> detectors.Finding:
        """What one of the tree's detectors says at the step where it began, by the tree's numbers."""
        return detectors.apply(detector, self.run, self.numbers[detector], self.began)

    def at(self, signal: str, row: int | None) -> Any:
        """A signal's value at a row, NaN and Inf included; None where it was not recorded."""
        return None if row is None or not self.run.has(signal) else self.run[signal][row]

    def baseline(self, signal: str, row: int | None = None) -> Baseline | None:
        """A scalar signal's mean and std over the window before it began (or before `row`)."""
        row = self.row if row is None else row
        if row is None or not self.run.has(signal):
            return None
        return windows.baseline(self.run, signal, row, self._window)

    def worst(self, signal: str) -> float | None:
        """The greatest value from where it began to the peak; NaN or Inf if the signal is that there."""
        if self.rows is None or not self.run.has(signal):
            return None
        values = self.run[signal][self.rows.start : self.rows.stop].drop_nulls().cast(pl.Float64)
        bad = values.filter(~values.is_finite())
        return (bad[0] if len(bad) else values[values.arg_max() or 0]) if len(values) else None

    @property
    def unit(self) -> str:
        """The loss' unit, a key of tutor/words: nats where it is over tokens, none where nobody knows."""
        return "nats" if self.run.of_tokens else ""

    def before(self, signal: str) -> pl.Series:
        """The signal's finite values before it began; all of them where no step is under discussion."""
        values = finite(self.run[signal]) if self.rows is None else finite(self.run[signal][: self.row])
        return values.drop_nulls()

    def ema_before(self) -> float | None:
        """The 50-step EMA of the loss at the row before it began; of its logarithm where it spans decades."""
        if not self.row or not self.run.has("loss"):
            return None
        before = self.before("loss")
        return level_of(before, windows.rows(self.run, EMA_STEPS, 2)) if len(before) else None

    def recovered_in(self) -> float | None:
        """Steps from the peak to recovery, infinite where there was none; None where the log can't tell."""
        if self.bad_row is not None:
            return math.inf
        if self.row is None or "recovery" not in self.numbers:
            return None
        recovery = self.numbers["recovery"]
        numbers = {**recovery, "within": replace(recovery["within"], steps=LOOK_AHEAD)}
        finding = detectors.apply("recovery", self.run, numbers, self.began)
        if finding.outcome in ("yes", "late"):
            return finding.facts["after"]
        # A log that ends before those steps, but well after the peak, has shown no recovery all the same.
        long_enough = len(self.run) - self.row > windows.rows(self.run, EMA_STEPS)
        seen = long_enough and self.baseline("loss") is not None
        return math.inf if finding.outcome == "no" or seen else None


def spans_decades(values: pl.Series) -> bool:
    """Whether positive values span so many decades that a mean of them is that of the largest alone."""
    if not len(values):
        return False
    lowest, highest = to_float(values.min()), to_float(values.max())
    return 0 < lowest < highest / WIDE


def level_of(values: pl.Series, span: int) -> float:
    """The last value of an EMA over `span` rows: of the logarithm where the values span decades."""
    if spans_decades(values):
        return math.exp(values.log().ewm_mean(span=span)[-1])
    return float(values.ewm_mean(span=span)[-1])


_MOST = 50.0
"""A logarithm that no loss rises by: a constant of the method."""


def above(level: float, values: pl.Series) -> float:
    """What a level's own noise stays under; as a ratio to it where the values span decades."""
    if spans_decades(values):
        noise = AS_BEFORE * windows.noise_of(values.log())
        return level * math.exp(noise) if noise < _MOST else math.inf
    return level + AS_BEFORE * windows.noise_of(values)


def survey(run: Run, focus: int | None, numbers: Numbers) -> Incident:
    """The incident at step `focus` or, without one, at the first NaN or Inf of the loss or of what is
    trained on.
    """
    loss = run["loss"] if run.has("loss") else pl.Series("loss", [], dtype=pl.Float64)
    bad_row = _first_bad(loss)
    trained = _first_bad(run["reduced_loss"]) if run.has("reduced_loss") else None
    began = min((row for row in (bad_row, trained) if row is not None), default=None)
    row = run.row_at(focus) if focus is not None else began
    if len(run) == 0 or row is None:
        return Incident(run, numbers, None, bad_row)
    if bad_row is not None and row == bad_row:
        row = _blown_up(loss, bad_row, windows.rows(run, EMA_STEPS, 2))
    end = min(len(run), row + windows.rows(run, EMA_STEPS))
    if bad_row is not None and row <= bad_row < end:
        return Incident(run, numbers, range(row, bad_row + 1), bad_row)
    near = finite(loss)[row:end]
    return Incident(run, numbers, range(row, row + (near.arg_max() or 0) + 1), bad_row)


def _first_bad(values: pl.Series) -> int | None:
    """The first row that is NaN or Inf."""
    bad = (~values.cast(pl.Float64).is_finite()).fill_null(False).arg_true()
    return int(bad[0]) if len(bad) else None


def _blown_up(loss: pl.Series, bad_row: int, span: int) -> int:
    """The row from which the loss climbs without a break into its first NaN or Inf, or that row itself.

    What is told of the rows before it would else be of the explosion itself.
    """
    row = bad_row
    while row > max(0, bad_row - span // 2):
        before = finite(loss[max(0, row - 1 - span) : row - 1]).drop_nulls()
        last = known_float(loss[row - 1])
        if len(before) < windows.FEWEST or last is None or last <= above(level_of(before, span), before):
            break
        row -= 1
    return row
