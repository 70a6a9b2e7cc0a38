"""fairseq and metaseq: `train_inner | {"loss": "16.475", "num_updates": "1", ...}`, numbers as text."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.source import Source

_LINE = re.compile(r"\b(train_inner|valid) \| (\{.*\"(?:valid_)?num_updates\".*\})")


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    for line in lines:
        if found := _LINE.search(line):
            try:
                row = json.loads(found[2])
            except ValueError:
                continue
            held_out = found[1] == "valid"
            yield {
                "step": row.get("valid_num_updates" if held_out else "num_updates"),
                **({"val_loss": row.get("valid_loss")} if held_out else _trained(row)),
            }


def _trained(row: dict[str, object]) -> Row:
    names = ("loss", "lr", "gnorm", "loss_scale")
    return {name: row[name] for name in names if name in row}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "fairseq's log", _parse)] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
