"""Lineage: what was tried on a run: its forks and fixes, found by what their manifests say they are of."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tutor import paths, plainfile, readers
from tutor.run import BadRunError, Manifest, known_float, limits
from tutor.run.verification import Verification
from tutor.runfolder import VERIFICATION
from tutor.runfolder.manifest import read_manifest

AT_THE_END = 20  # rows whose mean is the loss in the end


@dataclass(frozen=True)
class Experiment:
    """A run that was trained to learn something of another.

    Attributes:
        path: its folder.
        change: what is different, in a few words.
        at: the step from which it is; None where it was trained from the beginning.
        end: mean loss of its last rows, in nats; None where it isn't finite.
        verified: whether it is a fix that was checked, and what came of it.
    """

    path: Path
    change: str
    at: int | None
    end: float | None
    verified: Literal["yes", "no"] | None


def experiments_on(run: Path) -> Sequence[Experiment]:
    """What was tried on the run in that folder, by name: in the runs folders, and in the folders in them."""
    return [
        _experiment(path, manifest)
        for path, manifest in _manifests()
        if manifest.of and Path(manifest.of).resolve() == run.resolve() != path.resolve()
    ]


def _manifests() -> Iterator[tuple[Path, Manifest]]:
    for folder in paths.folders("runs"):
        inner = (path.iterdir() for path in sorted(folder.iterdir()) if path.is_dir())
        for path in sorted({*folder.iterdir(), *chain.from_iterable(inner)}):
            with suppress(OSError, BadRunError):
                if path.is_dir():
                    yield path, read_manifest(path)[0]


def _experiment(path: Path, manifest: Manifest) -> Experiment:
    last = manifest.lineage[-1] if manifest.lineage else None
    changes = " ".join(f"{name}={value}" for name, value in manifest.changes.items())
    end = None
    with suppress(OSError, BadRunError):
        loss = readers.read(path)["loss"].drop_nulls().tail(AT_THE_END)
        end = known_float(loss.mean()) if len(loss) and loss.is_finite().all() else None
    found = _verification(path)
    change = found.change if found else (last.action if last else None) or changes
    verified = None if found is None else "yes" if found.verified else "no"
    return Experiment(path, change, last.at if last else None, end, verified)


def _verification(path: Path) -> Verification | None:
    with suppress(OSError, ValidationError):
        return Verification.model_validate_json(plainfile.read(path / VERIFICATION, limits.MANIFEST))
    return None
