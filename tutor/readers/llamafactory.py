"""LLaMA-Factory's `trainer_log.jsonl`: a row each time the Trainer beneath it logs, without gradient norms.

Its numbers are Hugging Face's: the loss is the mean since the row before, and a NaN in it doesn't show.
Several processes may append to one file, so that steps repeat and run backwards.
Source: src/llamafactory/train/callbacks.py (LogCallback)
"""

from pathlib import Path

from tutor.readers.common.trainers import HUGGING_FACE
from tutor.readers.jsonlines import Rows, first_row
from tutor.readers.source import Source


def sources(path: Path) -> list[Source]:
    """A file whose first row has `current_steps` of `total_steps`."""
    row = first_row(path)
    if row is None or not {"current_steps", "total_steps"} <= row.keys():
        return []
    return [Rows(path, "LLaMA-Factory's trainer_log.jsonl", {"loss": HUGGING_FACE})]


def lacks(path: Path) -> str | None:  # noqa: ARG001
    """Nothing is near it."""
    return None
