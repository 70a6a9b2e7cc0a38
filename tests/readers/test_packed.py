"""A packed log: read as the plain one is, and refused in one line where it isn't what it should be."""

import gzip
from pathlib import Path

import pytest

from tests.conftest import write_run
from tutor import plainfile, readers
from tutor.run import BadRunError, limits

ROWS = [{"step": i, "loss": 2.0 - i / 10} for i in range(9)]


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A run folder whose log is packed."""
    folder = write_run(tmp_path / "r", ROWS, {"format": 1, "name": "r"})
    log = folder / "metrics.jsonl"
    log.with_name("metrics.jsonl.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
    log.unlink()
    return folder


def test_it_is_read_as_the_plain_one_is(packed: Path, tmp_path: Path):
    plain = readers.read(write_run(tmp_path / "plain", ROWS, {"format": 1, "name": "r"}))
    for path in (packed, packed / "metrics.jsonl.gz"):
        run = readers.read(path)
        assert (run.path, run.frame.to_dicts(), run.remarks) == (packed, plain.frame.to_dicts(), ())


def test_read_again_it_is_the_same_run_until_it_changes(packed: Path):
    run = readers.read(packed)
    assert readers.read(packed, run) is run
    log = packed / "metrics.jsonl.gz"
    log.write_bytes(gzip.compress(b'{"step": 0, "loss": 1.0}\n{"step": 1, "loss": 0.5}\n'))
    assert len(readers.read(packed, run)) == 2


def test_the_plain_log_wins_over_the_packed_one(packed: Path):
    write_run(packed, ROWS[:3], {})
    assert len(readers.read(packed)) == 3


def test_one_that_unpacks_to_too_much_is_refused_before_it_fills_the_memory(
    packed: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "PACKED", 5 * plainfile.MEGABYTE)
    (packed / "metrics.jsonl.gz").write_bytes(gzip.compress(b" " * 40_000_000))
    with pytest.raises(BadRunError, match="unpacks to more than 5 MB"):
        readers.read(packed)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda data: data[:-20], "cut short"),
        (lambda data: b"\x00" + data[1:], "no gzip file"),
        (lambda data: data[:-6] + b"\xff" * 6, "damaged"),
        (lambda data: data + data, "more behind it"),
        (lambda data: b"", "cut short"),
        (lambda data: gzip.compress(b""), "no whole row"),
        (lambda data: gzip.compress(b"x\n"), "no row of JSON"),
    ],
)
def test_one_that_is_spoilt_is_told_in_one_line(packed: Path, spoil, why: str):
    log = packed / "metrics.jsonl.gz"
    log.write_bytes(spoil(log.read_bytes()))
    with pytest.raises(BadRunError, match=why) as raised:
        readers.read(packed)
    assert "\n" not in str(raised.value)
