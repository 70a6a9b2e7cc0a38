"""The wheel works outside the checkout: its trees and runs come along, the user's own go first."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, write_run

LARGEST = 8_000_000
"""Bytes of the wheel, cases and all."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel unpacks to."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", str(folder), str(ROOT)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size < LARGEST
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def tutor(installed: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess:
    """`tutor WORDS` of the wheel, in another folder; torch can't be imported."""
    code = "import sys; sys.modules['torch'] = None; from tutor.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(installed), "XDG_DATA_HOME": str(cwd / "data"), "LANG": "C"},
        capture_output=True,
        text=True,
    )


def test_light_and_complete(installed: Path):
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert "tutor/shipped/trees/phase-19.yaml" in names
    assert "tutor/shipped/runs/19-break/metrics.jsonl" in names
    cases = [path.name for path in (ROOT / "runs").glob("case-*")]
    assert len(cases) >= 12
    for case in cases:
        assert {f"tutor/shipped/runs/{case}/{name}" for name in ("metrics.jsonl.gz", "truth.json")} <= names
    assert not [name for name in names if name.endswith(".pt") or "tests/" in name]
    assert sum(path.stat().st_size for path in installed.rglob("*") if path.is_file()) < LARGEST


def test_a_case_is_checked_by_its_name_without_torch(installed: Path, tmp_path: Path):
    done = tutor(installed, tmp_path, "check", "case-03", "--json")
    assert done.returncode == 0, done.stderr
    assert str(installed) in done.stdout


def test_checks_the_shipped_runs_anywhere(installed: Path, tmp_path: Path):
    done = tutor(installed, tmp_path, "check", "runs/19-break")
    assert done.returncode == 1, done.stderr
    assert str(installed) in done.stdout
    assert tutor(installed, tmp_path, "check", "19-control").returncode == 0
    assert "pip install torch tokenizers" in tutor(installed, tmp_path, "train").stderr


def test_your_own_runs_and_trees_are_used_where_they_exist(installed: Path, tmp_path: Path):
    write_run(tmp_path / "runs" / "mine", [{"step": step, "loss": 1.0} for step in range(9)], {})
    (tmp_path / "trees").mkdir()
    shipped = installed / "tutor" / "shipped" / "trees"
    for ending in (".yaml", ".en.yaml", ".es.yaml"):
        text = (shipped / f"phase-19{ending}").read_text()
        (tmp_path / "trees" / f"own{ending}").write_text(text.replace("tree: phase-19", "tree: own"))
    done = tutor(installed, tmp_path, "check", "mine", "--tree", "own")
    assert done.returncode == 3, "nine rows are too few to call it healthy"
    assert " own " in done.stdout


def test_lessons_are_kept_in_your_data_folder(installed: Path, tmp_path: Path):
    said = "".join(tutor(installed, tmp_path, "lessons", "--learner", "ana").stdout.split())
    assert "data/tutor/learners/ana" in said
    (tmp_path / "learners").mkdir()
    said = "".join(tutor(installed, tmp_path, "lessons", "--learner", "ana").stdout.split())
    assert "data/tutor" not in said
