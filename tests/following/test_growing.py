"""A log that grows: read where it changed, silent, ended, rewritten, gone."""

import json
import math
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.following.grows import NOW, Clock, Log
from tutor import readers
from tutor.following.growing import Growing, State, time_of
from tutor.following.pace import Pace
from tutor.run import Run
from tutor.runfolder.journal import Journal


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> Log:
    return Log(tmp_path / "r", clock, {"settings": {"steps": 100}})


def read(growing: Growing) -> Run:
    run = growing.look().run
    assert run is not None
    return run


class TestReading:
    def test_rows_come(self, log: Log, clock: Clock):
        growing = Growing(log.folder, clock=clock)
        log.add(5)
        assert len(read(growing)) == 5
        log.add(3)
        state = growing.look()
        assert (len(state.run or ()), state.step, state.steps, state.ended) == (8, 7, 100, False)

    def test_a_log_that_did_not_change_is_not_read(self, log: Log, clock: Clock):
        asked: list[Run | None] = []

        def counted(path: Path, since: Run | None) -> Run:
            asked.append(since)
            return readers.read(path, since)

        growing = Growing(log.folder, clock=clock, read=counted)
        log.add(5)
        first = read(growing)
        assert read(growing) is first
        assert asked == [None]
        log.add(1)
        growing.look()
        assert asked == [None, first]  # read on from there

    def test_what_all_rows_tell_of_a_loss_of_0_holds_of_those_that_came_before(
        self, tmp_path: Path, clock: Clock
    ):
        """A trainer that hides NaN writes 0 for it, where the gradient says so; not where 0 is a loss."""
        told = {"aggregations": {"loss": {"over": "window", "shows_nan": False}}}
        log = Log(tmp_path / "hides", clock, told)
        growing = Growing(log.folder, clock=clock)
        log.add(5, grad_norm=1.0)
        log.add(1, loss=0.0, grad_norm=math.nan)
        assert math.isnan(read(growing)["loss"][-1])
        log.add(2, loss=0.0, grad_norm=math.nan)
        assert read(growing)["loss"].is_nan().sum() == 3
        log.add(1, loss=0.0, grad_norm=0.5)
        assert read(growing)["loss"].to_list()[-4:] == [0.0] * 4

    @pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
    def test_other_formats_are_read_again(self, tmp_path: Path, clock: Clock, name: str):
        path, head = tmp_path / name, "step,loss\n" if name.endswith("csv") else ""
        row = "{0},{1}\n" if head else '{{"step": {0}, "loss": {1}}}\n'
        path.write_text(head + "".join(row.format(step, 2.0) for step in range(3)))
        growing = Growing(path, clock=clock)
        assert len(read(growing)) == 3
        with path.open("a") as file:
            file.write(row.format(3, 1.0))
        assert len(read(growing)) == 4

    def test_checkpoints_that_come_are_the_same_run(self, tmp_path: Path, clock: Clock):
        growing = Growing(tmp_path, clock=clock)
        for at in (5, 10):
            (tmp_path / f"checkpoint-{at}").mkdir()
            rows = [{"step": step, "loss": 2.0 - step / 100} for step in range(at)]
            (tmp_path / f"checkpoint-{at}" / "trainer_state.json").write_text(
                json.dumps({"log_history": rows})
            )
            state = growing.look()
            assert (state.trouble, len(state.run or ())) == (None, at)

    def test_a_run_without_a_row_is_waited_for(self, log: Log, clock: Clock):
        growing = Growing(log.folder, clock=clock)
        state = growing.look()
        assert state.run is None
        assert state.trouble
        assert "waiting for its first row" in state.trouble.says("en")
        log.add(2)
        assert growing.look() == State(read(growing), NOW)

    @given(st.lists(st.sampled_from(["grow", "tear", "cut", "anew", "away", "back", "junk"]), max_size=12))
    def test_whatever_befalls_it_rows_are_never_lost(self, tmp_path: Path, clock: Clock, fates: list[str]):
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        log = Log(tmp_path / "r", clock)
        log.add(5)
        growing = Growing(log.folder, clock=clock)
        most = len(read(growing))
        aside = log.path.with_name("aside")
        for fate in fates:
            if fate == "back" and aside.exists():
                aside.replace(log.path)
            if log.path.exists():
                befall(log, aside, fate)
            now = len(read(growing))
            assert now >= most
            most = now


def befall(log: Log, aside: Path, fate: str) -> None:
    match fate:
        case "grow":
            log.add(3)
        case "tear":
            log.path.write_bytes(log.path.read_bytes() + b'{"step"')
        case "cut":
            log.path.write_bytes(log.path.read_bytes()[: log.path.stat().st_size // 2])
        case "anew":
            log.write_anew(2)
        case "away":
            log.path.replace(aside)
        case "junk":
            log.path.write_bytes(b"\x00\xff{{{\n")


class TestTrouble:
    def test_a_log_that_is_gone_leaves_what_was_read(self, log: Log, clock: Clock):
        growing = Growing(log.folder, clock=clock)
        log.add(5)
        growing.look()
        log.path.rename(log.folder / "aside")
        assert growing.look().trouble is None  # it may be on its way back
        state = growing.look()
        assert state.trouble
        assert "gone" in state.trouble.says("en")
        assert len(state.run or ()) == 5
        (log.folder / "aside").rename(log.path)
        assert growing.look().trouble is None

    def test_one_that_is_written_anew_is_taken_when_it_is_as_long(self, log: Log, clock: Clock):
        growing = Growing(log.folder, clock=clock)
        log.add(5)
        growing.look()
        log.write_anew(2)
        state = growing.look()
        assert state.trouble
        assert "has lost rows" in state.trouble.says("en")
        assert len(state.run or ()) == 5
        log.add(4)
        state = growing.look()
        assert (state.trouble, len(state.run or ())) == (None, 6)

    def test_another_training_in_its_place_is_taken_at_once(self, log: Log, clock: Clock):
        growing = Growing(log.folder, clock=clock)
        log.add(50)
        growing.look()
        log.write_anew(3, loss=9.5)
        state = growing.look()
        assert (state.trouble, state.step) == (None, 2)
        log.add(2, loss=9.25)
        assert growing.look().step == 4

    def test_one_that_cannot_be_read_says_why(self, tmp_path: Path, clock: Clock):
        path = tmp_path / "trainer_state.json"
        path.write_text(json.dumps({"log_history": [{"step": s, "loss": 1.0} for s in range(4)]}))
        growing = Growing(path, clock=clock)
        assert len(read(growing)) == 4
        path.write_text('{"log_history": [{"st')  # in the middle of a write
        assert growing.look().trouble is None
        state = growing.look()
        assert state.trouble
        assert "was it cut?" in state.trouble.says("es")
        assert len(state.run or ()) == 4


class TestSilence:
    def test_so_long_without_a_row_it_is_presumed_dead(self, log: Log, clock: Clock):
        growing = Growing(log.folder, 10, clock=clock)
        log.add(5)
        growing.look()
        clock.now += 599
        assert not growing.look().silent
        clock.now += 1
        state = growing.look()
        assert (state.silent, state.written) == (True, NOW)
        log.add(1)
        assert growing.look() == State(read(growing), clock.now)

    def test_a_log_that_was_silent_before_anyone_looked(self, log: Log, clock: Clock):
        log.add(5)
        clock.now += 700
        assert Growing(log.folder, 10, clock=clock).look().silent

    def test_before_its_first_row_a_run_may_wait_for_hours(self, tmp_path: Path, clock: Clock):
        growing = Growing(tmp_path / "queued.csv", 10, clock=clock)
        assert not growing.look().silent
        clock.now += 7200
        state = growing.look()
        assert (state.silent, state.step) == (False, None)

    def test_a_run_that_has_ended_is_not_silent(self, log: Log, clock: Clock):
        log.add(100)
        clock.now += 7000
        state = Growing(log.folder, 10, clock=clock).look()
        assert (state.ended, state.silent) == (True, False)

    def test_a_time_of_another_day_has_its_date(self):
        assert len(time_of(NOW)) == len("2023-11-14 22:13")


class TestClosed:
    """A loop that somebody recorded closes its run: nothing else says how long it was to be."""

    @staticmethod
    def closed(folder: Path, steps: range) -> None:
        with Journal(folder) as journal:
            for step in steps:
                journal.add(step, loss=2.0 - step / 1000)

    def test_it_has_ended(self, tmp_path: Path):
        journal = Journal(tmp_path / "r")
        for step in range(20):
            journal.add(step, loss=2.0 - step / 1000)
        journal.flush()
        growing = Growing(tmp_path / "r", 10)
        assert not growing.look().ended
        journal.close()
        assert growing.look().ended

    def test_one_that_goes_on_has_not(self, tmp_path: Path):
        self.closed(tmp_path / "r", range(20))
        with Journal(tmp_path / "r", resume=True) as journal:
            assert not Growing(tmp_path / "r").look().ended  # before its first row, too
            journal.add(20, loss=1.9)
            journal.flush()
            assert not Growing(tmp_path / "r").look().ended
        assert Growing(tmp_path / "r").look().ended

    def test_one_that_failed_has_not(self, tmp_path: Path):
        with suppress(RuntimeError), Journal(tmp_path / "r") as journal:
            journal.add(0, loss=2.0)
            raise RuntimeError
        assert Growing(tmp_path / "r").look().ended is False
        assert Growing(tmp_path / "r").look().step == 0

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"step": "x"}', "[" * 500, '{"step": 18}'])
    def test_a_note_that_says_nothing_of_the_last_row(self, tmp_path: Path, text: str):
        self.closed(tmp_path / "r", range(20))
        (tmp_path / "r" / "ended.json").write_text(text)
        assert Growing(tmp_path / "r").look().ended is False


class TestPlanned:
    """Of what tutor itself trains the manifest says; other trainers number their last step by how many."""

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("log.txt", " iteration {step}/ 20 | lm loss: 2.0 | number of nan iterations: 0 |\n"),
            ("log.txt", "step:{step}/20 train_loss:2.0 train_time:9ms\n"),
            ("log.txt", "step {step:05d}/00020 (9.00%) | loss: 2.0 | lrm: 1.00 |\n"),
            ("log.jsonl", '{{"current_steps": {step}, "total_steps": 20, "loss": 2.0}}\n'),
        ],
    )
    def test_a_log_that_prints_it(self, tmp_path: Path, clock: Clock, name: str, text: str):
        path = tmp_path / name
        path.write_text("".join(text.format(step=step) for step in (10, 19)))
        growing = Growing(path, clock=clock)
        state = growing.look()
        assert (state.steps, state.ended) == (20, False)
        with path.open("a") as file:
            file.write(text.format(step=20))
        assert growing.look().ended

    def test_a_trainers_own_configuration(self, tmp_path: Path, clock: Clock):
        state = {"max_steps": 20, "num_train_epochs": 1}
        path = tmp_path / "trainer_state.json"
        rows = [{"step": step, "loss": 2.0} for step in (10, 19, 20)]
        path.write_text(json.dumps(state | {"log_history": rows[:2]}))
        growing = Growing(path, clock=clock)
        assert (growing.look().steps, growing.look().ended) == (20, False)
        path.write_text(json.dumps(state | {"log_history": rows}))
        assert growing.look().ended

    def test_one_that_does_not_say(self, tmp_path: Path, clock: Clock):
        path = tmp_path / "log.csv"
        path.write_text("step,loss\n1,2.0\n2,2.0\n")
        state = Growing(path, clock=clock).look()
        assert (state.steps, state.ended) == (None, False)


class TestPace:
    def test_looking_takes_a_tenth_of_the_time(self):
        now = 0.0
        pace = Pace(lambda: now)
        assert pace.due
        with pace.working():
            assert not pace.due
            now += 2.0
        assert (pace.due, pace.left) == (False, 18.0)
        now += 18.0
        assert pace.due
