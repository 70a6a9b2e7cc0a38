"""A packed log of any format: read as the plain one is, as far as it goes, and known by its bytes alone."""

import gzip
import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import write_run
from tests.readers.texts import TEXTS
from tutor import packed, plainfile, readers
from tutor.run import BadRunError, Run, limits

FIXTURES = Path(__file__).parent / "fixtures"
ROWS = [{"step": i, "loss": 2.0 - i / 10} for i in range(9)]
FILES = {
    **{f"{name}.log": text.encode() for name, text in TEXTS.items()},
    "metrics.csv": b"step,loss,val_loss\n0,2.5,\n10,nan,2.75\n",
    "export.csv": b'"Step","a - loss","a - loss__MIN","a - loss__MAX"\n"0","2.5","2.5","2.5"\n"1","2",,\n',
    "trainer_log.jsonl": b'{"current_steps": 10, "loss": 2.0}\n{"current_steps": 20, "loss": NaN}\n',
    "rows.jsonl": b'{"step": 10, "loss": 2.0}\n{"step": 20, "loss": NaN}\n',
    "trainer_state.json": b'{"log_history": [{"step": 1, "loss": 2.0}, {"step": 1, "eval_loss": 2.5}]}',
    **{path.name: path.read_bytes() for path in FIXTURES.iterdir() if path.suffix in (".0", ".wandb")},
}
"""A small log of each format that is one file."""


def said(run: Run) -> tuple[object, ...]:
    """What a run holds, NaN as a word."""
    return run.frame.fill_nan(-math.pi).to_dict(as_series=False), run.remarks, run.aggregations


@pytest.mark.parametrize("name", FILES)
def test_it_is_read_as_the_plain_one_is(name: str, tmp_path: Path):
    for folder, data in (("plain", FILES[name]), ("packed", gzip.compress(FILES[name]))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
    plain, small = (readers.read(tmp_path / folder / name) for folder in ("plain", "packed"))
    assert said(small) == said(plain)
    assert small.name in (plain.name, "packed")  # a log that its tool always calls so, by its folder


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith(("events", "run-"))])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_text_in_utf_16_is_read(name: str, encoding: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    plain = said(readers.read(path))
    text = FILES[name].decode()
    path.write_bytes((text if encoding == "utf-16" else "\ufeff" + text).encode(encoding))
    assert said(readers.read(path)) == plain


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A log of text of some length, packed."""
    text = "".join(f"iter {step}: loss {2 + math.sin(step):.4f}, time 9ms\n" for step in range(5000))
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: data[:-4] + b"\xff" * 4])
def test_of_one_that_is_spoilt_what_can_be_unpacked_is_read(long: Path, spoil):
    long.write_bytes(spoil(long.read_bytes()))
    run = readers.read(long)
    assert 1000 < len(run) <= 5000
    assert [one.key for one in run.remarks] == ["torn_packed"]
    assert run.unseen  # what is missing may hold a flaw


def test_several_that_were_joined_are_one(long: Path):
    long.write_bytes(long.read_bytes() + gzip.compress(b"iter 5000: loss 2.0, time 9ms\n"))
    assert len(readers.read(long)) == 5001


@pytest.mark.parametrize("name", ["train.log", "metrics.csv", "rows.jsonl", "trainer_state.json"])
def test_one_that_unpacks_to_too_much_is_refused_before_it_fills_the_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "PACKED", 5 * plainfile.MEGABYTE)
    monkeypatch.setattr(limits, "STREAMED", 5 * plainfile.MEGABYTE)
    data = {**FILES, "train.log": TEXTS["nanogpt"].encode()}[name]
    (tmp_path / name).write_bytes(gzip.compress(data + b" " * 40_000_000))
    with pytest.raises(BadRunError, match="unpacks to more than 5 MB"):
        readers.read(tmp_path / name)


def test_to_know_one_only_its_beginning_is_unpacked(long: Path, monkeypatch: pytest.MonkeyPatch):
    long.write_bytes(gzip.compress(gzip.decompress(long.read_bytes()) + b" " * 40_000_000))
    read, asked = packed.Stream.read, []
    monkeypatch.setattr(packed.Stream, "read", lambda self, size: asked.append(size) or read(self, size))
    assert len(readers.sources(long)) == 1
    assert max(asked) < 3_000_000


@given(
    name=st.sampled_from(sorted(FILES)),
    cut=st.integers(0, 400),
    spoilt=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=3),
    more=st.binary(max_size=9),
)
def test_anything_packed_is_a_run_or_one_clear_line(
    tmp_path: Path, name: str, cut: int, spoilt: list[tuple[int, int]], more: bytes
):
    data = bytearray(gzip.compress(FILES[name], mtime=0))
    for place, byte in spoilt:
        data[place % len(data)] = byte
    path = tmp_path / name
    path.write_bytes(bytes(data[: max(0, len(data) - cut)]) + more)
    try:
        run = readers.read(path)
    except BadRunError as error:
        assert "\n" not in str(error)
    else:
        assert len(run) > 0
        assert run.steps.is_sorted()


class TestFolder:
    """tutor's own run folder, whose log may be packed."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """One with such a log."""
        folder = write_run(tmp_path / "r", ROWS, {"format": 1, "name": "r"})
        log = folder / "metrics.jsonl"
        log.with_name("metrics.jsonl.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
        log.unlink()
        return folder

    def test_it_is_read_as_the_plain_one_is(self, folder: Path, tmp_path: Path):
        plain = readers.read(write_run(tmp_path / "plain", ROWS, {"format": 1, "name": "r"}))
        for path in (folder, folder / "metrics.jsonl.gz"):
            run = readers.read(path)
            assert (run.path, run.frame.to_dicts(), run.remarks) == (folder, plain.frame.to_dicts(), ())

    def test_read_again_it_is_the_same_run_until_it_changes(self, folder: Path):
        run = readers.read(folder)
        assert readers.read(folder, run) is run
        log = folder / "metrics.jsonl.gz"
        log.write_bytes(gzip.compress(b'{"step": 0, "loss": 1.0}\n{"step": 1, "loss": 0.5}\n'))
        assert len(readers.read(folder, run)) == 2

    def test_the_plain_log_wins_over_the_packed_one(self, folder: Path):
        write_run(folder, ROWS[:3], {})
        assert len(readers.read(folder)) == 3

    def test_the_name_doesnt_say_that_it_is_packed(self, folder: Path):
        shutil.move(folder / "metrics.jsonl.gz", folder / "metrics.jsonl")
        assert len(readers.read(folder)) == 9

    @pytest.mark.parametrize(
        ("spoil", "why"),
        [
            (lambda data: b"\x00" + data[1:], "no row of JSON"),
            (lambda data: data[:12], "no whole row"),
            (lambda data: b"", "no whole row"),
            (lambda data: gzip.compress(b""), "no whole row"),
            (lambda data: gzip.compress(b"x\n"), "no row of JSON"),
        ],
    )
    def test_one_that_holds_no_row_is_told_in_one_line(self, folder: Path, spoil, why: str):
        log = folder / "metrics.jsonl.gz"
        log.write_bytes(spoil(log.read_bytes()))
        with pytest.raises(BadRunError, match=why) as raised:
            readers.read(folder)
        assert "\n" not in str(raised.value)
