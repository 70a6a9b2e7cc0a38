"""DeepSpeed's output: `step=10, skipped=6, lr=[...]`, messages of overflow, and what two trainers print.

The engine itself prints no loss. That of its pipelines, `steps: 10 loss: 2.5 iter time (s): ...`, is the mean
over the micro-batches of the step, and so is DeepSpeed-Chat's `act_loss` over the step's inner ones.
Sources: deepspeed/runtime/engine.py (`_report_progress`), deepspeed/runtime/fp16/loss_scaler.py,
deepspeed/runtime/pipe/engine.py (`train_batch`)
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.megatron import LINE as MEGATRON
from tutor.readers.source import Source

_STEP = re.compile(rf"\bstep=(\d+), skipped=(\d+), lr=\[({NUMBER})", re.IGNORECASE)
_SCALE = re.compile(
    rf"Attempted loss scale: (?:({NUMBER}), but hysteresis|{NUMBER}, reducing to ({NUMBER}))", re.IGNORECASE
)
_CHAT = re.compile(rf"^epoch: \d+\|step: (\d+)\|.*?\bact_loss: ({NUMBER})", re.IGNORECASE)
_PIPE = re.compile(rf"\bsteps: (\d+) loss: ({NUMBER}) iter time \(s\):", re.IGNORECASE)
_ANY = re.compile(f"{_STEP.pattern}|{_CHAT.pattern}|{_PIPE.pattern}", re.IGNORECASE | re.MULTILINE)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    scale: str | None = None
    for line in lines:
        if found := _SCALE.search(line):
            scale = found[1] or found[2]  # while hysteresis lasts, the scale stays
        elif found := _CHAT.match(line) or _PIPE.search(line):
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
