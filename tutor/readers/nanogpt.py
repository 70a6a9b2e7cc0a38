"""nanoGPT's standard output: `iter 110: loss 2.3, time 98ms, mfu 15%`.

The loss is that of the last micro-batch of its step on one rank, noisier than the step's; NaN shows. The loss
of validation is a mean over `eval_iters` batches. Source: train.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.source import Source

_TRAINED = re.compile(rf"\biter (\d+): loss ({NUMBER})", re.IGNORECASE)
_EVALUATED = re.compile(rf"\bstep (\d+): train loss {NUMBER}, val loss ({NUMBER})", re.IGNORECASE)
_EITHER = re.compile(f"{_TRAINED.pattern}|{_EVALUATED.pattern}", re.IGNORECASE)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        if found := _TRAINED.search(line):
            yield {"step": found[1], "loss": found[2]}
        elif found := _EVALUATED.search(line):
            yield {"step": found[1], "val_loss": found[2]}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "nanoGPT's output", _parse)] if has(path, _EITHER) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
