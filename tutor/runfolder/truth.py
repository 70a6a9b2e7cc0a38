"""The truth of a sealed run: what its manifest keeps to itself, and the digest that shows a changed one."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tutor import plainfile
from tutor.run import Manifest, limits
from tutor.runfolder import TRUTH
from tutor.words import SaidError


class SealError(SaidError):
    """A seal that can't be opened, in one line."""

    part = "seal"


def digest(truth: bytes) -> str:
    """What the manifest holds of a truth: enough to know it by, and nothing of what it says."""
    return hashlib.sha256(truth).hexdigest()


def read_truth(folder: Path, manifest: Manifest) -> Mapping[str, Any]:
    """The truth in `folder`, beside that manifest of a sealed run.

    Raises:
        SealError: it is missing, can't be read, or isn't the one that the run was sealed with.
    """
    path = folder / TRUTH
    try:
        data = plainfile.read(path, limits.MANIFEST)
    except FileNotFoundError:
        raise SealError("missing", path=str(path)) from None
    except OSError as error:
        raise SealError("unreadable", path=str(path), reason=error.strerror) from None
    if manifest.seal is not None and digest(data) != manifest.seal:
        raise SealError("changed", path=str(path))
    try:
        truth = json.loads(data)
    except (ValueError, RecursionError):
        truth = None
    if not isinstance(truth, dict):
        raise SealError("odd", path=str(path))
    return truth
