"""Rows on their way into a log: gathered in memory, completed, and handed on in small lots.

What a row takes from those before it (the average of the loss, how many steps were skipped) and from the
clock (tokens per second) is added here, for every loop that is recorded.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

EMA_SPAN = 50  # steps; the newest loss weighs 2 / (span + 1)
FLUSH_ROWS = 20  # where rows are measured on a device, each lot copies from it, a CPU-GPU sync point
FLUSH_SECONDS = 0.5  # slow steps are written sooner, for whoever follows the run

Row = dict[str, Any]


class Rows(Protocol):
    """Where rows go."""

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows."""
        ...


class Counted(BaseModel):
    """What a row takes from those before it: the average of the loss, and how many steps were skipped."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    loss_ema: float | None = None
    skipped_steps: int = Field(default=0, ge=0)

    def with_row(self, row: Mapping[str, Any]) -> "Counted":
        """What is counted once the row, with its `loss` and whether it was `skipped`, is among them."""
        loss, ema = row.get("loss"), self.loss_ema
        if ema is None:
            ema = loss
        elif loss is not None and math.isfinite(loss):  # an average of NaN and Inf says nothing more
            ema += 2 / (EMA_SPAN + 1) * (loss - ema)
        return Counted(loss_ema=ema, skipped_steps=self.skipped_steps + int(row.get("skipped") or False))


class RowBuffer:
    """The rows that wait to be written.

    Attributes:
        counted: what the rows handed on so far have counted.
    """

    def __init__(
        self,
        to: Rows,
        measured: Callable[[], Sequence[Row]] | None = None,
        *,
        counted: Counted | None = None,
        on_row: Callable[[Row], None] | None = None,
        flush_rows: int = FLUSH_ROWS,
        flush_seconds: float = FLUSH_SECONDS,
        since: float | None = None,
    ) -> None:
        """Rows that go on to `to`.

        Args:
            to: where they go.
            measured: called once a lot, for what was measured at each of its steps, oldest first; None where
                a row is whole as it is added.
            counted: what the rows before the first one had counted.
            on_row: called with each row that was handed on.
            flush_rows: a lot is full with so many.
            flush_seconds: or after so long.
            since: when the first step began, by `time.perf_counter`; now, where it isn't given.
        """
        self._to, self._measured, self._on_row = to, measured, on_row
        self._flush_rows, self._flush_seconds = flush_rows, flush_seconds
        self._waiting: list[Row] = []
        self._tokens = 0
        self._since = self._latest = time.perf_counter() if since is None else since
        self.counted = counted or Counted()

    def put(self, row: Row, tokens: int = 0) -> None:
        """One more row, which waits.

        Args:
            row: with its `step`. Tensors in it are copied out as it is handed on, and not before.
            tokens: how many the step was trained on; 0 where that isn't known.
        """
        self._waiting.append(row)
        self._tokens += tokens
        self._latest = time.perf_counter()

    @property
    def due(self) -> bool:
        """Whether the lot is full, or it is time."""
        late = time.perf_counter() - self._since > self._flush_seconds
        return bool(self._waiting) and (late or len(self._waiting) >= self._flush_rows)

    @property
    def newest(self) -> Row | None:
        """The last row that was added, to be filled further; None once it was handed on."""
        return self._waiting[-1] if self._waiting else None

    def flush(self) -> None:
        """Hand on what waits."""
        waiting, self._waiting = self._waiting, []
        measured = self._measured() if self._measured else [{} for _ in waiting]
        # From the last row of the lot before to the last of this one: the steps that made its rows.
        seconds = self._latest - self._since
        speed = {"tokens_per_second": self._tokens / seconds} if self._tokens and seconds > 0 else {}
        self._tokens, self._since = 0, self._latest
        # not strict: a second Ctrl-C can fall between a step's measuring and its being known
        rows = [self._completed(k, m, speed) for k, m in zip(waiting, measured, strict=False)]
        self._to.append(rows)
        for row in rows:
            if self._on_row:
                self._on_row(row)

    def _completed(self, known: Row, measured: Row, speed: Row) -> Row:
        row = {"step": known["step"]} | measured | {name: _copied_out(value) for name, value in known.items()}
        self.counted = self.counted.with_row(row)
        counted: Row = {} if row.get("loss") is None else {"loss_ema": self.counted.loss_ema}
        if "skipped" in row:
            del row["skipped"]
            counted["skipped_steps"] = self.counted.skipped_steps
        return row | {name: value for name, value in (counted | speed).items() if name not in row}


def _copied_out(value: Any) -> Any:
    """Plain numbers; an array or a tensor, of torch or any other library, is copied out."""
    return value.tolist() if hasattr(value, "tolist") else value
