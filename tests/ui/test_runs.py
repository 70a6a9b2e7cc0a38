"""The list of runs, and which of them are of one break."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.ui.conftest import recorded
from tutor import readers
from tutor.ui import runs


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is looked through for runs, in place of the shipped ones."""
    monkeypatch.setattr(
        "tutor.readers.available", lambda: {path.name: path for path in sorted(tmp_path.iterdir())}
    )
    return tmp_path


def write(folder: Path, name: str, like: str = "19-control", **changed: Any) -> None:
    """A run with the manifest of `like`, `changed` laid over it and over its settings."""
    manifest = json.loads((ROOT / "runs" / like / "manifest.json").read_text())
    settings = manifest["settings"] | changed.pop("settings", {})
    (folder / name).mkdir()
    (folder / name / "metrics.jsonl").write_text("")
    (folder / name / "manifest.json").write_text(
        json.dumps(manifest | changed | {"name": name, "settings": settings})
    )


def named(entries: list[runs.RunEntry]) -> list[str]:
    return [entry.name for entry in entries]


def test_siblings_are_the_control_and_the_fixes_of_the_same_break(here):
    write(here, "control")
    write(here, "fix", role="fix", changes={"grad_clip": 0.5}, settings={"grad_clip": 0.5})
    write(here, "again", like="19-break")  # in the same role
    write(here, "plain", role="plain", **{"break": None})
    write(here, "of-another", **{"break": "beta2-high"})
    assert named(runs.beside(recorded("19-break"))) == ["control", "fix"]


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": {"n_layer": 1}, "changes": {"n_layer": 1}},
        {"settings": {"seed": 7}},
        {"trigger": [{"name": "boilerplate", "step": 100, "batches": 3}]},
        {"trigger": []},
    ],
    ids=["another model", "another seed", "another step of the trigger", "no trigger"],
)
def test_what_else_differs_is_no_sibling(here, changed):
    write(here, "control")
    write(here, "other", **changed)
    assert named(runs.beside(recorded("19-break"))) == ["control"]


def test_a_run_without_siblings_may_be_laid_beside_every_other_of_tutor(here):
    write(here, "other", settings={"n_layer": 1})
    (here / "odd").mkdir()
    (here / "odd" / "metrics.jsonl").write_text("")
    (here / "odd" / "manifest.json").write_text("no JSON")
    (here / "no-run").mkdir()
    assert named(runs.beside(recorded("19-break"))) == ["other"]


def test_a_run_of_another_trainer_has_the_logs_in_its_folder_beside_it(here, tmp_path_factory):
    write(here, "ours")
    logs = tmp_path_factory.mktemp("logs") / "alone"
    logs.mkdir()
    for name in ("one", "two"):
        rows = "".join(f"{step},{3 - step / 50}\n" for step in range(20))
        (logs / f"{name}.csv").write_text("step,loss\n" + rows)
    run = readers.read(logs / "one.csv")
    assert named(runs.beside(run)) == ["two.csv"]
    (logs / "two.csv").unlink()
    assert runs.beside(run) == []


def test_a_run_is_described_by_its_manifest_in_each_language(here):
    write(here, "control")
    [entry] = runs.available(also=[here / "control", here / "gone"])
    assert entry.describe("en") == "fp32 · 600 steps · seed 42"
    assert entry.describe("es") == "fp32 · 600 pasos · semilla 42"


def test_a_manifest_that_is_written_anew_and_a_run_that_goes_are_seen(here):
    write(here, "run")
    assert not runs.available()[0].sealed
    manifest = here / "run" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sealed": True}))
    assert runs.available()[0].sealed
    manifest.unlink()
    (here / "run" / "metrics.jsonl").unlink()
    assert runs.available() == []


@pytest.mark.parametrize("name", ["metrics.csv", "log[1].csv"])
def test_a_log_of_another_trainer_has_neighbours_of_its_name_in_the_folders_beside_it(tmp_path, name):
    for folder in ("version_0", "version_1", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("step,loss\n1,2.5\n2,2.25\n3,2.0\n")
    (tmp_path / "other" / name).write_text("no log")
    (tmp_path / "version_0" / "more.csv").write_text("step,loss\n1,2.5\n2,2.25\n3,2.0\n")
    run = readers.read(tmp_path / "version_0" / name)
    assert {entry.name for entry in runs.beside(run)} == {"more.csv", f"version_1/{name}"}
