"""Checkpoints: everything that a run needs to go on, bit for bit.

`checkpoints/step-000200.pt` holds the state before step 200. It is written under a temporary name and
renamed, and loads with `weights_only=True`, so opening a stranger's checkpoint runs no code.
"""

import io
import os
import re
from pathlib import Path
from typing import Any

import torch

from tutor.run import Checkpoint

FOLDER = "checkpoints"


def path_of(run: Path, step: int) -> Path:
    """Where the state before `step` is kept."""
    return run / FOLDER / f"step-{step:06d}.pt"


def save(run: Path, step: int, state: dict[str, Any]) -> Path:
    """Keep `state` as that before `step`; raises OSError and leaves nothing half written."""
    path = path_of(run, step)
    path.parent.mkdir(exist_ok=True)
    held = io.BytesIO()  # so that a full disk is an OSError here, not an error of the zip writer
    torch.save(state | {"next_step": step}, held)
    temporary = path.with_suffix(".part")
    try:
        temporary.write_bytes(held.getbuffer())
        os.replace(temporary, path)  # noqa: PTH105
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return path


def load(path: Path, device: str) -> dict[str, Any]:
    """The state kept at `path`, its tensors on `device`.

    Raises:
        ValueError: it isn't one of our checkpoints.
    """
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        state["next_step"] = int(state["next_step"])
    except Exception as error:  # torch raises a different one for each way a file can be broken
        raise ValueError(f"{path} isn't a checkpoint that can be loaded: {error}") from None
    return state


def saved(run: Path) -> list[Checkpoint]:
    """The checkpoints that are kept, ascending."""
    found = []
    for path in (run / FOLDER).glob("step-*.pt"):
        if name := re.fullmatch(r"step-(\d+)\.pt", path.name):
            found.append(Checkpoint(int(name[1]), path))
    return sorted(found, key=lambda checkpoint: checkpoint.resumes_at)
