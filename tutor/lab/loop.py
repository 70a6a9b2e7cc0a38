"""The loop: step after step, everything logged on the way.

`train` runs it and fills a run folder; `resume` takes an interrupted run up again.
"""

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import tutor
from tutor.lab import checkpoint
from tutor.lab.manifest import describe
from tutor.lab.recipe import assemble
from tutor.lab.record import DiskFullError, Record
from tutor.lab.trainer import Trainer
from tutor.settings import Settings

EMA_SPAN = 50
FLUSH_ROWS, FLUSH_SECONDS = 20, 0.5


def train(
    settings: Settings,
    *,
    out: Path,
    name: str,
    break_name: str | None = None,
    role: str = "plain",
    command: str = "",
    on_row: Callable[[dict], None] | None = None,
) -> int:
    """Train as `settings` say and record it in the folder `out`; the number of steps that were done.

    Fewer than `settings.steps` means that the run was interrupted (Ctrl-C), its folder whole.

    Raises:
        ValueError: `out` exists, or the device isn't there.
        DiskFullError: the disk is full; the rows so far are readable.
    """
    recipe = assemble(settings)
    trainer = Trainer(recipe)
    manifest = {
        "format": 1,
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "tutor": tutor.__version__,
        "break": break_name,
        "role": role,
    } | describe(trainer)
    record = Record.create(out, manifest, recipe.corpus.texts)
    return _run(trainer, record, 0, {}, on_row)


def resume(run: Path, settings: Settings, on_row: Callable[[dict], None] | None = None) -> int:
    """Take the interrupted `run` up at its last checkpoint; the rows after it are computed again.

    Raises:
        ValueError: a checkpoint that can't be loaded.
        DiskFullError: the disk is full.
    """
    trainer = Trainer(assemble(settings))
    steps = checkpoint.saved(run)
    start, counted = 0, {}
    if steps:
        state = checkpoint.load(checkpoint.path_of(run, steps[-1]), trainer.settings.device)
        trainer.restore(state)
        start, counted = state["next_step"], state["counted"]
    return _run(trainer, Record.reopen(run, start), start, counted, on_row)


def _run(
    trainer: Trainer, record: Record, start: int, counted: dict, on_row: Callable[[dict], None] | None
) -> int:
    settings, step = trainer.settings, start
    log = Log(trainer, record, counted, on_row or (lambda row: None))
    every = settings.checkpoint_every or settings.steps + 1
    try:
        with _interruptible() as interrupted:
            for step in range(start, settings.steps):
                asked = {"val_loss": trainer.validate()} if step % settings.val_every == 0 else {}
                if checkpoint.path_of(record.folder, step).exists():
                    asked["checkpoint"] = checkpoint.path_of(record.folder, step).name
                log.add(trainer.step(step) | asked)
                if (step + 1) % every == 0:
                    log.flush()
                    checkpoint.save(record.folder, step + 1, trainer.state() | {"counted": log.counted})
                if interrupted():
                    return step + 1
            return settings.steps
    except OSError as error:
        raise DiskFullError(record.stopped(error)) from None
    finally:
        with contextlib.suppress(DiskFullError):
            log.flush()
        record.close()


class Log:
    """Joins what the loop knows to what the instruments measured, and writes rows in small lots."""

    def __init__(self, trainer: Trainer, record: Record, counted: dict, on_row: Callable[[dict], None]):
        self._trainer, self._record, self._on_row = trainer, record, on_row
        self._waiting: list[dict] = []
        self._since = time.perf_counter()
        self.counted = {"loss_ema": None, "skipped_steps": 0} | counted  # what a row takes from those before

    def add(self, known: dict) -> None:
        """One more step; write if enough has gathered or enough time has gone by."""
        self._waiting.append(known)
        due = time.perf_counter() - self._since > FLUSH_SECONDS
        if due or len(self._waiting) >= FLUSH_ROWS or known["step"] == 0:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        waiting, self._waiting = self._waiting, []
        measured = self._trainer.instruments.read()
        now = time.perf_counter()
        settings = self._trainer.settings
        tokens = len(waiting) * settings.accumulation * settings.batch_size * settings.block_size
        rate, self._since = tokens / (now - self._since), now
        # not strict: a second Ctrl-C can fall between a step's measuring and its being known
        rows = [self._row(k, m, rate) for k, m in zip(waiting, measured, strict=False)]
        self._record.append(rows)
        for row in rows:
            self._on_row(row)

    def _row(self, known: dict, measured: dict, rate: float) -> dict:
        loss = measured["loss"]
        ema = self.counted["loss_ema"]
        if ema is None:
            ema = loss
        elif math.isfinite(loss):  # NaN and Inf show in `loss`; an average of them says nothing more
            ema += 2 / (EMA_SPAN + 1) * (loss - ema)
        skipped = self.counted["skipped_steps"] + measured.pop("skipped")
        self.counted = {"loss_ema": ema, "skipped_steps": skipped}
        if self._trainer.settings.dtype != "fp16":
            measured["loss_scale"] = None
        name = self._trainer.recipe.tokenizer.name
        measured["worst_tokens"] = [name(token) for token in measured["worst_tokens"]]
        return {"step": known["step"]} | measured | known | self.counted | {"tokens_per_second": rate}


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM ask the loop to stop after its step; a second one stops it there and then."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    held = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: object) -> None:
        asked.set()
        signal.signal(number, held[number])

    for number in held:
        signal.signal(number, ask)
    try:
        yield asked.is_set
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
