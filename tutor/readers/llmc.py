"""llm.c's `main.log`: `s:0 trl:11.0 lr:0.000001 norm:15.37`, with `tel` the held-out loss.

The loss is the mean of its step over micro-batches and ranks, the norm that before clipping; NaN shows.
Source: train_gpt2.cu, llmc/logger.h
"""

from pathlib import Path

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source

_LINE = rf"^s:(?P<step>[0-9]+) (?:trl|tel):{NUMBER}"
_FIELD = rf"(?P<name>\w+):(?P<value>{NUMBER})"
_NAMES = {"trl": "loss", "tel": "val_loss", "lr": "lr", "norm": "grad_norm"}
_LINES = Lines((Line(_LINE, _FIELD, _NAMES.get),))


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "llm.c's main.log", _LINES)] if has(path, either(_LINE)) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
