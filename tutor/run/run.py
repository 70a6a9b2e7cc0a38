"""The run itself: its columns, and what is known of each.

A run knows nothing of where it came from: readers make it, detectors and plots read it. Signals are
columns named as users know them (`step`, `loss`, `val_loss`, `grad_norm` before clipping, `lr` ...); a
value that was not logged at a row is null, one that was NaN or Inf is just that.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from tutor.run.facts import Known
from tutor.run.manifest import Manifest
from tutor.run.remark import IN_EPOCHS, Remark
from tutor.words import plain

if TYPE_CHECKING:  # polars takes as long to import as the whole app: only who reads a log pays for it
    import polars as pl

    from tutor.run.replay import Replay


_OF_TOKENS = ("tokens_per_second", "token_loss_hist", "worst_tokens", "rare_tokens")
"""Signals that only a run over tokens records."""


class BadRunError(ValueError):
    """A run that can't be read: what is wrong and how to mend it, in one line that is safe to draw."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))


@dataclass(frozen=True)
class Checkpoint:
    """A saved state.

    Attributes:
        resumes_at: the step that training goes on with: the state is the one before that step.
        path: its file; None where that wasn't kept.
    """

    resumes_at: int
    path: Path | None = None


@dataclass(frozen=True)
class Chosen:
    """The checkpoint that the trainer itself chose as its best one.

    Attributes:
        step: at which it was saved.
        metric: the log's name of what it was chosen by, "" where that isn't known.
        value: of the metric there.
    """

    step: int
    metric: str = ""
    value: float | None = None


@dataclass(frozen=True)
class Aggregation:
    """What a trainer made of a signal's values before it logged one.

    Attributes:
        over: "instant": the value at its step; "window": the mean since the row before; "running": an
            average over many rows, such as an EMA or an epoch's mean so far.
        shows_nan: whether a NaN would be seen in the log; some trainers replace what isn't finite, or leave
            it out.
    """

    over: Literal["instant", "window", "running"] = "instant"
    shows_nan: bool = True


P = ParamSpec("P")
T = TypeVar("T")


def once(measure: Callable[Concatenate[Run, P], T]) -> Callable[Concatenate[Run, P], T]:
    """`measure(run, ...)`, computed once for each run and arguments, which are hashable.

    Several rules of a walk ask for the same statistic of a run, and a run never changes.
    """

    @wraps(measure)
    def measured(run: Run, *args: P.args, **kwargs: P.kwargs) -> T:
        key = measure, args, tuple(kwargs.items())
        if key not in run._measured:
            run._measured[key] = measure(run, *args, **kwargs)
        return cast("T", run._measured[key])

    return measured


Counts = Literal["steps", "epochs", "rows"]
"""What the steps of a log count: updates, passes over the data or, where nothing says, its rows."""


@dataclass(frozen=True)
class Run:
    """One training run.

    Attributes:
        path: the folder or file it was read from.
        name: what to call it on screen.
        manifest: what the run was meant to be. Empty where the format has none.
        frame: one row per logged step, ascending `step` (Int64, no repeats); other columns are
            Float64, Boolean, String, or lists of these.
        checkpoints: those saved, ascending; None where the run doesn't say.
        chosen: the checkpoint that the trainer chose as its best; None where the run doesn't say.
        sentences: the training sentences by id, where the run keeps them.
        remarks: what the reader passed over.
        aggregations: by signal, where it isn't the instant value.
        replays: steps that were taken again, as they were found beside it.
        origins: where facts of the manifest come from that the run doesn't say of itself, by their names.
        beside: what the files beside the log of another trainer set, by their own dotted names.
        own_names: by signal, what the log calls it, where that is another name than tutor's.
        counts: what a step is: an update, an epoch or, where nothing in the log says, a row.
        position: how far the log has been read, for its reader to go on from; None where it can't.
        before: the runs that were written to the same log before this one, the oldest first.
        part: what the log calls it among several, in a column of its own.
    """

    path: Path
    name: str
    manifest: Manifest
    frame: pl.DataFrame
    checkpoints: tuple[Checkpoint, ...] | None = None
    chosen: Chosen | None = None
    sentences: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    aggregations: Mapping[str, Aggregation] = field(default_factory=dict)
    replays: tuple[Replay, ...] = ()
    origins: Mapping[str, Known] = field(default_factory=dict)
    beside: Mapping[str, object] = field(default_factory=dict)
    own_names: Mapping[str, str] = field(default_factory=dict)
    counts: Counts = "steps"
    position: Hashable | None = None
    before: tuple[Run, ...] = ()
    part: str = ""
    _measured: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def by_row(self) -> bool:
        """Whether a window has to be taken in rows, since the log's steps are no updates."""
        return self.counts != "steps"

    @property
    def steps(self) -> pl.Series:
        """The logged steps, ascending."""
        return self.frame["step"]

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, signal: str) -> pl.Series:
        return self.frame[signal]

    @property
    def revision(self) -> Hashable:
        """A key for caches: it changes when the log has grown or was written anew."""
        last = int(self.steps[-1]) if len(self) else None
        return (self.path, self.position, len(self), last, len(self.checkpoints or ()))

    @property
    def mark(self) -> str:
        """A digest of the first row: it tells the log from another of that name, and stays as the log grows.

        A 0 counts as nothing: it may be taken for a value that was never measured once more rows are known.
        """
        first = {one.name: one[0] for one in self.frame.head(1) if len(one) and one.dtype.is_numeric()}
        known = sorted((name, value) for name, value in first.items() if value)
        return hashlib.sha256(repr(known).encode()).hexdigest()[:16]

    def told(self, lang: str) -> list[str]:
        """The remarks in `lang`, and what a step is where it is an epoch: sentences name steps alone."""
        said = [one.says(lang) for one in self.remarks]
        return [*said, IN_EPOCHS.says(lang)] if self.counts == "epochs" else said

    @property
    def unseen(self) -> bool:
        """Whether a part of the log that may hold a flaw couldn't be read."""
        return any(remark.unseen for remark in self.remarks)

    def has(self, signal: str) -> bool:
        """Whether the signal was recorded at least once."""
        return signal in self.frame.columns and self.frame[signal].null_count() < self.frame.height

    def logged(self, signal: str) -> Run:
        """The run in the rows that recorded `signal`: trainers often log evaluation in rows of its own."""
        rows = self._in_rows_of(signal)
        return self if rows is None else rows

    @once
    def _in_rows_of(self, signal: str) -> Run | None:
        """The run in the rows of `signal`; None where these are all."""
        known = self.frame[signal].is_not_null()
        return None if known.all() else replace(self, frame=self.frame.filter(known))

    def aggregation(self, signal: str) -> Aggregation:
        """What a value of the signal stands for."""
        return self.aggregations.get(signal, Aggregation())

    def replayed(self, *, fp32: bool = False) -> Replay | None:
        """The first of the run's own steps that was taken again in its dtype and isn't finite, or in fp32.

        In fp32 it is that of the same step.
        """
        own = [one for one in self.replays if one.as_it_was]
        failed = min((one for one in own if not one.finite), key=lambda one: one.at, default=None)
        if not fp32 or failed is None:
            return failed
        return next((one for one in own if one.at == failed.at and one.dtype == "fp32"), None)

    def knows(self, key: str) -> bool:
        """Whether the manifest says anything under `key`."""
        return self.manifest.knows(key)

    @property
    def of_tokens(self) -> bool:
        """Whether it is known to train on tokens: its loss is then a cross-entropy over them, in nats.

        By its vocabulary or by a signal of tokens; of any other run nobody can say what its loss measures.
        """
        batch = self.manifest.batch
        return bool(self.manifest.vocab_size or batch.tokens_per_row) or any(map(self.has, _OF_TOKENS))

    def row_at(self, step: int) -> int:
        """Index of the last row at or before `step` (0 when the log begins later)."""
        return max(0, bisect_right(self.steps, step) - 1)

    def value(self, signal: str, step: int) -> Any:
        """The signal at the last row at or before `step`, or None where it was not recorded."""
        return self.frame[signal][self.row_at(step)] if self.has(signal) else None

    def span_of(self, step: int, signal: str = "loss") -> tuple[int, int]:
        """The steps in one of which it began what `signal` shows at `step`: those since its row before.

        The first row of the log has none before it, so that it stands for its own step alone.
        """
        known = self.logged(signal).steps if self.has(signal) else self.steps
        place = bisect_left(known, step)
        return (int(known[place - 1]) + 1 if place else step), step

    def checkpoint_by(self, step: int) -> Checkpoint | None:
        """The last checkpoint that resumes at `step` or earlier.

        The loss at step t is that of the weights before t, which a checkpoint that resumes at t holds: where
        the loss at `step` is sound, so is this checkpoint.
        """
        return max(
            (one for one in self.checkpoints or () if one.resumes_at <= step),
            key=lambda one: one.resumes_at,
            default=None,
        )
