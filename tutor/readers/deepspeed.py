"""DeepSpeed's output: `step=10, skipped=6, lr=[...]`, messages of overflow, and DeepSpeed-Chat's losses."""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.megatron import LINE as MEGATRON
from tutor.readers.source import Source

_STEP = re.compile(rf"\bstep=(\d+), skipped=(\d+), lr=\[({NUMBER})", re.IGNORECASE)
_SCALE = re.compile(rf"Attempted loss scale: {NUMBER}, reducing to ({NUMBER})", re.IGNORECASE)
_CHAT = re.compile(rf"^epoch: \d+\|step: (\d+)\|.*?\bact_loss: ({NUMBER})", re.IGNORECASE)
_ANY = re.compile(f"{_STEP.pattern}|{_CHAT.pattern}", re.IGNORECASE | re.MULTILINE)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    scale: str | None = None
    for line in lines:
        if found := _SCALE.search(line):
            scale = found[1]
        elif found := _CHAT.match(line):
            yield {"step": found[1], "loss": found[2]}
        elif found := _STEP.search(line):
            row = {"step": found[1], "skipped_steps": found[2], "lr": found[3]}
            yield row if scale is None else {**row, "loss_scale": scale}


def sources(path: Path) -> list[Source]:
    """A file with such a line; under Megatron's own rows, which say more, it isn't this reader's."""
    mine = has(path, _ANY) and not has(path, MEGATRON)
    return [TextLog(path, "DeepSpeed's output", _parse)] if mine else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
