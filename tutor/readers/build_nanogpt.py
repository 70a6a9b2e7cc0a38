"""build-nanogpt: its output, `step 20 | loss: 7.66 | lr 6e-04 | norm: 0.43 | ...`, and its `log.txt`.

torchtune prints the same shape, `Step 20 | loss:2.1 lr:1e-4 grad_norm:0.5`. The loss of either is the mean
over the micro-batches of its step, the norm that before clipping.
Sources: train_gpt2.py (`loss_accum`), torchtune's recipes/full_finetune_single_device.py (`running_loss`)
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.source import Source

_STEP = re.compile(r"^\s*step\s+(\d+)\s*\|(.*)", re.IGNORECASE)
_PRINTED = re.compile(rf"^\s*step\s+\d+\s*\|\s*loss:?\s*{NUMBER}", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(rf"([a-z_/]+):?\s*({NUMBER})", re.IGNORECASE)
_VALIDATED = re.compile(rf"^validation loss:\s*({NUMBER})", re.IGNORECASE)
_FILED = re.compile(rf"^(\d+) (train|val) ({NUMBER})$", re.IGNORECASE)
_FILE = re.compile(rf"^\d+ (?:train|val) {NUMBER}\s*$", re.IGNORECASE | re.MULTILINE)


def _parse_output(lines: Iterator[str]) -> Iterator[Row]:
    """A validation is printed before the row of its step."""
    held_out: str | None = None
    for line in lines:
        if found := _VALIDATED.match(line):
            held_out = found[1]
        elif found := _STEP.match(line):
            row = {"step": found[1], **{name.lower(): value for name, value in _FIELD.findall(found[2])}}
            if "loss" in row:
                yield row if held_out is None else {**row, "val_loss": held_out}
                held_out = None


def _parse_file(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        if found := _FILED.match(line.strip()):
            yield {"step": found[1], "loss" if found[2] == "train" else "val_loss": found[3]}


def sources(path: Path) -> list[Source]:
    """A file with such lines."""
    if has(path, _PRINTED):
        return [TextLog(path, "build-nanogpt's or torchtune's output", _parse_output)]
    if has(path, _FILE):
        return [TextLog(path, "build-nanogpt's log.txt", _parse_file)]
    return []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
