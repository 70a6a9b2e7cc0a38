"""Run: a manifest and columns of numbers. The noun that every room shares.

A run knows nothing of where it came from: readers make it, detectors and plots read it. Signals are
columns named as users know them (`step`, `loss`, `val_loss`, `grad_norm` before clipping, `lr` ...); a
value that was not logged at a row is null, one that was NaN or Inf is just that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # polars takes as long to import as the whole app: only who reads a log pays for it
    import polars as pl

PANELS = ("loss", "lr", "gradient", "activations", "parameters", "optimizer", "tokens", "batch", "throughput")
"""The nine panels, numbered from 1 in this order on every screen and named so in trees."""


@dataclass(frozen=True)
class Checkpoint:
    """A saved state of a run.

    Attributes:
        resumes_at: the step that comes next: the state is the one before it.
        path: its file; None where that wasn't kept.
    """

    resumes_at: int
    path: Path | None = None


class BadRunError(ValueError):
    """A run that can't be read: the message says what is wrong and how to mend it, in one line."""


@dataclass(frozen=True)
class Run:
    """One training run.

    Attributes:
        path: the folder or file it was read from.
        name: what to call it on screen.
        manifest: what the run was meant to be: settings, seed, versions, device, dtype, groups,
            schedule. Empty where the format has none.
        frame: one row per logged step, ascending `step` (Int64, no repeats); other columns are
            Float64, Boolean, String, or lists of these.
        checkpoints: steps at which a checkpoint was saved, ascending; None where the run doesn't say.
        kept: those of them whose file is still in the run's folder.
        sentences: the training sentences by id, where the run keeps them.
        remarks: what the reader passed over, one line each.
    """

    path: Path
    name: str
    manifest: Mapping[str, Any]
    frame: pl.DataFrame
    checkpoints: tuple[int, ...] | None = None
    kept: tuple[int, ...] = ()
    sentences: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    @property
    def steps(self) -> pl.Series:
        """The logged steps, ascending."""
        return self.frame["step"]

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, signal: str) -> pl.Series:
        return self.frame[signal]

    def has(self, signal: str) -> bool:
        """Whether the signal was recorded at least once."""
        return signal in self.frame.columns and self.frame[signal].null_count() < self.frame.height

    def logged(self, signal: str) -> Run:
        """The run in the rows that recorded `signal`: trainers often log evaluation in rows of its own."""
        known = self.frame[signal].is_not_null()
        return self if known.all() else replace(self, frame=self.frame.filter(known))

    def knows(self, key: str) -> bool:
        """Whether the manifest says anything under `key`."""
        return self.manifest.get(key) is not None

    def row_at(self, step: int) -> int:
        """Index of the last row at or before `step` (0 when the log begins later)."""
        return max(0, int(self.steps.search_sorted(step, side="right")) - 1)

    def value(self, signal: str, step: int) -> Any:
        """The signal at the last row at or before `step`, or None where it was not recorded."""
        return self.frame[signal][self.row_at(step)] if self.has(signal) else None
