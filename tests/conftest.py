"""What every test shares: small runs made of columns with known answers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import settings

from tutor import tree
from tutor.run import Checkpoint, Manifest, Run

ROOT = Path(__file__).parent.parent

settings.register_profile("any-machine", deadline=None)  # a busy machine makes any example slow
settings.load_profile("any-machine")


def make_run(
    columns: Mapping[str, Sequence[Any]],
    manifest: Mapping[str, Any] | None = None,
    checkpoints: Sequence[int] | None = None,
    sentences: Sequence[str] = (),
) -> Run:
    """A run of these columns; steps count from 0 where none are given."""
    length = len(next(iter(columns.values())))
    frame = pl.DataFrame({"step": range(length)} | dict(columns), strict=False)
    return Run(
        path=Path("somewhere/a-run"),
        name="a-run",
        manifest=Manifest.parse(manifest or {})[0],
        frame=frame,
        checkpoints=None if checkpoints is None else tuple(map(Checkpoint, checkpoints)),
        sentences=tuple(sentences),
    )


def write_run(
    folder: Path, rows: Sequence[Mapping[str, Any]], manifest: Mapping[str, Any] | None = None
) -> Path:
    """A run folder with these rows in its log (bare NaN and Infinity, as Python writes them)."""
    folder.mkdir(parents=True, exist_ok=True)
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def numbers(detector: str) -> Mapping[str, float]:
    """The numbers by which the shipped tree runs the detector."""
    found = tree.numbers(detector, tree.find("phase-19"))
    assert found is not None
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with the learners in it and nothing of the user's about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUTOR_LEARNERS", str(tmp_path / "learners"))
    monkeypatch.setenv("TUTOR_LEARNER", "ana")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
