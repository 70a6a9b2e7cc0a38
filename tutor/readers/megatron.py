"""Megatron: ` iteration 3/ 1000 | ... | lm loss: 4.4E+01 | loss scale: 12.0 | grad norm: 77.5 |`.

The loss is the mean, since the row before, of the steps that weren't skipped. Where it isn't finite or every
step was skipped, the field is missing, and so it is here: a NaN norm, or the count of skipped iterations,
tells which. The norm is that of the last step before clipping.
Source: megatron/training/training.py (`training_log`)
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row, number
from tutor.readers.source import Source
from tutor.run import Aggregation

AGGREGATIONS = {"loss": Aggregation("window", shows_nan=False)}

LINE = re.compile(r"\biteration\s+(\d+)/\s*\d+ \|(.*)")
_FIELD = re.compile(rf"\|?\s*([a-z][a-z -]*?):\s*({NUMBER})(?=\s*\|)", re.IGNORECASE)
_END = re.compile(r"\bnumber of (?:skipped|nan) iterations:\s*\d+ *\|")
_OTHER = re.compile(rf"{LINE.pattern}|^time \(ms\)|^\[Rank \d+\]|validation loss")
_WRAPPED = 8  # lines that one row is broken into at most
_VALIDATED = re.compile(
    rf"validation loss at iteration (\d+) .*?(?:lm loss value|lm-loss value|loss value):\s*({NUMBER})", re.I
)


def _unwrapped(lines: Iterator[str]) -> Iterator[str]:
    """The lines; a row that a terminal has broken into several is one of them again."""
    held: list[str] = []
    for line in lines:
        if held:
            follows = "|" in line and len(held) < _WRAPPED and not _OTHER.search(line)
            if follows:
                held.append(line)
            if not follows or _END.search(line):
                yield "".join(held)
                held = []
            if follows:
                continue
        if LINE.search(line) and not _END.search(line):
            held = [line]
        else:
            yield line
    if held:
        yield "".join(held)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    skipped = 0.0
    for line in _unwrapped(lines):
        if found := _VALIDATED.search(line):
            yield {"step": found[1], "val_loss": found[2]}
        elif found := LINE.search(line):
            fields = {name.lower(): value for name, value in _FIELD.findall(found[2])}
            row = {"step": found[1], **{name: fields[name] for name in _KEPT if name in fields}}
            count = number(fields.get("number of skipped iterations"))
            if count is not None:
                skipped += count
                row["skipped_steps"] = str(skipped)
            if number(row.get("grad norm")) == 0:
                del row["grad norm"]  # it prints 0.000 where it didn't compute it
            yield row


_KEPT = ("lm loss", "lm-loss", "loss", "learning rate", "loss scale", "grad norm")


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "Megatron's output", _parse, AGGREGATIONS)] if has(path, LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
