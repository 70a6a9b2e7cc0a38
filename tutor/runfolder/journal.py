"""A journal: the run folder of a loop that isn't ours, for plain numbers; torch isn't needed.

    from tutor.runfolder.journal import Journal

    with Journal("runs/mine", {"settings": {"grad_clip": 1.0}}) as journal:
        for step in range(1000):
            journal.add(step, loss=loss, lr=lr, grad_norm=norm)

The names of the numbers are those of `tutor.signals`. Rows wait for a lot of twenty or for half a second.
Training goes on whatever happens to the disk: what can't be written is told of once, on standard error.
"""

import atexit
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tutor
from tutor import terminal
from tutor.runfolder import FORMAT, METRICS, PACKED
from tutor.runfolder.buffer import FLUSH_ROWS, FLUSH_SECONDS, Counted, Row, RowBuffer
from tutor.runfolder.ended import forget_end, note_end
from tutor.runfolder.writer import DiskFullError, Record, RunExistsError, first_lines, is_empty, rows_in

OR_RESUME = ", or go on with the run there, resume=True"
"""What else can be done where a folder is taken."""


class Journal:
    """The writing end of a run folder, for training that has to go on whatever happens to it.

    Attributes:
        folder: the run folder.
        next_step: the step after the last one in the log; 0 in a new one.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        manifest: Mapping[str, Any] | None = None,
        *,
        resume: bool = False,
        before: int | None = None,
        writes: bool = True,
        measured: Callable[[], Sequence[Row]] | None = None,
        flush_rows: int = FLUSH_ROWS,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        """A run folder, its manifest written at once.

        Args:
            folder: where it is to be; it mustn't exist, unless `resume`.
            manifest: what the run is meant to be, by the names of `tutor.run.Manifest`; other keys are kept.
            resume: go on with the folder where there is one; its manifest stays as it is.
            before: the first step to come, where that is known: rows of a resumed log from it on, which are
                going to be trained again, are dropped.
            writes: false in one of several processes that only has to be asked for what it measured, at the
                same steps as the first, which writes.
            measured: as for `RowBuffer`.
            flush_rows: rows are written when there are so many,
            flush_seconds: or after so long.

        Raises:
            RunExistsError: there is something at `folder`, and it isn't to be resumed.
        """
        self.folder = Path(folder)
        if writes and not resume:
            Record.refuse_taken(self.folder, OR_RESUME)
        self.next_step, counted = 0, Counted()
        self._record: Record | None = None
        self._early: Row = {}  # numbers for the row to come
        self._last: int | None = None  # the step of the newest row
        self._went_back = False
        with self._unharmed():
            if writes and resume and self.folder.exists() and not is_empty(self.folder):
                kept = _rows_before(self.folder, before)
                self.next_step, counted = _state_after(kept)
                self._record = Record.reopen(self.folder, len(kept))
                forget_end(self.folder)
            elif writes:
                self._record = Record.create(self.folder, _head(self.folder) | dict(manifest or {}))
        self._buffer = RowBuffer(
            self, measured, counted=counted, flush_rows=flush_rows, flush_seconds=flush_seconds
        )
        if measured is None:  # else who measures closes it
            self._process = os.getpid()
            atexit.register(self._left_open)

    def add(self, step: int, *, tokens: int = 0, **numbers: Any) -> None:
        """Write the rows that wait, where it is time; then add one, which waits at least for the next call.

        Args:
            step: its number, larger than the one before: counted over the whole training. A log that goes
                back is read as that of a run that was resumed, which is warned of.
            tokens: how many it was trained on, for `tokens_per_second`; 0 where that isn't known.
            numbers: by the names of `tutor.signals`, or any others: numbers, texts, lists of them, or arrays
                and tensors, which are copied out when the row is written.
        """
        if self._last is not None and step <= self._last and not self._went_back:
            self._went_back = True
            terminal.warn(
                f"tutor: step {step} is recorded after step {self._last}: a log that goes back is read as "
                "that of a run that was resumed there; count the steps over the whole training"
            )
        if self._buffer.due:
            self._buffer.flush()
        self._buffer.put({"step": int(step)} | self._early | numbers, tokens)
        self._early, self._last = {}, int(step)

    def measure(self, **numbers: Any) -> None:
        """Add numbers to the newest row, or to the next one where that was written: a validation's loss."""
        newest = self._buffer.newest
        (self._early if newest is None else newest).update(numbers)

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write whole rows now."""
        if self._record:
            with self._unharmed():
                self._record.append(rows)

    def flush(self) -> None:
        """Write what waits."""
        self._buffer.flush()

    def close(self, *, ended: bool = True) -> None:
        """Write what waits, and no more. A second time does nothing.

        Args:
            ended: whether the training is over, which is noted for whoever follows it; it may have failed.
        """
        atexit.unregister(self._left_open)
        self._buffer.flush()
        if self._record and ended and self._last is not None:
            with self._unharmed():
                note_end(self.folder, self._last)
        if self._record:
            self._record.close()
            self._record = None

    def _left_open(self) -> None:
        """The process ends: close it, unless it is that of the process which this one was forked from."""
        if os.getpid() == self._process:
            self.close(ended=False)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        self.close(ended=raised is None)

    @contextmanager
    def _unharmed(self) -> Iterator[None]:
        """Training goes on without a record where the disk takes no more."""
        try:
            yield
        except (DiskFullError, OSError) as error:
            terminal.warn(f"tutor: {error}; training goes on and isn't recorded from here on")
            if self._record:
                self._record.close()
                self._record = None


def _head(folder: Path) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": folder.resolve().name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "recorder": tutor.__version__,
    }


def _rows_before(folder: Path, step: int | None) -> list[Row]:
    """The rows of the log in `folder` whose step is before `step`; all where it is None.

    Raises:
        RunExistsError: the log was packed.
    """
    if not (folder / METRICS).is_file() and (folder / PACKED).is_file():
        raise RunExistsError(f"{folder / PACKED} is packed: gunzip it to go on with the run")
    rows = [json.loads(line) for line in first_lines(folder, rows_in(folder))]
    return [row for row in rows if step is None or row["step"] < step]


def _state_after(rows: Sequence[Row]) -> tuple[int, Counted]:
    """The step after the rows, and what they had counted."""
    if not rows:
        return 0, Counted()
    last = rows[-1]
    emas = [float(row["loss_ema"]) for row in rows if row.get("loss_ema") is not None]
    return last["step"] + 1, Counted(
        loss_ema=emas[-1] if emas else None, skipped_steps=last.get("skipped_steps") or 0
    )
