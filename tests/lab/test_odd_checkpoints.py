"""Checkpoints that no run can go on from: refused in one line, and the run's folder stays as it is."""

import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.children import ODD_FILES, ODD_NAMES
from tests.lab.small import recipe, rows_of, timeless
from tutor.lab import checkpoint
from tutor.lab.command import run_train
from tutor.lab.loop import resume

pytestmark = pytest.mark.train

ROWS, LAST = 25, 20  # of the log that is kept, and its last checkpoint
State = dict[str, Any]


@pytest.fixture
def cut(tiny_run: Path, tmp_path: Path) -> Path:
    """The tiny run as if it had been killed after 25 of its 30 steps."""
    run = tmp_path / "cut"
    shutil.copytree(tiny_run, run)
    lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    (run / "metrics.jsonl").write_text("".join(lines[:ROWS]))
    checkpoint.path_of(run, 30).unlink()
    return run


def contents(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


def refused(run: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that `--resume` refuses the run with."""
    before = contents(run)
    assert run_train(None, {}, resume=run) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tutor: ")
    assert err.count("\n") == 1
    assert len(err) < 600
    assert contents(run) == before
    return err


def put(state: State, where: str, value: Any) -> State:
    """The state with `value` at the dotted `where`."""
    *way, last = [int(part) if part.isdigit() else part for part in where.split("/")]
    inner: Any = state
    for part in way:
        inner = inner[part]
    inner[last] = value
    return state


def without(state: State, where: str) -> State:
    *way, last = where.split("/")
    inner: Any = state
    for part in way:
        inner = inner[part]
    del inner[last]
    return state


MOMENTS = "optimizer/state/0"
WEIGHT = "model/tokens.weight"
ODD: dict[str, Callable[[State], Any]] = {
    "a list": lambda state: [state],
    "nothing": lambda state: {},
    "a tensor": lambda state: torch.zeros(3),
    "no model": lambda state: without(state, "model"),
    "a model that is a list": lambda state: put(state, "model", []),
    "a weight missing": lambda state: without(state, WEIGHT),
    "a weight more": lambda state: put(state, "model/other", torch.zeros(1)),
    "a weight of another shape": lambda state: put(state, WEIGHT, torch.zeros(3, 3)),
    "a weight that would be spread": lambda state: put(state, WEIGHT, torch.zeros(())),
    "a weight of another dtype": lambda state: put(state, WEIGHT, state["model"]["tokens.weight"].double()),
    "a weight that is a number": lambda state: put(state, WEIGHT, 3),
    "a weight without values": lambda state: put(state, WEIGHT, torch.zeros(512, 16, device="meta")),
    "a weight that is sparse": lambda state: put(state, WEIGHT, torch.zeros(512, 16).to_sparse()),
    "no optimizer": lambda state: without(state, "optimizer"),
    "an optimizer that is a word": lambda state: put(state, "optimizer", "adam"),
    "an optimizer without moments": lambda state: put(state, "optimizer/state", {}),
    "an optimizer of many groups": lambda state: put(state, "optimizer/state/7", {}),
    "moments of another shape": lambda state: put(state, f"{MOMENTS}/exp_avg", torch.zeros(2)),
    "moments that share a value": lambda state: put(
        state, f"{MOMENTS}/exp_avg", torch.zeros(1).expand(state["optimizer"]["state"][0]["exp_avg"].shape)
    ),
    "a moment missing": lambda state: put(state, MOMENTS, {}),
    "updates that are no number": lambda state: put(state, f"{MOMENTS}/step", torch.tensor(float("nan"))),
    "fewer updates than none": lambda state: put(state, f"{MOMENTS}/step", torch.tensor(-1.0)),
    "a scaler of another dtype": lambda state: put(state, "scaler", {"scale": 2.0}),
    "no loader": lambda state: without(state, "loader"),
    "a loader that is a number": lambda state: put(state, "loader", 7),
    "a loader without its place": lambda state: without(state, "loader/position"),
    "a loader before the beginning": lambda state: put(state, "loader/position", -3),
    "a loader beyond the end": lambda state: put(state, "loader/position", 10**6),
    "an epoch that no generator takes": lambda state: put(state, "loader/epoch", 10**30),
    "a document that isn't there": lambda state: put(state, "loader/waiting", [10**6]),
    "a document that is a word": lambda state: put(state, "loader/deferred", ["a"]),
    "a cut beyond the document": lambda state: put(state, "loader/cut", (0, 10**6)),
    "no rng": lambda state: without(state, "rng"),
    "an rng too short": lambda state: put(state, "rng", torch.zeros(3, dtype=torch.uint8)),
    "an rng of floats": lambda state: put(state, "rng", torch.zeros(5056)),
    "a device's rng that is a number": lambda state: put(state, "device_rng", 7),
    "no counts": lambda state: without(state, "counted"),
    "a count that is a word": lambda state: put(state, "counted/skipped_steps", "many"),
    "a count below none": lambda state: put(state, "counted/skipped_steps", -1),
    "an average that is a list": lambda state: put(state, "counted/loss_ema", [1.0]),
    "a count that nobody asked for": lambda state: put(state, "counted/step", 1),
    "no next step": lambda state: without(state, "next_step"),
    "a next step of -5": lambda state: put(state, "next_step", -5),
    "a next step beyond the end": lambda state: put(state, "next_step", 10**9),
    "another next step": lambda state: put(state, "next_step", 10),
    "a next step that is a fraction": lambda state: put(state, "next_step", 20.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ODD)
def test_what_doesnt_fit_the_run_is_refused(cut: Path, capsys: pytest.CaptureFixture[str], what: str):
    path = checkpoint.path_of(cut, LAST)
    torch.save(ODD[what](torch.load(path, weights_only=True)), path)
    assert f"{path} can't be resumed from: " in refused(cut, capsys)


class RunsCode:
    """A pickle that makes a file where it is opened."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_that_would_run_code_runs_none(
    cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], zipped: bool
):
    path, mark = checkpoint.path_of(cut, LAST), tmp_path / "ran"
    if zipped:
        torch.save({"next_step": LAST, "model": RunsCode(mark)}, path)
    else:
        path.write_bytes(pickle.dumps(RunsCode(mark)))
    assert "can't be resumed from" in refused(cut, capsys)
    assert not mark.exists()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 0.9999])
def test_a_torn_file_is_refused(cut: Path, capsys: pytest.CaptureFixture[str], share: float):
    path = checkpoint.path_of(cut, LAST)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert "move it away to go on from the one before it" in refused(cut, capsys)


def test_moved_away_the_one_before_it_is_gone_on_from(cut: Path, tiny_run: Path):
    checkpoint.path_of(cut, LAST).rename(cut / "torn")
    assert resume(cut, recipe()) == 30
    whole = timeless(rows_of(tiny_run))
    assert [row["loss"] for row in timeless(rows_of(cut))] == [row["loss"] for row in whole]


@pytest.mark.parametrize("text", [b"no", b"\x80\x04.", b"PK\x05\x06" + bytes(18)])
def test_a_file_of_another_kind_is_refused(cut: Path, capsys: pytest.CaptureFixture[str], text: bytes):
    checkpoint.path_of(cut, LAST).write_bytes(text)
    assert "can't be resumed from" in refused(cut, capsys)


def test_a_file_that_unpacks_to_many_times_its_size_is_refused(cut: Path, capsys: pytest.CaptureFixture[str]):
    path = checkpoint.path_of(cut, LAST)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("archive/data.pkl", bytes(1_000_000))
    assert "compressed" in refused(cut, capsys)


@pytest.mark.parametrize("make", ODD_FILES, ids=ODD_NAMES)
def test_what_is_no_plain_file_is_refused_at_once(
    cut: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None]
):
    path = checkpoint.path_of(cut, LAST)
    path.unlink()
    make(path)
    assert "no plain file" in refused(cut, capsys)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"settings": 3}', b'{"settings": {"steps": -1}}',
        b'{"settings": {"lr": NaN}}', b'{"settings": {}, "faults": [3]}', b'{"settings": {}, "sealed": true}',
        b'{"settings": {}, "faults": {"name": "x"}}', b'{"settings": {"steps": ' + b"9" * 5000 + b"}}",
    ],
)  # fmt: skip
def test_a_manifest_that_no_run_was_begun_with_is_refused(
    cut: Path, capsys: pytest.CaptureFixture[str], text: bytes
):
    (cut / "manifest.json").write_bytes(text)
    refused(cut, capsys)


def test_a_pipe_as_the_manifest_isnt_waited_for(cut: Path, capsys: pytest.CaptureFixture[str]):
    (cut / "manifest.json").unlink()
    os.mkfifo(cut / "manifest.json")
    assert "isn't a run that tutor train began" in refused(cut, capsys)


@pytest.mark.parametrize("name", ["metrics.jsonl", "checkpoints/step-000030.pt"])
@pytest.mark.parametrize("ending", ["{}.part", ".{}.part"])
def test_a_link_left_where_a_file_is_written_leads_nowhere(cut: Path, tmp_path: Path, name: str, ending: str):
    """A run folder from someone else may hold links at the names that tutor writes under."""
    target = tmp_path / "mine"
    target.write_text("mine")
    place = cut / name
    place.with_name(ending.format(place.name)).symlink_to(target)
    assert resume(cut, recipe()) == 30
    assert target.read_text() == "mine"
    assert [row["step"] for row in rows_of(cut)] == list(range(30))
