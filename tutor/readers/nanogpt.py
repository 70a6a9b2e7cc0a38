"""nanoGPT's standard output: `iter 110: loss 2.3, time 98ms, mfu 15%`.

The loss is that of the last micro-batch of its step on one rank, noisier than the step's; NaN shows. The loss
of validation is a mean over `eval_iters` batches. Source: train.py
"""

from pathlib import Path

from tutor.readers.common.lines import NUMBER, Line, Lines, TextLog, either, has
from tutor.readers.source import Source

_TRAINED = rf"\biter (?P<step>[0-9]+): loss (?P<loss>{NUMBER})"
_EVALUATED = rf"\bstep (?P<step>[0-9]+): train loss {NUMBER}, val loss (?P<val_loss>{NUMBER})"
_LINES = Lines((Line(_TRAINED), Line(_EVALUATED)))
_EITHER = either(_TRAINED, _EVALUATED)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "nanoGPT's output", _LINES)] if has(path, _EITHER) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
