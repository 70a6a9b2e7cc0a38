"""modded-nanogpt: `step:1/6200 train_loss:10.9 ...` below the whole source, whose f-strings look alike.

The loss is that of the last micro-batch of its step on one rank; later versions log that of validation alone.
Source: train_gpt2.py and train_gpt.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.source import Source

_LINE = re.compile(rf"^step:(\d+)/\d+ .*?(?:train|val)_loss:{NUMBER}.*", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(rf"\b(train_loss|val_loss|lr|norm):({NUMBER})", re.IGNORECASE)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        if found := _LINE.match(line):
            yield {"step": found[1], **dict(_FIELD.findall(line))}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "modded-nanogpt's log", _parse)] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
