"""A small lab: real networks, trained for real, in seconds."""

import json
from pathlib import Path

from tutor import settings as knobs
from tutor.settings import Settings

# Two layers and an earlier trigger; the break breaks as the full one does.
SMALL = {
    "lr": 4e-3,
    "beta2": 0.999,
    "n_layer": 2,
    "steps": 235,
    "boilerplate_step": 180,
    "device": "cpu",
    "threads": 1,
    "checkpoint_every": None,
}
TINY = {
    "n_layer": 1,
    "n_embd": 16,
    "n_head": 2,
    "batch_size": 2,
    "block_size": 16,
    "steps": 30,
    "checkpoint_every": 10,
    "val_every": 10,
    "device": "cpu",
    "threads": 1,
}


def tiny(**changes: object) -> Settings:
    return knobs.build({**TINY, **changes})


def rows_of(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def timeless(rows: list[dict]) -> list[dict]:
    """Rows without the one column that a clock decides."""
    return [{key: value for key, value in row.items() if key != "tokens_per_second"} for row in rows]
