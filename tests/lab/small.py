"""A small lab: real networks, trained for real, in seconds."""

import json
from collections.abc import Sequence
from pathlib import Path

from tutor.lab.assembly import assemble
from tutor.lab.recipe import Recipe
from tutor.parts import Part
from tutor.settings import Settings, build

# Half the layers and half the width, and an earlier trigger; the break breaks as the full one does.
EARLY = 180
SMALL = {
    "lr": 4e-3,
    "beta2": 0.999,
    "n_layer": 2,
    "n_embd": 64,
    "steps": 235,
    "device": "cpu",
    "threads": 1,
    "val_every": 1000,
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
    return build({**TINY, **changes})


def recipe(trigger: Sequence[Part] = (), faults: Sequence[Part] = (), **changes: object) -> Recipe:
    """A tiny recipe with this trigger and these faults."""
    return assemble(tiny(**changes), trigger, faults)


def boilerplate(step: int, batches: int = 3) -> tuple[Part, ...]:
    return (Part("boilerplate", {"step": step, "batches": batches}),)


def rows_of(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def timeless(rows: list[dict]) -> list[dict]:
    """Rows without the one column that a clock decides."""
    return [{key: value for key, value in row.items() if key != "tokens_per_second"} for row in rows]
