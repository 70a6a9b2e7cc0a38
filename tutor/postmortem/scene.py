"""The scene: the few numbers around the step where it began, measured once for symptoms and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tutor import detectors
from tutor.detectors.windows import Baseline, Window, baseline, finite, rows
from tutor.run import Run

EMA_STEPS = 50
"""Span of the EMA that gives the pre-spike loss; also how long after the peak the loss is read."""
LOOK_AHEAD = 500
"""Steps in which a recovery is looked for: not whether it came in time, as the tree asks, but when."""

RULES = ("bad_batch", "lr_jump", "recovery")
"""The detectors whose numbers a scene needs, so that a post-mortem judges as the walk before it did."""

Rules = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Scene:
    """Where it began and how high it rose.

    Attributes:
        row: the row of the step where it began, None where no step is under discussion.
        peak_row: the row of the greatest loss in the 50 steps from there, or of the first non-finite one.
        bad_row: the first row whose loss is NaN or Inf, None where there is none.
        rules: the tree's numbers of each detector of RULES.
    """

    run: Run
    rules: Rules
    row: int | None
    peak_row: int | None
    bad_row: int | None

    @property
    def began(self) -> int | None:
        """The step where it began."""
        return None if self.row is None else int(self.run.steps[self.row])

    @property
    def _window(self) -> Window:
        return self.rules["bad_batch"]["window"]

    @property
    def span(self) -> int:
        """Rows of the window before it began, by which the usual is known."""
        return self._window.count(self.run)

    def at(self, signal: str, row: int | None) -> float | None:
        """A signal's value at a row, NaN and Inf included; None where it was not recorded."""
        return None if row is None or not self.run.has(signal) else self.run[signal][row]

    def usual(self, signal: str, row: int | None = None) -> Baseline | None:
        """A scalar signal's mean and std over the window before it began (or before `row`)."""
        row = self.row if row is None else row
        if row is None or not self.run.has(signal):
            return None
        return baseline(self.run, signal, row, self._window)

    def worst(self, signal: str) -> float | None:
        """The greatest value from where it began to the peak; NaN or Inf if the signal is that there."""
        if self.row is None or not self.run.has(signal):
            return None
        values = self.run[signal][self.row : self.peak_row + 1].drop_nulls().cast(pl.Float64)
        bad = values.filter(~values.is_finite())
        return (bad[0] if len(bad) else values.max()) if len(values) else None

    def ema_before(self) -> float | None:
        """The 50-step EMA of the loss at the row before it began."""
        if not self.row or not self.run.has("loss"):
            return None
        before = finite(self.run["loss"][: self.row]).drop_nulls()
        return float(before.ewm_mean(span=rows(self.run, EMA_STEPS, 2))[-1]) if len(before) else None

    def recovered_in(self) -> int | str | None:
        """Steps from the beginning to recovery; None: it did not; "": the log can't tell."""
        if self.bad_row is not None:
            return None
        asked = self.rules["recovery"]
        numbers = {**asked, "within": replace(asked["within"], steps=LOOK_AHEAD)}
        finding = detectors.apply("recovery", self.run, numbers, self.began)
        if finding.outcome == "yes":
            return finding.facts["after"]
        tail = self.row is not None and len(self.run) - self.row > rows(self.run, EMA_STEPS)
        return None if finding.outcome == "no" or (tail and finding.facts.get("bound") is not None) else ""


def survey(run: Run, focus: int | None, rules: Rules) -> Scene:
    """The scene at `focus` or, without one, at the first NaN or Inf of the loss."""
    loss = run["loss"] if run.has("loss") else pl.Series("loss", [], dtype=pl.Float64)
    bad = (~loss.cast(pl.Float64).is_finite()).fill_null(False).arg_true()
    bad_row = int(bad[0]) if len(bad) else None
    if len(run) == 0 or (focus is None and bad_row is None):
        return Scene(run, rules, None, None, bad_row)
    row = run.row_at(focus) if focus is not None else bad_row
    end = min(len(run), row + rows(run, EMA_STEPS))
    if bad_row is not None and row <= bad_row < end:
        return Scene(run, rules, row, bad_row, bad_row)
    near = finite(run["loss"])[row:end] if run.has("loss") else loss
    peak = row + int(near.arg_max()) if near.count() else row
    return Scene(run, rules, row, peak, bad_row)
