"""torchtitan's output: `step: 10  loss: 7.03  grad_norm: 1.49  memory: ...`; other ranks print -1.

The loss is the mean over all ranks at its step, the norm that before clipping; both show NaN. Versions of
2024 logged the mean over the steps since the row before: that is what is declared, for no line says the
version.
Source: torchtitan/train.py, torchtitan/components/metrics.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.common.trainers import WINDOW
from tutor.readers.source import Source

_LINE = re.compile(rf"\bstep:\s+(\d+)\s+loss:\s+({NUMBER})\s.*", re.IGNORECASE)
_FIELD = re.compile(rf"\b(grad_norm|tps|lr):\s+({NUMBER})", re.IGNORECASE)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        found = _LINE.search(line)
        if found and not found[2].startswith("-"):
            fields = {name.replace("tps", "tokens_per_second"): n for name, n in _FIELD.findall(line)}
            yield {"step": found[1], "loss": found[2], **fields}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "torchtitan's output", _parse, {"loss": WINDOW})] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
