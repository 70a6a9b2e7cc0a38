"""Checkpoints: everything that a run needs to go on, bit for bit.

`checkpoints/step-000200.pt` holds the state before step 200. It is written under a temporary name and
renamed, and loads with `weights_only=True`, so opening a stranger's checkpoint runs no code; what it holds is
checked against the run before anything goes on from it.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tutor import plainfile
from tutor.run import Checkpoint
from tutor.runfolder import CHECKPOINTS
from tutor.settings import MOST_MEMORY


def path_of(run: Path, step: int) -> Path:
    """Where the state before `step` is kept."""
    return run / CHECKPOINTS / f"step-{step:06d}.pt"


def save(run: Path, step: int, state: dict[str, Any]) -> Path:
    """Keep `state` as that before `step`; raises OSError and leaves nothing half written."""
    path = path_of(run, step)
    path.parent.mkdir(exist_ok=True)
    held = io.BytesIO()  # so that a full disk is an OSError here, not an error of the zip writer
    torch.save(state | {"next_step": step}, held)
    plainfile.replace(path, held.getbuffer())
    return path


def load(path: Path, device: str) -> dict[str, Any]:
    """The state kept at `path`, its tensors on `device`; whether it fits a run, `Trainer.restore` says.

    Raises:
        ValueError: it isn't one of our checkpoints.
    """
    try:
        _check_file(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a stranger's file holds
            state = torch.load(path, map_location=device, weights_only=True)
    except _NoCheckpointError as error:
        raise refused(path, str(error)) from None
    except OSError as error:
        raise refused(path, f"it can't be read ({error.strerror or error})") from None
    except Exception:  # torch raises a different one for each way a file can be broken
        raise refused(path, "it is torn, or holds more than tensors and plain values") from None
    if not isinstance(state, dict) or path != path_of(path.parent.parent, _number(state.get("next_step"))):
        raise refused(path, "it doesn't hold the state before the step that it is named after")
    return state


def refused(path: Path, what: str) -> ValueError:
    """Why the run can't go on from the checkpoint at `path`, and a way out."""
    return ValueError(f"{path} can't be resumed from: {what}; move it away to go on from the one before it")


class _NoCheckpointError(Exception):
    """Why a file isn't a checkpoint of ours."""


def _check_file(path: Path) -> None:
    """Raise _NoCheckpointError for what torch wouldn't refuse by itself, or not before it has waited or
    filled the memory: a pipe, a file that unpacks to many times its size.
    """
    if not path.is_file():
        raise _NoCheckpointError("it is no plain file")
    if path.stat().st_size > MOST_MEMORY:
        raise _NoCheckpointError(f"it is larger than {MOST_MEMORY / 1e9:.0f} GB")
    if not zipfile.is_zipfile(path):
        raise _NoCheckpointError("it is no file that torch saved, or a torn one")
    with zipfile.ZipFile(path) as packed:
        if any(one.compress_type != zipfile.ZIP_STORED for one in packed.infolist()):
            raise _NoCheckpointError("it is compressed, and tutor's own are not")


def _number(step: Any) -> int:
    return step if isinstance(step, int) else -1


def part(state: Mapping[Any, Any], name: str) -> dict[Any, Any]:
    """The part of a state under `name`; raises ValueError where it isn't one."""
    found = state.get(name)
    if not isinstance(found, dict):
        raise ValueError(f"it holds no {name}")
    return found


def like(name: str, found: Any, ours: Tensor) -> Tensor:
    """`found`, a tensor of the same shape and kind as `ours`; raises ValueError where it isn't one."""
    if not isinstance(found, Tensor) or found.is_meta:
        raise ValueError(f"its {name} is no tensor")
    if (found.shape, found.dtype, found.layout) != (ours.shape, ours.dtype, ours.layout):
        shapes = f"{list(found.shape)} of {found.dtype}, not {list(ours.shape)} of {ours.dtype}"
        raise ValueError(f"its {name} is {shapes}")
    if not found.is_contiguous():
        raise ValueError(f"its {name} isn't laid out as one block")
    return found


def saved(run: Path) -> list[Checkpoint]:
    """The checkpoints that are kept, ascending."""
    found = []
    for path in (run / CHECKPOINTS).glob("step-*.pt"):
        if name := re.fullmatch(r"step-(\d+)\.pt", path.name):
            found.append(Checkpoint(int(name[1]), path))
    return sorted(found, key=lambda checkpoint: checkpoint.resumes_at)
