"""What every test shares: small runs made of columns with known answers."""

import gc
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, settings

from tutor import tree
from tutor.run import Checkpoint, Manifest, Run
from tutor.tree import Tree

ROOT = Path(__file__).parent.parent

if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores: more threads would only wait
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.set_threshold(200_000, 50, 1000)  # screens make many objects at once: a sixth of a test was collecting

# A busy machine makes any example slow, and a folder of a test's own serves all of its examples. A commit is
# judged on the same few everywhere: more are drawn by `make fuzz`, or by `pytest --hypothesis-profile=many`.
_ANYWHERE = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.register_profile("any-machine", _ANYWHERE, derandomize=True, max_examples=25)
settings.register_profile("many", _ANYWHERE, max_examples=200)
settings.load_profile("any-machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What trains takes longest, so it starts first: no worker is left with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("train") is None)


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


def same_numbers(found: Iterable[float | None], wanted: Iterable[float]) -> bool:
    """Whether a reader gives the numbers that were written, a NaN among them."""
    return all(
        one == two or (one is not None and math.isnan(one) and math.isnan(two))
        for one, two in zip(found, wanted, strict=True)
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


@cache
def shipped(name: str) -> Tree:
    """The shipped tree of that name: frozen, so that every test of a worker may share it."""
    return tree.load(ROOT / "trees" / f"{name}.yaml")


def numbers(detector: str, name: str = "phase-19") -> Mapping[str, float]:
    """The numbers by which the shipped tree of that name runs the detector."""
    found = tree.numbers(detector, shipped(name))
    assert found is not None
    return found


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests keep parsed isn't the user's."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def in_sight() -> Iterator[Path]:
    """An empty folder that any user may look into, and only this one may write in."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        for folder in [Path(name), *Path(name).rglob("*")]:
            if folder.is_dir():
                folder.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with the learners in it and nothing of the user's about."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUTOR_LEARNERS", str(tmp_path / "learners"))
    monkeypatch.setenv("TUTOR_LEARNER", "ana")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
