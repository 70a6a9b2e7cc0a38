"""The loop: forward, backward, clip, step, and everything logged on the way.

`train` runs it and fills a run folder; `resume` takes an interrupted run up again. The loop asks nothing
about breaks: what differs between runs is in the recipe.
"""

# ruff: noqa: N806 (capitals name the axes of a tensor)

import contextlib
import math
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import tutor
from tutor.lab import checkpoint
from tutor.lab.instruments import TOKEN_LOSS_EDGES, Instruments, Silent
from tutor.lab.loader import Batch, held_out
from tutor.lab.recipe import DTYPES, Recipe, assemble
from tutor.lab.record import DiskFullError, Record
from tutor.lab.tokenizer import RARE_BELOW
from tutor.settings import Settings

EMA_SPAN = 50
PROBE_ROWS = 2
FLUSH_ROWS, FLUSH_SECONDS = 20, 0.5


class Trainer:
    """The state of one run: weights, optimizer, scaler, place in the stream."""

    def __init__(self, recipe: Recipe, *, logging: bool = True):
        self.recipe, self.settings = recipe, recipe.settings
        settings = recipe.settings
        torch.set_num_threads(settings.threads)  # sums round as the threads split them
        self.model = recipe.model(settings, recipe.tokenizer.size).to(settings.device)
        self.optimizer = recipe.optimizer(self.model, settings)
        self.scaler = recipe.scaler(settings)
        self.loader = recipe.loader(settings, recipe.corpus, recipe.tokenizer)
        self.instruments = Instruments(settings, self.optimizer) if logging else Silent()
        self.held_out = held_out(settings, recipe.corpus, recipe.tokenizer)
        self.probe = self._on_device(self.held_out, PROBE_ROWS)
        self._one = torch.ones((), device=settings.device)

    def step(self, step: int) -> dict[str, Any]:
        """Train one step; what is known of it without asking the device."""
        settings = self.settings
        lr = self.recipe.schedule(step)
        self.optimizer.set_lr(lr)
        batches = self.loader.step(step)
        for batch in batches:
            moved = self._on_device(batch)
            losses_BT, hidden = self.losses(moved)
            self.instruments.forward(hidden, losses_BT, moved, self.probe_loss)
            loss = self.recipe.reduce(losses_BT) / settings.accumulation
            self.scaler.scale(loss).backward()
        self.instruments.wait()
        self.optimizer.gather()
        scale = self.scaler.scale(self._one)
        self.scaler.unscale_(self.optimizer.adam)
        norm, clipped = self.recipe.clip(self.optimizer.grads)
        self.instruments.gradients(norm, clipped, scale)
        self.scaler.step(self.optimizer.adam)
        self.scaler.update()
        self.instruments.updated(self.scaler.scale(self._one))
        return {"step": step, "lr": lr} | _describe(batches, self.recipe)

    def losses(self, batch: Batch) -> tuple[Tensor, list[Tensor]]:
        """The loss of each token, (B, T), and the hidden streams."""
        dtype = DTYPES[self.settings.dtype]
        with torch.autocast(self.settings.device, dtype, enabled=dtype != torch.float32):
            logits_BTV, hidden = self.model(batch.x_BT)
        return self.recipe.token_losses(logits_BTV.float(), batch.y_BT), hidden

    def probe_loss(self) -> Tensor:
        """The loss on the fixed held-out batch, left on the device."""
        with torch.no_grad():
            return self.losses(self.probe)[0].mean()

    def validate(self) -> float:
        """The loss on everything held out."""
        with torch.no_grad():
            return self.losses(self._on_device(self.held_out))[0].mean().item()

    def state(self) -> dict[str, Any]:
        """Everything that the steps to come depend on."""
        return {
            "model": {name: weight.detach().clone() for name, weight in self.model.named_parameters()},
            "optimizer": self.optimizer.adam.state_dict(),
            "scaler": self.scaler.state_dict(),
            "loader": self.loader.state(),
            "rng": torch.get_rng_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state`."""
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.copy_(state["model"][name])
        self.optimizer.adam.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.loader.restore(state["loader"])
        torch.set_rng_state(state["rng"].cpu())

    def _on_device(self, batch: Batch, rows: int | None = None) -> Batch:
        x, y = (t[:rows].to(self.settings.device, non_blocking=True) for t in (batch.x_BT, batch.y_BT))
        return Batch(x, y, batch.sentence_ids, batch.rare, batch.hash)


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


def describe(trainer: Trainer) -> dict[str, Any]:
    """The manifest's part that says what the run is meant to be."""
    settings, recipe = trainer.settings, trainer.recipe
    weights = dict(trainer.model.named_parameters())
    return {
        "settings": settings.model_dump(),
        "seed": settings.seed,
        "dtype": settings.dtype,
        "device": settings.device,
        "threads": settings.threads,
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "tokenizers": version("tokenizers"),
            "platform": f"{platform.system()} {platform.machine()}",
        },
        "vocab_size": recipe.tokenizer.size,
        "parameters": sum(weight.numel() for weight in weights.values()),
        "layers": settings.n_layer,
        "groups": [
            {
                "name": group.name,
                "weight_decay": group.weight_decay,
                "tensors": len(group.names),
                "parameters": group.flat.numel(),
                "names": list(group.names),
            }
            for group in trainer.optimizer.groups
        ],
        "schedule": {
            "kind": "cosine",
            "warmup_steps": settings.warmup_steps,
            "schedule_steps": settings.schedule_steps,
            "lr_max": settings.lr,
            "lr_min": settings.min_lr,
        },
        "batch": {
            "rows": settings.batch_size,
            "tokens_per_row": settings.block_size,
            "accumulation": settings.accumulation,
        },
        "initial": {
            name: {"shape": list(w.shape), "mean": w.mean().item(), "std": w.std(correction=0).item()}
            for name, w in weights.items()
        },
        "token_loss_edges": TOKEN_LOSS_EDGES,
        "rare_below": RARE_BELOW,
        "corpus": {
            "train": len(recipe.corpus.train),
            "val": len(recipe.corpus.validation),
            "boilerplate": len(recipe.corpus.boilerplate),
            "hash": recipe.corpus.hash,
        },
    }


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
        rows = [self._row(k, m, rate) for k, m in zip(waiting, measured, strict=True)]
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


def _describe(batches: list[Batch], recipe: Recipe) -> dict[str, Any]:
    """What went into a step."""
    rare: dict[int, int] = {}
    for batch in batches:
        for token, count in batch.rare.items():
            rare[token] = rare.get(token, 0) + count
    order = sorted(rare, key=lambda token: (-rare[token], token))
    return {
        "sentence_ids": [i for batch in batches for i in batch.sentence_ids],
        "rare_tokens": [recipe.tokenizer.name(token) for token in order],
        "rare_counts": [rare[token] for token in order],
        "batch_hash": "".join(batch.hash for batch in batches),
    }


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
