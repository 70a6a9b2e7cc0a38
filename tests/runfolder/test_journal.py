"""The journal: plain numbers into a run folder, by a loop that must go on whatever happens."""

import errno
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tutor import readers
from tutor.runfolder.journal import Journal
from tutor.runfolder.writer import RunExistsError


def rows_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def same(folder: Path, other: Path) -> bool:
    """Whether the rows are the same but for the clock's; an average that is read back has nine digits."""
    return [
        {**row, "tokens_per_second": 0, "loss_ema": pytest.approx(row["loss_ema"])} for row in rows_of(folder)
    ] == [{**row, "tokens_per_second": 0} for row in rows_of(other)]


def journal(folder: Path, **more: object) -> Journal:
    return Journal(folder, {"settings": {"grad_clip": 1.0}}, flush_seconds=1e9, **more)


def filled(folder: Path, steps: range, **more: object) -> None:
    with journal(folder, **more) as kept:
        for step in steps:
            kept.add(step, loss=5 - 0.1 * step, tokens=512)


class Scalar:
    """A number of some library's own, on some device."""

    def __init__(self, value: float):
        self.value, self.asked = value, 0

    def tolist(self) -> float:
        self.asked += 1
        return self.value


class TestRows:
    def test_the_readers_open_it(self, tmp_path: Path):
        filled(tmp_path / "run", range(30))
        run = readers.open_run(str(tmp_path / "run"))
        assert run.name == "run"
        assert run.manifest.settings == {"grad_clip": 1.0}
        assert run.manifest.tutor is None  # or the walk would offer to train it again
        assert list(run.steps) == list(range(30))
        assert run["loss"][29] == pytest.approx(2.1)
        assert run["loss_ema"][1] == pytest.approx(5 - 0.1 * 2 / 51)
        assert run["tokens_per_second"][0] > 0

    def test_numbers_that_are_not_there_leave_no_column(self, tmp_path: Path):
        with journal(tmp_path / "run") as kept:
            kept.add(0, lr=0.1)
        assert rows_of(tmp_path / "run") == [{"step": 0, "lr": 0.1}]

    def test_skipped_steps_are_counted(self, tmp_path: Path):
        with journal(tmp_path / "run") as kept:
            for step, skipped in enumerate([True, False, True]):
                kept.add(step, skipped=skipped)
        assert [row["skipped_steps"] for row in rows_of(tmp_path / "run")] == [1, 1, 2]

    def test_what_the_loop_counts_itself_is_kept(self, tmp_path: Path):
        with journal(tmp_path / "run") as kept:
            kept.add(0, loss=2.0, loss_ema=7.0, tokens_per_second=9.0, tokens=5)
        assert rows_of(tmp_path / "run") == [
            {"step": 0, "loss": 2.0, "loss_ema": 7.0, "tokens_per_second": 9.0}
        ]

    def test_a_nan_is_written_and_left_out_of_the_average(self, tmp_path: Path):
        with journal(tmp_path / "run") as kept:
            for step, loss in enumerate([2.0, math.nan, math.inf]):
                kept.add(step, loss=loss)
        assert [(row["loss"], row["loss_ema"]) for row in rows_of(tmp_path / "run")] == [
            (2.0, 2.0), ("NaN", 2.0), ("Infinity", 2.0),
        ]  # fmt: skip

    def test_a_validation_goes_into_the_newest_row(self, tmp_path: Path):
        with journal(tmp_path / "run", flush_rows=2) as kept:
            for step in range(6):
                kept.add(step, loss=1.0)
                kept.measure(val_loss=float(step))
        assert [row["val_loss"] for row in rows_of(tmp_path / "run")] == [0, 1, 2, 3, 4, 5]

    def test_before_the_first_row_and_after_a_flush_it_waits_for_the_next(self, tmp_path: Path):
        with journal(tmp_path / "run") as kept:
            for step in range(2):
                kept.measure(val_loss=float(step))
                kept.add(step)
                kept.flush()
        assert [row["val_loss"] for row in rows_of(tmp_path / "run")] == [0, 1]

    def test_an_array_is_copied_out_when_its_row_is_written(self, tmp_path: Path):
        kept, loss = journal(tmp_path / "run"), Scalar(3.0)
        kept.add(0, loss=loss)
        assert loss.asked == 0
        kept.close()
        assert loss.asked == 1
        assert rows_of(tmp_path / "run")[0]["loss"] == 3.0


class TestFolder:
    def test_one_that_is_there_is_never_written_over(self, tmp_path: Path):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "notes.txt").touch()
        with pytest.raises(RunExistsError, match=r"never overwritten: .*, resume=True"):
            journal(tmp_path / "run")

    def test_one_that_is_empty_is_taken(self, tmp_path: Path):
        (tmp_path / "run").mkdir()
        filled(tmp_path / "run", range(3))
        assert len(rows_of(tmp_path / "run")) == 3

    def test_settings_that_json_has_no_form_for_are_kept_as_they_print(self, tmp_path: Path):
        settings = {"out": tmp_path, "lr": Scalar(0.1), "steps": 3}
        with Journal(tmp_path / "run", {"settings": settings}) as kept:
            kept.add(0, loss=1.0)
        kept = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
        assert kept == {"out": str(tmp_path), "lr": 0.1, "steps": 3}

    def test_steps_that_go_back_are_warned_of_once(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        with journal(tmp_path / "run") as kept:
            for step in [0, 1, 2, 0, 1, 2, 0, 1]:
                kept.add(step, loss=1.0)
        assert capsys.readouterr().err.count("step 0 is recorded after step 2") == 1
        assert len(rows_of(tmp_path / "run")) == 8

    def test_one_that_nobody_closes_is_written_as_the_process_ends(self, tmp_path: Path):
        lines = (
            "from tutor.runfolder.journal import Journal",
            f"kept = Journal({str(tmp_path / 'run')!r})",
            "for step in range(3): kept.add(step, loss=1.0)",
        )
        subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
        assert len(rows_of(tmp_path / "run")) == 3
        assert not (tmp_path / "run" / "ended.json").exists()  # it may have failed

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")
    def test_a_fork_of_the_process_writes_nothing(self, tmp_path: Path):
        lines = (
            "import os, sys",
            "from tutor.runfolder.journal import Journal",
            f"kept = Journal({str(tmp_path / 'run')!r})",
            "for step in range(3): kept.add(step, loss=1.0)",
            "child = os.fork()",
            "if not child: sys.exit()",
            "os.waitpid(child, 0)",
        )
        subprocess.run([sys.executable, "-W", "ignore", "-c", "\n".join(lines)], check=True)
        assert len(rows_of(tmp_path / "run")) == 3

    def test_an_empty_folder_that_is_resumed_has_its_manifest(self, tmp_path: Path):
        (tmp_path / "run").mkdir()
        filled(tmp_path / "run", range(3), resume=True)
        assert json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"] == {"grad_clip": 1.0}

    def test_the_speed_of_a_last_lot_of_one_row_is_that_of_its_step(self, tmp_path: Path):
        with journal(tmp_path / "run", flush_rows=2) as kept:
            for step in range(5):
                time.sleep(0.02)
                kept.add(step, tokens=100)
        speeds = [row["tokens_per_second"] for row in rows_of(tmp_path / "run")]
        assert max(speeds) < 100 / 0.02 * 1.1

    def test_closing_twice(self, tmp_path: Path):
        kept = journal(tmp_path / "run")
        kept.add(0, loss=1.0)
        kept.close()
        kept.close()
        assert len(rows_of(tmp_path / "run")) == 1

    def test_a_crash_in_the_loop_leaves_whole_rows(self, tmp_path: Path):
        def train() -> None:
            with journal(tmp_path / "run") as kept:
                for step in range(5):
                    kept.add(step, loss=1 / (3 - step))

        with pytest.raises(ZeroDivisionError):
            train()
        assert [row["step"] for row in rows_of(tmp_path / "run")] == [0, 1, 2]


class TestResuming:
    def test_it_goes_on_as_if_it_had_never_stopped(self, tmp_path: Path):
        filled(tmp_path / "whole", range(30))
        filled(tmp_path / "cut", range(17))
        filled(tmp_path / "cut", range(17, 30), resume=True)
        assert same(tmp_path / "cut", tmp_path / "whole")

    def test_steps_that_are_trained_again_are_dropped(self, tmp_path: Path):
        filled(tmp_path / "whole", range(30))
        filled(tmp_path / "cut", range(17))
        filled(tmp_path / "cut", range(10, 30), resume=True, before=10)
        assert same(tmp_path / "cut", tmp_path / "whole")

    def test_the_next_step_and_the_first_manifest(self, tmp_path: Path):
        filled(tmp_path / "run", range(17))
        was = (tmp_path / "run" / "manifest.json").read_text()
        with Journal(tmp_path / "run", {"name": "another"}, resume=True) as kept:
            assert kept.next_step == 17
        assert (tmp_path / "run" / "manifest.json").read_text() == was

    def test_a_torn_row_is_dropped(self, tmp_path: Path):
        filled(tmp_path / "run", range(3))
        with (tmp_path / "run" / "metrics.jsonl").open("a") as log:
            log.write('{"step":3,"lo')
        filled(tmp_path / "run", range(3, 5), resume=True)
        assert [row["step"] for row in rows_of(tmp_path / "run")] == [0, 1, 2, 3, 4]

    def test_where_there_is_nothing_yet_it_begins(self, tmp_path: Path):
        filled(tmp_path / "run", range(3), resume=True)
        assert len(rows_of(tmp_path / "run")) == 3

    def test_a_packed_log_is_left_alone(self, tmp_path: Path):
        filled(tmp_path / "run", range(3))
        (tmp_path / "run" / "metrics.jsonl").rename(tmp_path / "run" / "metrics.jsonl.gz")
        with pytest.raises(RunExistsError, match="gunzip"):
            journal(tmp_path / "run", resume=True)


class TestFullDisk:
    def test_training_goes_on_and_is_told_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ):
        kept = journal(tmp_path / "run", flush_rows=2)
        for step in range(3):
            kept.add(step, loss=1.0)

        def full(file: int, text: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            for step in range(3, 20):
                kept.add(step, loss=1.0)
        kept.close()
        told = capfd.readouterr().err.splitlines()
        assert len(told) == 1
        assert "no space left on device" in told[0]
        assert "training goes on" in told[0]
        assert [row["step"] for row in rows_of(tmp_path / "run")] == [0, 1]

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
        (tmp_path / "file").write_text("")
        filled(tmp_path / "file" / "run", range(100))
        assert len(capfd.readouterr().err.splitlines()) == 1
