"""Which folder a callback records in."""

from pathlib import Path

import pytest

from tutor.callbacks.folder import folder_for


def test_training_that_begins_takes_a_free_one_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture):
    mine = tmp_path / "mine"
    assert folder_for(mine, 0) == mine
    assert capsys.readouterr().err == ""
    mine.mkdir()
    (tmp_path / "mine-2").mkdir()
    assert folder_for(str(mine), 0) == tmp_path / "mine-3"
    assert capsys.readouterr().err.count("mine-3") == 1


def test_training_that_goes_on_takes_the_last(tmp_path: Path, capsys: pytest.CaptureFixture):
    mine = tmp_path / "mine"
    assert folder_for(mine, 100) == mine
    mine.mkdir()
    assert folder_for(mine, 100) == mine
    (tmp_path / "mine-2").mkdir()
    (tmp_path / "mine-4").mkdir()  # none of this training's: one between is missing
    assert folder_for(mine, 100) == tmp_path / "mine-2"
    assert capsys.readouterr().err == ""


def test_a_packed_log_is_that_of_a_run_that_is_over(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "metrics.jsonl.gz").write_bytes(b"")
    assert folder_for(tmp_path / "mine", 100) == tmp_path / "mine-2"


def test_only_the_process_that_writes_speaks(tmp_path: Path, capsys: pytest.CaptureFixture):
    (tmp_path / "mine").mkdir()
    assert folder_for(tmp_path / "mine", 0, main=False) == tmp_path / "mine-2"
    assert capsys.readouterr().err == ""
