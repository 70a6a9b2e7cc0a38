"""llm.c's `main.log`: `s:0 trl:11.0 lr:0.000001 norm:15.37`, with `tel` the held-out loss.

The loss is the mean of its step over micro-batches and ranks, the norm that before clipping; NaN shows.
Source: train_gpt2.cu, llmc/logger.h
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.source import Source

_LINE = re.compile(rf"^s:\d+ (?:trl|tel):{NUMBER}", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(rf"(\w+):({NUMBER})", re.IGNORECASE)
_NAMES = {"s": "step", "trl": "loss", "tel": "val_loss", "lr": "lr", "norm": "grad_norm"}


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        if _LINE.match(line):
            yield {_NAMES[name]: value for name, value in _FIELD.findall(line) if name in _NAMES}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "llm.c's main.log", _parse)] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
