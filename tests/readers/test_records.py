"""Files of records: `.wandb` and TensorBoard's, framed here by the rules that the fixtures were written by.

That the framing here is the libraries' own is shown by their fixtures, which it gives back byte for byte.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import same_numbers
from tutor import readers
from tutor.readers import tensorboard, wandb
from tutor.run import BadRunError

FIXTURES = Path(__file__).parent / "fixtures"
WANDB = FIXTURES / "run-offline.wandb"
EVENTS = FIXTURES / "events.out.tfevents.1700000000.host.1.0"
BLOCK = 32_768
FLOATS = st.floats(width=32)


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def message(field: int, content: bytes) -> bytes:
    """A field of bytes, as protobuf has it."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def history(**values: float | str) -> bytes:
    """A record of one call of `wandb.log`."""
    items = (
        message(1, message(1, key.encode()) + message(16, json.dumps(value).encode()))
        for key, value in values.items()
    )
    return message(2, b"".join(items))


def in_blocks(records: Sequence[bytes]) -> bytes:
    """The records as a `.wandb` file has them: in pieces with a checksum each, none beyond a block's end."""
    data = bytearray(WANDB.read_bytes()[:7])
    for record in records:
        left, first = record, True
        while left or first:
            if (room := BLOCK - len(data) % BLOCK) < 7:
                data += bytes(room)
                continue
            piece, left = left[: room - 7], left[room - 7 :]
            kind = bytes([(2 if left else 1) if first else (3 if left else 4)])
            data += struct.pack("<IH", zlib.crc32(kind + piece), len(piece)) + kind + piece
            first = False
    return bytes(data)


def event(step: int, value: float, tag: str = "loss") -> bytes:
    """A record of one scalar at a step."""
    scalar = message(1, message(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
    return framed(b"\x10" + varint(step) + message(5, scalar))


def framed(content: bytes) -> bytes:
    """A record of an event file; its checksums are left blank, as nobody looks at them."""
    return struct.pack("<Q", len(content)) + bytes(4) + content + bytes(4)


def test_the_framing_here_is_the_librarys():
    data = WANDB.read_bytes()
    assert in_blocks([*wandb._records(data, [])]) == data


@given(rows=st.lists(st.tuples(st.floats(), st.integers(0, 70_000)), min_size=1, max_size=6))
def test_any_rows_of_wandb_come_back_however_the_blocks_cut_them(tmp_path: Path, rows: list):
    records = [history(step=step, loss=loss, text="x" * size) for step, (loss, size) in enumerate(rows)]
    (tmp_path / "a.wandb").write_bytes(in_blocks(records))
    run = readers.read(tmp_path / "a.wandb")
    assert run.steps.to_list() == list(range(len(rows)))
    assert same_numbers(run["loss"], (loss for loss, _ in rows))
    assert run.remarks == ()


ROWS = [history(step=step, loss=4 - step / 500, text="x" * 200) for step in range(1000)]  # 8 blocks


@pytest.mark.parametrize("spoilt", ["piece", "checksum", "length", "kind"])
def test_after_a_spoilt_block_of_wandbs_the_rest_is_read(tmp_path: Path, spoilt: str):
    data = bytearray(in_blocks(ROWS))
    record = data.index(ROWS[400]) - 7
    data[record + {"checksum": 0, "length": 5, "kind": 6, "piece": 50}[spoilt]] ^= 0x55
    (tmp_path / "a.wandb").write_bytes(data)
    run = readers.read(tmp_path / "a.wandb")
    assert 850 <= len(run) < 1000
    assert run.steps[-1] == 999
    assert run["loss"].to_list() == [4 - step / 500 for step in run.steps]
    assert [remark.key for remark in run.remarks] == ["spoilt"]
    assert run.unseen  # it can't be called healthy


def test_a_wandb_file_cut_at_its_end_is_the_run_so_far(tmp_path: Path):
    (tmp_path / "a.wandb").write_bytes(in_blocks(ROWS)[:-100])
    run = readers.read(tmp_path / "a.wandb")
    assert (len(run), [remark.key for remark in run.remarks], run.unseen) == (999, ["torn_line"], False)


@given(at=st.integers(7, BLOCK * 7), put=st.binary(min_size=1, max_size=40_000))
def test_wherever_a_wandb_file_is_spoilt_no_number_is_another(tmp_path: Path, at: int, put: bytes):
    data = in_blocks(ROWS)
    (tmp_path / "a.wandb").write_bytes(data[:at] + put + data[at + len(put) :])
    try:
        run = readers.read(tmp_path / "a.wandb")
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert run["loss"].to_list() == [4 - step / 500 for step in run.steps]


@given(values=st.lists(FLOATS, min_size=1, max_size=30))
def test_any_scalars_of_tensorboards_come_back(tmp_path: Path, values: list[float]):
    data = EVENTS.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])  # of the first record, which says of what version the file is
    path = tmp_path / "a-renamed-file"
    path.write_bytes(
        data[: 8 + 4 + size + 4] + b"".join(event(step, value) for step, value in enumerate(values))
    )
    run = readers.read(path)
    assert run.steps.to_list() == list(range(len(values)))
    assert same_numbers(run["loss"], values)


def test_the_events_of_the_library_are_framed_so_too():
    records = [*tensorboard._records(EVENTS, [])]
    sizes = [struct.pack("<Q", len(record)) for record in records]
    assert all(size in EVENTS.read_bytes() for size in sizes)
    assert sum(map(len, records)) + 16 * len(records) == EVENTS.stat().st_size


class TestOneFolder:
    """Several event files in one: the starts of one training, as TensorBoard takes them."""

    def write(self, folder: Path, began: int, *events: bytes) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / f"events.out.tfevents.{began}.host.1.0"
        path.write_bytes(b"".join(events))
        return path

    def losses(self, steps: Iterable[int], value: float) -> list[bytes]:
        return [event(step, value) for step in steps]

    def test_a_restart_goes_on_from_an_earlier_step(self, tmp_path: Path):
        # By their times: as text, the second name would come first.
        first = self.write(tmp_path / "logs", 999, *self.losses(range(0, 60, 10), 2.0))
        self.write(tmp_path / "logs", 1000, *self.losses((35, 45, 55), 1.0))
        run = readers.read(tmp_path / "logs")
        assert (run.name, run.path) == ("logs", tmp_path / "logs")
        assert run.steps.to_list() == [0, 10, 20, 30, 35, 45, 55]
        assert run["loss"].to_list() == [2, 2, 2, 2, 1, 1, 1]
        assert [(one.key, one.facts["count"]) for one in run.remarks] == [("resumed", 2)]
        assert readers.read(first)["loss"].to_list() == [2.0] * 6  # named itself, it is that file alone

    def test_a_tag_that_only_one_of_them_logs_is_kept(self, tmp_path: Path):
        self.write(tmp_path, 1, *self.losses((0, 10, 20), 2.0))
        self.write(tmp_path, 2, event(0, 3.0, "val_loss"), event(20, 2.5, "val_loss"))
        run = readers.read(tmp_path)
        assert run["loss"].to_list() == [2, 2, 2]
        assert run["val_loss"].to_list() == [3.0, None, 2.5]
        assert run.remarks == ()

    def test_a_start_that_says_its_step_replaces_every_tag(self, tmp_path: Path):
        begins = message(7, b"\x08\x01")
        first = (framed(begins), event(10, 2.0), event(20, 2.0, "val_loss"), event(20, 2.0))
        self.write(tmp_path, 1, *first)
        self.write(tmp_path, 2, framed(b"\x10\x14" + begins), event(30, 1.0))
        run = readers.read(tmp_path)
        assert run.steps.to_list() == [10, 30]
        assert not run.has("val_loss")

    def test_other_folders_are_other_runs(self, tmp_path: Path):
        for folder in (tmp_path / "a", tmp_path / "b"):
            self.write(folder, 1, event(0, 2.0), event(10, 2.0))
            self.write(folder, 2, event(20, 1.0))
        assert [source.path.name for source in readers.sources(tmp_path)] == ["a", "b"]
        assert len(readers.read(tmp_path / "a")) == 3
        self.write(tmp_path, 1, event(0, 4.0))
        assert len(readers.sources(tmp_path)) == 3
        assert len(readers.read(tmp_path)) == 1  # its own, not those below

    def test_one_without_a_value_changes_nothing(self, tmp_path: Path):
        self.write(tmp_path, 1, event(10, 2.0), event(20, 2.0))
        self.write(tmp_path, 2)
        assert len(readers.read(tmp_path)) == 2
