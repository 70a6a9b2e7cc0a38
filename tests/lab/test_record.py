"""The record: rows written whole, whatever happens."""

import errno
import json
import math
import os
from pathlib import Path

import pytest

from tutor.runfolder.writer import DiskFullError, Record, RunExistsError, encode

MANIFEST = {"command": "tutor train", "name": "x"}


def new(folder: Path) -> Record:
    return Record.create(folder, MANIFEST, ["One.", "Two."])


def test_the_manifest_comes_first_and_the_files_are_there(tmp_path: Path):
    new(tmp_path / "run").close()
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "command.txt",
        "manifest.json",
        "metrics.jsonl",
        "sentences.txt",
    ]
    assert json.loads((tmp_path / "run/manifest.json").read_text()) == MANIFEST
    assert (tmp_path / "run/sentences.txt").read_text() == "One.\nTwo.\n"
    assert (tmp_path / "run/command.txt").read_text() == "tutor train\n"


def test_rows_are_strict_json():
    text = encode({"step": 1, "loss": math.nan, "norms": [math.inf, -math.inf, 1.0], "name": "ñ"}).decode()
    assert text == '{"step":1,"loss":"NaN","norms":["Infinity","-Infinity",1.0],"name":"ñ"}\n'


def test_floats_keep_a_point_or_an_exponent():
    text = encode({"a": 1.0, "b": 1e-05, "c": 1e22, "d": 3}).decode()
    assert text == '{"a":1.0,"b":1e-05,"c":1e+22,"d":3}\n'


def test_a_folder_that_is_there_is_never_written_over(tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").touch()
    with pytest.raises(RunExistsError, match="a run is never overwritten"):
        new(tmp_path / "run")


def test_a_folder_that_cannot_be_looked_into_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(folder: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    (tmp_path / "run").mkdir()
    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(RunExistsError, match="a run is never overwritten"):
        new(tmp_path / "run")


def test_a_full_disk_leaves_whole_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    record = new(tmp_path / "run")
    record.append([{"step": 0}, {"step": 1}])
    room, write = 13, os.write

    def full(file: int, text: bytes) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(file, text[:room])
        room -= done
        return done

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(
        DiskFullError, match=r"no space left on device at step 2: the run is readable up to step 1"
    ):
        record.append([{"step": 2}, {"step": 3}])
    record.close()
    assert (tmp_path / "run/metrics.jsonl").read_text() == '{"step":0}\n{"step":1}\n'


def test_reopening_cuts_back_and_drops_a_torn_row(tmp_path: Path):
    record = new(tmp_path / "run")
    record.append([{"step": step} for step in range(5)])
    record.close()
    with (tmp_path / "run/metrics.jsonl").open("a") as file:
        file.write('{"step":5,"lo')
    again = Record.reopen(tmp_path / "run", 5)
    again.append([{"step": 5}])
    again.close()
    lines = (tmp_path / "run/metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(6))


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskFullError) as caught:
        new(tmp_path / "file/run")
    assert len(str(caught.value).splitlines()) == 1
