"""llama.cpp's finetune: `train: [===> ] data=0000064/0001024 loss=2.5±0.1 acc=...`, on the error output.

Its progress bar is drawn anew after a carriage return, once a batch. Steps count what was trained on since
the beginning. The loss is the mean of its epoch so far, and begins anew with each: a spike hardly shows, and
after a NaN it is NaN to the epoch's end. Validation follows each epoch, and only its last line says all.
Source: ggml/src/ggml-opt.cpp (ggml_opt_epoch_callback_progress_bar)
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tutor.readers.common.lines import NUMBER, TextLog, has
from tutor.readers.common.rows import Row
from tutor.readers.common.trainers import RUNNING
from tutor.readers.source import Source

_LINE = re.compile(
    rf"\b(train|val): +\[[^]]*\] data=0*(\d{{1,15}})/0*(\d{{1,15}}) loss=({NUMBER})", re.IGNORECASE
)


def _parse(lines: Iterator[str]) -> Iterator[Row]:
    before, at = 0, 0  # of the epochs that have ended; of the one under way
    for line in lines:
        if not (found := _LINE.search(line)):
            continue
        seen, of, loss = int(found[2]), int(found[3]), found[4]
        if found[1].lower() == "val":
            if seen == of:
                yield {"step": before + at, "val_loss": loss}
            continue
        if seen < at:
            before += at
        at = seen
        yield {"step": before + seen, "loss": loss}


def sources(path: Path) -> list[Source]:
    """A file with such a line."""
    return [TextLog(path, "llama.cpp's output", _parse, {"loss": RUNNING})] if has(path, _LINE) else []


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
