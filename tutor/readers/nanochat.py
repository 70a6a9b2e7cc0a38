"""nanochat's output: `step 00010/21400 (0.05%) | loss: 9.8 | lrm: 1.00 | dt: 1.2ms | tok/sec: 1,204 | ...`.

Its loss is an average of .9 over the steps so far, without the bias of its beginning, of the last micro-batch
of each: a spike of one step shows at a tenth of its height. After a NaN it is NaN for good. `lrm` is the part
of the rate that the schedule grants. Validation is in bits per byte, which no rule here compares with a loss:
it keeps its name, `val/bpb`.
Source: scripts/base_train.py, scripts/chat_sft.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.common.trainers import RUNNING
from tutor.readers.source import Source

_LINE = re.compile(rf"^step (\d+)(?:/\d+)? \([^)|]*\) \| loss: ({NUMBER}) \|.*", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(rf"\| (lrm|tok/sec|grad norm): ({NUMBER})", re.IGNORECASE)
_VALIDATED = re.compile(rf"^step (\d+) \| validation bpb: ({NUMBER})", re.IGNORECASE)
_NAMES = {"lrm": "lr", "tok/sec": "tokens_per_second", "grad norm": "grad_norm"}


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        if found := _LINE.match(line):
            fields = {_NAMES[name.lower()]: value for name, value in _FIELD.findall(line)}
            yield {"step": found[1], "loss": found[2], **fields}
        elif found := _VALIDATED.match(line):
            yield {"step": found[1], "val/bpb": found[2]}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "nanochat's output", _parse, {"loss": RUNNING})] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
