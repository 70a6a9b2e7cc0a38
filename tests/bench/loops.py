"""The training loops that are timed, each in a process of its own.

    python -m tests.bench.loops plain FOLDER cpu

takes as many steps as each number that comes in says, and answers with the seconds they took. On the CPU
with the threads that each loop takes by itself; on "cuda" a step is over when the device has done it.
"""

import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from tutor import settings as knobs
from tutor.lab import Recorder
from tutor.lab.assembly import assemble
from tutor.lab.loop import Log
from tutor.lab.model import GPT, build_model
from tutor.lab.trainer import Trainer
from tutor.runfolder.buffer import Counted
from tutor.runfolder.writer import Record

Step = Callable[[int], object]


def _settings(device: str) -> knobs.Settings:
    return knobs.build({"device": device, "checkpoint_every": None})


def logged(folder: Path, device: str) -> Step:
    """Our loop, every column of it written to disk."""
    trainer = Trainer(assemble(_settings(device)))
    record = Record.create(folder / "run", {"command": ""}, [])
    log = Log(trainer, record, Counted(), lambda row: None, time.perf_counter())

    return lambda number: log.add(_validated(trainer, number) | trainer.step(number))


def silent(folder: Path, device: str) -> Step:
    """Our loop with logging off; it validates as often."""
    trainer = Trainer(assemble(_settings(device)), logging=False)
    return lambda number: _validated(trainer, number) | trainer.step(number)


def _validated(trainer: Trainer, number: int) -> dict[str, float]:
    return {"val_loss": trainer.validate(number)} if number % trainer.settings.val_every == 0 else {}


def plain(folder: Path, device: str) -> Step:
    """The loop people copy from nanoGPT: forward, backward, clip, AdamW and one `.item()` a step."""
    settings = _settings(device)
    recipe = assemble(settings)
    model = build_model(settings, recipe.tokenizer.size).to(device)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        lr=settings.lr,
        betas=(settings.beta1, settings.beta2),
    )
    data = torch.tensor([token for text in recipe.corpus.train for token in recipe.tokenizer.document(text)])
    rows, length = settings.batch_size, settings.block_size

    def step(number: int) -> None:
        for group in optimizer.param_groups:
            group["lr"] = recipe.schedule(number)
        starts = torch.randint(len(data) - length, (rows,)).tolist()
        x = torch.stack([data[i : i + length] for i in starts]).to(device)
        y = torch.stack([data[i + 1 : i + 1 + length] for i in starts]).to(device)
        logits, _ = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()

    return step


LARGER = {"vocab": 4096, "block_size": 256, "layers": 6, "width": 384, "heads": 6}
"""A model of 12 M parameters, for what is measured of any model."""


@dataclass
class Watched:
    """A plain loop over the larger model, 2048 tokens a step, for somebody to watch."""

    device: str
    model: nn.Module
    optimizer: torch.optim.Optimizer
    losses: Tensor
    targets: Tensor
    grad_norm: Tensor

    @classmethod
    def begun(cls, device: str, *, foreach: bool = False) -> "Watched":
        """The loop before its first step; `foreach` where the device knows no fused AdamW."""
        torch.manual_seed(0)
        with torch.device(device):
            model = GPT(**LARGER)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=foreach, fused=not foreach)
            return cls(device, model, optimizer, *torch.zeros(3))

    def step(self) -> None:
        """Forward, backward, clip, AdamW."""
        batch = torch.randint(LARGER["vocab"], (8, LARGER["block_size"] + 1), device=self.device)
        self.optimizer.zero_grad()
        logits, _ = self.model(batch[:, :-1])
        self.targets = batch[:, 1:].flatten()
        self.losses = F.cross_entropy(logits.flatten(0, 1), self.targets, reduction="none")
        self.losses.mean().backward()
        self.grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def recorded(self, recorder: Recorder) -> None:
        """Such a step, with all that the recorder can be told of it."""
        self.step()
        losses = self.losses
        recorder.step(losses.mean(), grad_norm=self.grad_norm, token_losses=losses, targets=self.targets)


def bare(folder: Path, device: str) -> Step:
    """That loop, watched by nobody."""
    loop = Watched.begun(device)
    return lambda number: loop.step()


def recorded(folder: Path, device: str) -> Step:
    """That loop, recorded: every column at every step."""
    loop = Watched.begun(device)
    recorder = Recorder(folder / "recorded", loop.model, loop.optimizer, settings={"grad_clip": 1.0})
    return lambda number: loop.recorded(recorder)


def wandb_watch(folder: Path, device: str) -> Step:
    """That loop under `wandb.watch`, as often: gradients and parameters of every step."""
    import wandb  # pyright: ignore[reportMissingImports]  # only where somebody installed it

    loop = Watched.begun(device)
    run = wandb.init(mode="offline", dir=folder, settings=wandb.Settings(silent=True))
    run.watch(loop.model, log="all", log_freq=1)

    def step(number: int) -> None:
        loop.step()
        run.log({"loss": loop.losses.mean()})

    return step


def items(folder: Path, device: str) -> Step:
    """That loop with the hook people write: the norm of each module's output, by `.item()`."""
    loop = Watched.begun(device)
    norms: dict[str, float] = {}

    def hook_of(name: str) -> Callable[[nn.Module, object, object], None]:
        def hook(module: nn.Module, given: object, out: object) -> None:
            if isinstance(out, Tensor):
                norms[name] = out.norm().item()

        return hook

    for name, module in loop.model.named_modules():
        module.register_forward_hook(hook_of(name))
    return lambda number: loop.step()


LOOPS = {loop.__name__: loop for loop in (logged, silent, plain, bare, recorded, wandb_watch, items)}


def main(name: str, folder: str, device: str) -> None:
    """Take steps of the loop `name` for as long as numbers come in; what it writes goes into `folder`."""
    count, there = itertools.count(), torch.get_device_module(device)
    step = LOOPS[name](Path(folder), device)
    for line in sys.stdin:
        began = time.perf_counter()
        for _ in range(int(line)):
            step(next(count))
        there.synchronize()
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
