"""A run that is watched: the verdict is told when it changes, not when it trembles."""

import json
import math
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from tests.conftest import ROOT, make_run, shipped
from tests.following.grows import Clock, Log
from tutor.cli import app, following
from tutor.following import telling
from tutor.following.growing import Growing, State, Trouble
from tutor.following.watching import Event, Watch
from tutor.report import Report
from tutor.reported.keys import schema
from tutor.run import Run


@dataclass
class Told:
    """As much of a report as a watch looks at."""

    run: Run
    verdict: str
    at: str
    close: bool = False
    fresh: bool = False

    @property
    def looks(self) -> Sequence[Any]:
        return [self]

    @property
    def walk(self) -> Any:
        return type("Walk", (), {"at": self.at, "tree": type("Tree", (), {"tree": "t"})})


class Runs:
    """A run that is said to grow at each look."""

    def __init__(self, *states: State) -> None:
        self._states = iter(states)

    def look(self) -> State:
        return next(self._states)


def kinds(verdicts: str, fresh: str = "") -> str:
    """Which verdicts are told of these, one a look: a capital hangs by a hair; some are `fresh`."""
    rows = [make_run({"loss": [1.0] * (2 + n)}, {"settings": {"steps": 99}}) for n in range(len(verdicts))]
    looks = iter(verdicts)

    def walked(run: Run) -> Told:
        sign = next(looks)
        return Told(
            run,
            "flaw" if sign.lower() != "h" else "healthy",
            sign.lower(),
            close=sign.isupper(),
            fresh=sign in fresh,
        )

    watch = Watch(Runs(*(State(run, 0.0) for run in rows)), walked)  # type: ignore[arg-type]
    told = [[event for event in watch.look() if event.kind == "verdict"] for _ in rows]
    return "".join(sign if events else "." for sign, events in zip(verdicts, told, strict=True))


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ("hhfff", "h.f.."),
        ("hFfff", "h.f.."),  # by a hair: at the next look
        ("hFhFhFh", "h......"),
        ("hfhfhfhf", "hf......"),  # sick, healthy, sick by a row
        ("hfhhffhhhh", "hf.h.f...h"),  # each time it has to hold for twice as long
        ("hfg", "hfg"),  # another flaw
    ],
)
def test_a_verdict_that_trembles_is_not_told_again_and_again(verdicts: str, told: str):
    assert kinds(verdicts) == told


def test_what_the_last_rows_alone_show_has_to_hold():
    assert kinds("hfggh", fresh="fg") == "h..g."
    assert kinds("hfh", fresh="f") == "h.."


def test_what_a_run_that_falls_silent_showed_last_is_told():
    run = make_run({"loss": [1.0] * 9}, {"settings": {"steps": 99}})
    watch = Watch(
        Runs(State(run, 0.0), State(run, 0.0), State(run, 0.0, silent=True), State(run, 0.0, silent=True)),
        lambda run: Told(run, "flaw", "f", fresh=True),  # type: ignore[arg-type,return-value]
    )
    assert [[event.kind for event in watch.look()] for _ in range(4)] == [[], [], ["verdict", "silent"], []]


def reported(*later: float) -> Report:
    loss = [3.0 + 7.0 * math.exp(-row / 20) + (-1) ** row / 100 for row in range(60)]
    norm = [1.0] * 60 + [9.0] * len(later)
    return Report(make_run({"loss": [*loss, *later], "grad_norm": norm}), shipped("phase-19"))


def test_the_last_few_rows_are_fresh_but_for_a_nan():
    assert reported(7.4, 6.6, 6.0).fresh
    assert reported(7.4, 6.6, 6.0).verdict == "flaw"
    assert not reported(7.4, 6.6, 6.0, 5.6, 5.2, 4.8, 4.5).fresh
    assert not reported(math.nan).fresh
    assert not reported(3.3).fresh  # nothing is wrong


def test_a_flaw_that_goes_again_is_withdrawn_once():
    rows = [make_run({"loss": [1.0] * (2 + n)}, {"settings": {"steps": 99}}) for n in range(7)]
    looks = iter("hfghhff")

    def walked(run: Run) -> Told:
        sign = next(looks)
        return Told(run, "flaw" if sign != "h" else "healthy", sign, close=False)

    watch = Watch(Runs(*(State(run, 0.0) for run in rows)), walked)  # type: ignore[arg-type]
    told = [event.withdrawn for _ in rows for event in watch.look() if event.kind == "verdict"]
    assert [one and one.at for one in told] == [None, None, None, "g", None]


def event(kind: str, **how: Any) -> Event:
    return Event(kind, State(None, 0.0), None, **how)  # type: ignore[arg-type]


def test_what_a_command_is_run_on():
    everything = telling.wanted("flaw, change,silent,end")
    assert telling.occasion(event("verdict", first=True, new_flaw=True), everything) == "flaw"
    assert telling.occasion(event("verdict", first=True), everything) is None
    assert telling.occasion(event("verdict"), everything) == "change"
    assert telling.occasion(event("verdict"), telling.wanted("flaw")) is None
    assert telling.occasion(event("silent"), everything) == "silent"
    assert telling.occasion(event("end"), everything) == "end"
    with pytest.raises(ValueError, match="'flow'"):
        telling.wanted("flow")


class TestCommand:
    FOUND = {"run": "a; rm -rf $HOME `x`", "verdict": "flaw", "leaf": {"id": "l"}, "step": 3}

    def test_what_was_found_is_in_its_environment_and_on_its_input(self, tmp_path: Path):
        out = shlex.quote(str(tmp_path / "out"))
        command = f'(echo "$TUTOR_EVENT $TUTOR_LEAF $TUTOR_STEP $TUTOR_RUN $TUTOR_SENTENCE"; cat) > {out}'
        assert telling.tell(command, "flaw", self.FOUND, 'it\'s "bad" $(x)') is None
        said, given = (tmp_path / "out").read_text().split("\n", 1)
        assert said == 'flaw l 3 a; rm -rf $HOME `x` it\'s "bad" $(x)'
        assert json.loads(given) == self.FOUND

    def test_a_command_that_reads_nothing_is_no_failure(self):
        assert telling.tell("true", "flaw", {**self.FOUND, "facts": "x" * 1_000_000}, "") is None

    def test_its_failure_is_told(self):
        assert telling.tell("exit 7", "flaw", self.FOUND, "") == "exit code 7"

    def test_it_and_what_it_began_are_killed_when_it_takes_too_long(self):
        why = telling.tell("sleep 60 | sleep 60", "end", self.FOUND, "", longest=0.05)
        assert why == "it took longer than 0.05 s"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watched(home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Follow a run of 600 steps with `tutor check --follow WORDS`: while it waits, one act after another
    befalls the log; Ctrl-C when there are none left.
    """
    log = Log(home / "r", clock, {"settings": {"steps": 600}})

    def run(*words: str, acts: Sequence[Callable[[Log], object]]) -> tuple[int, list[str], str]:
        left = iter(acts)

        def wait(seconds: float) -> None:
            assert seconds >= 1
            act = next(left, None)
            if act is None:
                raise KeyboardInterrupt
            act(log)

        def growing(path: Path, silent_after: float) -> Growing:
            return Growing(path, silent_after, clock=clock)

        monkeypatch.setattr(following, "Growing", growing)
        monkeypatch.setattr(following.check, "__kwdefaults__", {"wait": wait})
        done = CliRunner().invoke(app, ["check", "r", "--follow", *words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout.splitlines(), done.stderr

    return run


def after(text: str) -> str:
    """A line without its time."""
    assert re.match(r"\d\d:\d\d:\d\d  ", text), text
    return text[10:]


class TestFollowing:
    def test_a_line_when_the_verdict_changes_and_the_last_one_at_ctrl_c(self, watched):
        code, lines, _ = watched("--lang", "en", acts=[lambda log: log.add(300), grow, nan, grow, grow])
        *begun, to_do, end = lines
        waiting, readable, first, sick, last = map(after, (*begun, end))
        assert "waiting for its first row" in waiting
        assert first.startswith("step 299  [??] undecided")
        assert readable == "the log can be read now"
        assert sick.startswith("step 312  [!!]")
        assert sick.endswith("(phase-19 1.2)")
        assert to_do.startswith(f"{'':10}for this run now: stop; go on from before step 310 at half")
        assert last.startswith("step 332  [!!]")
        assert code == 1

    def test_it_may_be_started_before_the_training(self, watched):
        def there(log: Log) -> None:
            log.folder.with_name("aside").rename(log.folder)
            log.add(300)

        Path("r").rename("aside")
        code, lines, _ = watched("--lang", "en", acts=[there])
        waiting, readable, first = map(after, lines)  # at Ctrl-C it isn't said again
        assert waiting == "waiting for its first row: there is nothing yet where it is to be"
        assert readable == "the log can be read now"
        assert first.startswith("step 299  [??] undecided")
        assert code == 3

    def test_it_ends_with_the_run(self, watched):
        code, lines, _ = watched("--lang", "en", acts=[lambda log: log.add(600)])
        assert after(lines[-1]) == "the training has ended, at step 599"
        assert code == 3  # too little was recorded to call it healthy

    def test_json_is_an_object_a_line(self, watched):
        _, lines, _ = watched("--json", acts=[lambda log: log.add(300), lambda log: log.add(300)])
        found = [json.loads(line) for line in lines]
        assert [one["event"] for one in found] == ["trouble", "readable", "verdict", "end"]
        assert found[-1]["last_step"] == 599
        for one in found:
            jsonschema.validate(one, schema())

    def test_silence_is_told_once_and_that_rows_come_again(self, watched, clock: Clock):
        def wait_long(log: Log) -> None:
            clock.now += 400

        acts = [lambda log: log.add(50), wait_long, wait_long, grow]
        _, lines, _ = watched("--silent-after", "5", "--lang", "es", acts=acts)
        said = [after(line) for line in lines]
        assert sum("se da por muerto" in line for line in said) == 1
        assert sum("vuelven a llegar filas" in line for line in said) == 1

    def test_a_command_is_run_once_for_a_flaw(self, watched, home: Path):
        acts = [lambda log: log.add(300), nan, *[grow] * 9]
        watched("--on", "flaw", 'echo "$TUTOR_LEAF $TUTOR_STEP" >> told', acts=acts)
        assert (home / "told").read_text().splitlines() == [" 300"]

    def test_a_command_that_fails_is_told_in_a_line_and_it_goes_on(self, watched):
        _, lines, err = watched("--on", "end", "exit 3", acts=[lambda log: log.add(600)])
        assert err.splitlines()[-1] == "tutor: the command for end failed: exit code 3"
        assert "the training has ended" in lines[-1]

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["check", "r", "--on", "flaw", "x"], "give --follow too"),
            (["check", "r", "s", "--follow"], "one run"),
            (["check", "-", "--follow"], "standard input"),
            (["check", str(ROOT / "runs" / "19-break"), "--follow", "--on", "flow", "x"], "'flow'"),
            (["check", "nowhere/r", "--follow"], "there is no run"),
            (["walk", "--follow"], "tutor walk RUN --follow"),
            (["walk", "nowhere/r", "--follow"], "there is no run"),
            (["walk", str(ROOT / "runs" / "19-break"), "--silent-after", "3"], "give --follow too"),
        ],
    )
    def test_what_cannot_be_followed_is_refused_in_a_line(self, home: Path, words: list[str], why: str):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2
        assert why in done.stderr
        assert done.stderr.count("\n") == 1


def nan(log: Log) -> None:
    log.add(3, loss=math.nan)


def grow(log: Log) -> None:
    log.add(10)


def test_trouble_and_its_end_are_told_once_each():
    run = make_run({"loss": [1.0, 1.0]})
    trouble = Trouble("gone")
    states = [
        State(run, 0.0),
        State(run, 0.0, trouble=trouble),
        State(run, 0.0, trouble=trouble),
        State(run, 0.0),
    ]
    watch = Watch(Runs(*states), lambda run: Told(run, "healthy", "h"))  # type: ignore[arg-type]
    assert [[event.kind for event in watch.look()] for _ in states] == [
        ["verdict"],
        ["trouble"],
        [],
        ["readable"],
    ]
