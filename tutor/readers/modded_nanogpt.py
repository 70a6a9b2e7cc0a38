"""modded-nanogpt: `step:1/6200 train_loss:10.9 ...` below the whole source, whose f-strings look alike.

The loss is that of the last micro-batch of its step on one rank; later versions log that of validation alone.
Source: train_gpt2.py and train_gpt.py
"""

from pathlib import Path

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.source import Source

_LINE = rf"^step:(?P<step>[0-9]+)/(?P<total_steps>[0-9]+) .*?(?:train|val)_loss:{NUMBER}"
_FIELD = rf"\b(?P<name>train_loss|val_loss|lr|norm):(?P<value>{NUMBER})"
_PRINTED = (
    rf"^step:(?P<step>[0-9]+)/[0-9]+ (?:train_loss:(?P<train_loss>{NUMBER})|val_loss:(?P<val_loss>{NUMBER})) "
    r"train_time:[0-9]+ms step_avg:(?:[0-9.]+|nan)ms *$"
)  # as it is published: such a line is found twice as fast as its fields one by one
_LINES = Lines((Line(_PRINTED), Line(_LINE, _FIELD)))


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "modded-nanogpt's log", _LINES)] if has(path, either(_LINE)) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
