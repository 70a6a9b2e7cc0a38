"""A short run of each target, every input that failed once, and the driver on failures that are planted."""

from pathlib import Path

import pytest
from hypothesis import given, seed, settings

from tests.fuzz.__main__ import fuzz, main
from tests.fuzz.target import FOUND, UNHURRIED, found, load, names

KNOWN = [(name, path) for name in names() for path in found(name)]


@pytest.mark.parametrize("name", names())
def test_a_short_run(name: str, tmp_path: Path):
    target = load(name)
    for data in target.SEEDS[::8]:  # `make fuzz` takes each
        target.check(data, tmp_path)

    @seed(0)
    @settings(max_examples=5, database=None, suppress_health_check=UNHURRIED)
    @given(target.INPUTS)
    def one(data: bytes) -> None:
        target.check(data, tmp_path)

    one()


@pytest.mark.parametrize(("name", "path"), KNOWN, ids=[f"{name}-{path.name}" for name, path in KNOWN])
def test_what_failed_once(name: str, path: Path, tmp_path: Path):
    load(name).check(path.read_bytes(), tmp_path)


def test_what_failed_once_belongs_to_a_target():
    assert {folder.name for folder in FOUND.glob("*")} <= set(names())


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("raise", "RuntimeError: planted"),
        pytest.param("memory", "MemoryError", marks=pytest.mark.slow),
        pytest.param("crash", "Segmentation fault", marks=pytest.mark.slow),
        pytest.param("hang", "planted.py", marks=pytest.mark.slow),
    ],
)
def test_a_failure_is_kept_as_a_fixture_and_named(
    kind: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PLANTED", kind)
    monkeypatch.setenv("FUZZ_LONGEST", "3")
    fixture = fuzz("tests.fuzz.planted", 30, 1, tmp_path)
    assert fixture is not None
    assert b"x" in fixture.read_bytes()
    assert said in capsys.readouterr().err


def test_an_unknown_target(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(["nothing"])
    assert "they are: checkpoint, csv" in capsys.readouterr().err
