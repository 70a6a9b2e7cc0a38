"""fairseq and metaseq: `train_inner | {"loss": "16.475", "num_updates": "1", ...}`, numbers as text.

The plain format says the same: `train_inner | epoch 001: 10 / 100 loss=16.475, num_updates=10, ...`. Loss and
norm are means since the row before. Of most criteria they are in bits, not nats. A NaN under fp16 is taken
for an overflow: the step is skipped, which a note tells, and its loss never shows.
Sources: fairseq_cli/train.py (`train`), fairseq/trainer.py (`train_step`), fairseq/logging/progress_bar.py
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.source import Source
from tutor.run import Aggregation

AGGREGATIONS = {
    "loss": Aggregation("window", shows_nan=False),
    "grad_norm": Aggregation("window", shows_nan=False),
}

_JSON = re.compile(r"\b(train_inner|valid) \| (\{.*\"(?:valid_)?num_updates\".*\})")
_PLAIN = re.compile(r"\b(?:train_inner \| epoch \d+: .*\bnum_updates=|valid \| .*\| num_updates )\d+.*")
_LINE = re.compile(f"{_JSON.pattern}|{_PLAIN.pattern}")
_OVERFLOW = re.compile(rf"gradient overflow detected.* setting loss scale to: ({NUMBER})", re.IGNORECASE)
_FIELD = re.compile(rf"\b(\w+)[= ]({NUMBER})(?=,| \||\s*$)", re.IGNORECASE)
_KEPT = ("loss", "lr", "gnorm", "loss_scale")


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    skipped = 0
    for line in lines:
        if _OVERFLOW.search(line):
            skipped += 1
        elif found := _JSON.search(line):
            yield from _row(found[1], _loaded(found[2]), skipped)
        elif found := _PLAIN.search(line):
            yield from _row(found[0].partition(" ")[0], dict(_FIELD.findall(found[0])), skipped)


def _row(kind: str, given: Row, skipped: int) -> Iterator[Row]:
    """What is kept of a row of training or of validation, whose names may begin with `valid_`."""
    if kind == "valid":
        known = {name.removeprefix("valid_"): value for name, value in given.items()}
        yield {"step": known.get("num_updates"), "val_loss": known.get("loss")}
    elif "num_updates" in given:
        kept = {name: given[name] for name in _KEPT if name in given}
        yield {"step": given["num_updates"], **kept} | ({"skipped_steps": skipped} if skipped else {})


def _loaded(text: str) -> Row:
    """What the JSON says; nothing where it is broken."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "fairseq's log", _parse, AGGREGATIONS)] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
