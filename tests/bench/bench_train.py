"""Training with everything logged, against the same loop with logging off, and against the plain loop.

The plain loop is what people copy from nanoGPT: forward, backward, clip, `torch.optim.AdamW` and one
`.item()` a step. All three train the default model on the CPU; figures are steps per second.
"""

import itertools
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional as F  # noqa: N812

from tests.bench.table import Row, paired
from tutor import settings as knobs
from tutor.lab.assembly import assemble
from tutor.lab.loop import Log
from tutor.lab.model import build_model
from tutor.lab.trainer import Trainer
from tutor.runfolder.writer import Record

STEPS = 50
RUNS = 11
SETTINGS = {"device": "cpu", "checkpoint_every": None}


def rate(step: Callable[[int], None]) -> Callable[[], float]:
    """A callable that takes the next STEPS steps and says how many a second."""
    count = itertools.count()

    def measure() -> float:
        began = time.perf_counter()
        for _ in range(STEPS):
            step(next(count))
        return STEPS / (time.perf_counter() - began)

    return measure


def logged(folder: Path) -> Callable[[int], None]:
    """Our loop, every column of it written to disk."""
    trainer = Trainer(assemble(knobs.build(SETTINGS)))
    log = Log(trainer, Record.create(folder, {"command": ""}, []), {}, lambda row: None, time.perf_counter())

    def step(number: int) -> None:
        asked = {"val_loss": trainer.validate()} if number % trainer.settings.val_every == 0 else {}
        log.add(trainer.step(number) | asked)

    return step


def silent() -> Callable[[int], None]:
    """Our loop with logging off."""
    trainer = Trainer(assemble(knobs.build(SETTINGS)), logging=False)
    return lambda number: trainer.step(number) and None


def plain() -> Callable[[int], None]:
    """The loop people copy."""
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
        starts = torch.randint(len(data) - length, (rows,))
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


def rows() -> list[Row]:
    """The comparisons of `make bench`."""
    folder = Path(tempfile.mkdtemp())
    try:
        everything = rate(logged(folder / "run"))
        return [
            paired(
                "train: all logged / logging off, steps per second",
                everything,
                rate(silent()),
                runs=RUNS,
                at_least=0.9,
            ),
            paired(
                "train: all logged / plain loop, steps per second",
                everything,
                rate(plain()),
                runs=RUNS,
                at_least=1.0,
            ),
        ]
    finally:
        shutil.rmtree(folder)
