"""LLaMA-Factory: the log of a folder and the states of its checkpoints are one run, whichever was saved."""

import json
from pathlib import Path

from tests.following.grows import Clock
from tutor import readers
from tutor.following.growing import Growing
from tutor.readers.common.trainers import HUGGING_FACE


def log(folder: Path, steps: range) -> None:
    rows = [{"current_steps": at, "total_steps": 60, "loss": 4 - at / 40, "lr": 1e-4} for at in steps]
    with (folder / "trainer_log.jsonl").open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def save(folder: Path, steps: range, above: float = 0) -> None:
    rows = [
        {"step": at, "loss": 4 - at / 40 + above, "grad_norm": 1 + at / 10, "epoch": at / 60} for at in steps
    ]
    checkpoint = folder / f"checkpoint-{steps[-1]}"
    checkpoint.mkdir()
    state = {"max_steps": 60, "log_history": rows}
    (checkpoint / "trainer_state.json").write_text(json.dumps(state))


def test_one_that_is_followed_stays_with_its_log_when_a_checkpoint_comes(tmp_path: Path):
    growing = Growing(tmp_path, clock=Clock())
    log(tmp_path, range(10, 31, 10))
    first = growing.look().run
    save(tmp_path, range(10, 31, 10))
    log(tmp_path, range(40, 51, 10))
    state = growing.look()
    assert state.trouble is None
    assert state.run is not None
    assert first is not None
    assert (state.run.path, state.run.name) == (first.path, first.name) == (tmp_path, tmp_path.name)
    assert state.run["loss"].to_list() == [3.75, 3.5, 3.25, 3.0, 2.75]
    assert state.run["grad_norm"].to_list() == [2, 3, 4, None, None]
    log(tmp_path, range(60, 61, 10))
    save(tmp_path, range(10, 61, 10))
    state = growing.look()
    assert (state.ended, state.step) == (True, 60)
    assert state.run is not None
    assert state.run["grad_norm"].to_list() == [2, 3, 4, 5, 6, 7]


def test_of_both_each_value_is_there_once_and_hides_nan_alike(tmp_path: Path):
    log(tmp_path, range(10, 31, 10))
    save(tmp_path, range(20, 61, 20))
    (source,) = readers.every(str(tmp_path))
    run = readers.read_source(source)
    assert source.format == "a folder of LLaMA-Factory"
    assert run.steps.to_list() == [10, 20, 30, 40, 60]
    assert (run["loss"].to_list(), run["lr"].to_list()) == (
        [3.75, 3.5, 3.25, 3, 2.5],
        [1e-4] * 3 + [None] * 2,
    )
    assert run.aggregation("loss") == HUGGING_FACE


def test_states_of_another_training_are_left_out_and_told(tmp_path: Path):
    log(tmp_path, range(10, 31, 10))
    save(tmp_path, range(10, 61, 10), above=0.5)
    run = readers.read(tmp_path)
    assert (run.steps.to_list(), run.has("grad_norm")) == ([10, 20, 30], False)
    assert [one.key for one in run.remarks if one.key == "other_states"]


def test_a_state_that_is_being_written_doesnt_hide_the_log(tmp_path: Path):
    log(tmp_path, range(10, 31, 10))
    (tmp_path / "checkpoint-30").mkdir()
    (tmp_path / "checkpoint-30" / "trainer_state.json").write_text('{"max_steps": 60,')
    assert readers.read(tmp_path).steps.to_list() == [10, 20, 30]
