"""The training loops that are timed, each in a process of its own.

    python -m tests.bench.loops plain FOLDER

takes as many steps as each number that comes in says, and answers with the seconds they took. The default
model, on the CPU, with the threads that each loop takes by itself.
"""

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F  # noqa: N812

from tutor import settings as knobs
from tutor.lab.assembly import assemble
from tutor.lab.loop import Log
from tutor.lab.model import build_model
from tutor.lab.trainer import Trainer
from tutor.runfolder.buffer import Counted
from tutor.runfolder.writer import Record

SETTINGS = {"device": "cpu", "checkpoint_every": None}
Step = Callable[[int], object]


def logged(folder: Path) -> Step:
    """Our loop, every column of it written to disk."""
    trainer = Trainer(assemble(knobs.build(SETTINGS)))
    record = Record.create(folder / "run", {"command": ""}, [])
    log = Log(trainer, record, Counted(), lambda row: None, time.perf_counter())

    return lambda number: log.add(_validated(trainer, number) | trainer.step(number))


def silent(folder: Path) -> Step:
    """Our loop with logging off; it validates as often."""
    trainer = Trainer(assemble(knobs.build(SETTINGS)), logging=False)
    return lambda number: _validated(trainer, number) | trainer.step(number)


def _validated(trainer: Trainer, number: int) -> dict[str, float]:
    return {"val_loss": trainer.validate()} if number % trainer.settings.val_every == 0 else {}


def plain(folder: Path) -> Step:
    """The loop people copy from nanoGPT: forward, backward, clip, AdamW and one `.item()` a step."""
    settings = knobs.build(SETTINGS)
    recipe = assemble(settings)
    model = build_model(settings, recipe.tokenizer.size)
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
        x = torch.stack([data[i : i + length] for i in starts])
        y = torch.stack([data[i + 1 : i + 1 + length] for i in starts])
        logits, _ = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()

    return step


LOOPS = {loop.__name__: loop for loop in (logged, silent, plain)}


def main(name: str, folder: str) -> None:
    """Take steps of the loop `name` for as long as numbers come in; what it writes goes into `folder`."""
    step, count = LOOPS[name](Path(folder)), itertools.count()
    for line in sys.stdin:
        began = time.perf_counter()
        for _ in range(int(line)):
            step(next(count))
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
