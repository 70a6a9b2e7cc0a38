"""nanochat's output: `step 00010/21400 (0.05%) | loss: 9.8 | lrm: 1.00 | dt: 1.2ms | tok/sec: 1,204 | ...`.

Its loss is an average of .9 over the steps so far, without the bias of its beginning, of the last micro-batch
of each: a spike of one step shows at a tenth of its height. After a NaN it is NaN for good. `lrm` is the part
of the rate that the schedule grants. Validation is in bits per byte, which no rule here compares with a loss:
it keeps its name, `val/bpb`.
Source: scripts/base_train.py, scripts/chat_sft.py
"""

from pathlib import Path
from typing import TYPE_CHECKING

from tutor.readers.common.lines import NUMBER, Line, Lines, either, has
from tutor.readers.common.textlog import TextLog
from tutor.readers.common.trainers import RUNNING
from tutor.readers.source import Source

if TYPE_CHECKING:
    import polars as pl

_LINE = rf"^step (?P<step>[0-9]+)(?:/(?P<total_steps>[0-9]+))? \([^)|]*\) \| loss: (?P<loss>{NUMBER}) \|"
_FIELD = rf"\| (?P<name>lrm|tok/sec|grad norm): (?P<value>{NUMBER})"
_VALIDATED = rf"^step (?P<step>[0-9]+) \| validation bpb: (?P<bpb>{NUMBER})"
_NAMES = {"lrm": "lr", "tok/sec": "tokens_per_second", "grad norm": "grad_norm"}


def _tidy(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The rows, with the name of validation that a group of a pattern can't have."""
    return rows.rename({"bpb": "val/bpb"}, strict=False)


_LINES = Lines((Line(_LINE, _FIELD, _NAMES.get), Line(_VALIDATED)), tidy=_tidy)


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "nanochat's output", _LINES, {"loss": RUNNING})] if has(path, either(_LINE)) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
