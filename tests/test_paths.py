"""What is called how, by where it lies."""

from pathlib import Path

import pytest

from tutor import paths, readers


@pytest.mark.parametrize(
    ("log", "name", "called"),
    [
        ("mine/my.csv", "my", "my.csv"),  # as a reader may call it
        ("mine/my.csv", "my.csv", "my.csv"),
        ("mine/my.csv.gz", "my.csv", "my.csv.gz"),
        ("mine/my.csv", "my best", "my best"),  # as the log calls it itself
        ("version_0/metrics.csv", "metrics.csv", "version_0"),
        ("version_0/metrics.csv", "version_0", "version_0"),
        ("checkpoint-300/trainer_state.json", "trainer_state.json", "checkpoint-300"),
    ],
)
def test_a_log_of_one_file_has_one_name(tmp_path: Path, log: str, name: str, called: str):
    path = tmp_path / log
    path.parent.mkdir()
    path.touch()
    assert paths.log_name(path, name) == called


def test_what_is_no_file_keeps_its_name(tmp_path: Path):
    (tmp_path / "metrics").mkdir()
    assert paths.log_name(tmp_path / "metrics", "metrics") == "metrics"
    assert paths.log_name(tmp_path / "mlflow.db" / "main", "main") == "main"  # one of several in a file


@pytest.mark.parametrize("log", ["version_0/metrics.csv", "mine/my.csv", "mine/train.log", "mine/log.txt"])
def test_it_is_called_the_same_before_and_after_it_is_read(tmp_path: Path, log: str):
    path = tmp_path / log
    path.parent.mkdir()
    rows = [(step, 3 - step / 100) for step in range(60)]
    if path.suffix == ".csv":
        path.write_text("step,loss\n" + "".join(f"{step},{loss}\n" for step, loss in rows))
    else:
        path.write_text("".join(f"step {step} loss {loss}\n" for step, loss in rows))
    assert paths.log_name(path, readers.read(path).name) == paths.log_name(path, path.name)
