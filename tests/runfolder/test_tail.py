"""The tail of a log that grows: every whole line comes once, however the writer's bytes arrive."""

import json
import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import write_run
from tutor.run import Remark
from tutor.runfolder.reader import read_run
from tutor.runfolder.tail import tail


@given(parts=st.lists(st.binary(max_size=12) | st.just(b"\n") | st.just(b'{"step":1}\n'), max_size=12))
def test_every_whole_line_comes_once_and_the_torn_one_waits(tmp_path: Path, parts: list[bytes]):
    path = tmp_path / "log"
    path.write_bytes(b"")
    position, came = None, b""
    for part in parts:
        with path.open("ab") as log:
            log.write(part)
        new = tail(path, position)
        assert new.anew == (position is None)
        position, came = new.position, came + new.data
    written = b"".join(parts)
    assert came == written[: written.rfind(b"\n") + 1]


def test_a_log_that_was_replaced_or_cut_comes_anew(tmp_path: Path):
    path = tmp_path / "log"
    path.write_bytes(b"a\nb\n")
    before = tail(path)
    path.with_name("new").write_bytes(b"a\nb\nc\n")
    os.replace(tmp_path / "new", path)  # noqa: PTH105  (as a resumed run does)
    replaced = tail(path, before.position)
    assert (replaced.anew, replaced.data) == (True, b"a\nb\nc\n")
    path.write_bytes(b"a\n")
    assert tail(path, replaced.position).data == b"a\n"


def add(folder: Path, *rows: dict) -> None:
    with (folder / "metrics.jsonl").open("a") as log:
        log.write("".join(json.dumps(row) + "\n" for row in rows))


class TestGrowing:
    """A run read from where it was read before is the run read whole."""

    def growing(self, tmp_path: Path) -> Path:
        return write_run(tmp_path / "r", [{"step": i, "loss": 2.0} for i in range(5)], {"name": "r"})

    def test_rows_and_columns_are_added(self, tmp_path: Path):
        folder = self.growing(tmp_path)
        before = read_run(folder)
        add(folder, {"step": 5, "loss": 1, "val_loss": float("nan")}, {"step": 6, "loss": "Infinity"})
        after = read_run(folder, before)
        assert after.frame.equals(read_run(folder).frame, null_equal=True)
        assert after.frame.schema == read_run(folder).frame.schema
        assert after.revision != before.revision
        assert read_run(folder, after) is after

    def test_only_what_has_come_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        folder = self.growing(tmp_path)
        before = read_run(folder)
        add(folder, {"step": 5, "loss": 1.0})
        monkeypatch.setattr("tutor.runfolder.reader.read_rows", None)
        assert len(read_run(folder, before)) == 6

    def test_a_torn_row_is_read_when_it_is_whole(self, tmp_path: Path):
        folder = self.growing(tmp_path)
        with (folder / "metrics.jsonl").open("a") as log:
            log.write('{"step": 5, "lo')
        before = read_run(folder)
        assert before.remarks == (Remark("torn_line"),)
        with (folder / "metrics.jsonl").open("a") as log:
            log.write('ss": 1.0}\n')
        after = read_run(folder, before)
        assert (len(after), after.remarks) == (6, ())

    def test_a_run_that_went_back_is_read_whole(self, tmp_path: Path):
        folder = self.growing(tmp_path)
        before = read_run(folder)
        add(folder, {"step": 3, "loss": 1.0})
        after = read_run(folder, before)
        assert after.steps.to_list() == [0, 1, 2, 3]
        assert after.remarks == (Remark("resumed", {"count": 2, "steps": [3]}),)

    def test_a_checkpoint_that_was_saved_meanwhile_is_there(self, tmp_path: Path):
        folder = self.growing(tmp_path)
        before = read_run(folder)
        (folder / "checkpoints").mkdir()
        (folder / "checkpoints" / "step-000003.pt").touch()
        after = read_run(folder, before)
        assert [one.resumes_at for one in after.checkpoints or ()] == [3]
        assert after.revision != before.revision

    @given(
        st.lists(
            st.lists(
                st.fixed_dictionaries(
                    {"step": st.integers(0, 20)},
                    optional={"loss": st.floats() | st.text(max_size=3), "batch_hash": st.text(max_size=3)},
                ),
                max_size=4,
            ),
            min_size=1,
            max_size=4,
        )
    )
    def test_whatever_comes(self, tmp_path: Path, lots: list[list[dict]]):
        folder = write_run(tmp_path / "r", [{"step": 0, "loss": 1.0}], {})
        run = read_run(folder)
        for rows in lots:
            add(folder, *rows)
            run = read_run(folder, run)
        whole = read_run(folder)  # once is enough: fewer lots are examples of their own
        columns = sorted(whole.frame.columns)
        assert run.frame.select(columns).equals(whole.frame.select(columns), null_equal=True)
        assert run.frame.schema["step"] == pl.Int64
        assert run.name == whole.name
