"""How commands end and print: an exit code that means what it says, plain lines, whatever the streams are."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_hostile import EVIL, SHOWN, posix
from tutor import cli, terminal
from tutor.cli import app, ending
from tutor.terminal.drawing import PlainConsole
from tutor.ui.app import TutorApp
from tutor.words import plain


def shell(line: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, with $tutor in it."""
    known = os.environ | {"tutor": f"{sys.executable} -m tutor", "PYTHONPATH": str(ROOT)} | environment
    words = ["bash", "-c", line]
    return subprocess.run(
        words, cwd=folder, env=known, capture_output=True, text=True, timeout=60, check=False
    )


class TestEndings:
    def ended(self, *words: str) -> int:
        return ending.run(lambda: app(list(words), prog_name="tutor", standalone_mode=False))

    @pytest.mark.parametrize("kind", [RuntimeError, MemoryError, RecursionError, BaseException])
    def test_what_nobody_foresaw(
        self,
        home: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        kind: type[BaseException],
    ):
        def fails(name: str) -> None:
            raise kind(EVIL)

        monkeypatch.setattr("tutor.readers.every", fails)
        assert self.ended("check", "19-control") == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(f"tutor: a mistake in tutor, not in your run: {kind.__name__}")
        assert "TUTOR_DEBUG=1" in err
        assert plain(err, lines=True) == err
        monkeypatch.setenv("TUTOR_DEBUG", "1")
        assert self.ended("check", "19-control") == 2
        err = capsys.readouterr().err
        assert "Traceback" in err
        assert plain(err, lines=True) == err

    def test_interrupted(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        def interrupted(name: str) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("tutor.readers.every", interrupted)
        assert self.ended("check", "19-control") == 130
        assert tuple(capsys.readouterr()) == ("", "")

    def test_codes_come_through(self, home: Path, capsys: pytest.CaptureFixture[str]):
        assert self.ended("check", "19-control") == 0
        assert self.ended("check", "19-break") == 1
        assert self.ended("--version") == 0
        assert self.ended("check") == 2
        assert "tutor check --help" in capsys.readouterr().err

    def test_a_failing_app_is_told_in_a_line(self, home: Path, monkeypatch: pytest.MonkeyPatch):
        async def fails(self: TutorApp) -> None:
            raise RuntimeError("planted")

        monkeypatch.setattr(TutorApp, "on_mount", fails, raising=False)
        run = TutorApp.run
        monkeypatch.setattr(TutorApp, "run", lambda app: run(app, headless=True))
        with pytest.raises(RuntimeError, match="planted"):
            cli._open(learner="ana", lang="en")


@posix
class TestStreams:
    """Commands as a shell starts them."""

    @pytest.mark.parametrize(("run", "code"), [("19-control", 0), ("19-break", 1)])
    def test_a_closed_pipe_keeps_the_verdict(self, run: str, code: int):
        done = shell(f"$tutor check {run} --explain | true; exit ${{PIPESTATUS[0]}}")
        assert (done.returncode, done.stderr) == (code, "")

    def test_a_closed_pipe_spoils_no_help(self):
        done = shell("$tutor --help | true; exit ${PIPESTATUS[0]}")
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is full")
    @pytest.mark.parametrize("words", ["check 19-control", "trees", "--help"])
    def test_a_full_disk(self, words: str):
        done = shell(f"$tutor {words} > /dev/full")
        assert done.returncode == 2
        assert done.stderr == "tutor: standard output can't be written: No space left on device\n"

    def test_streams_that_are_closed(self):
        assert shell("$tutor check 19-break >&-").returncode == 1
        assert shell("$tutor check nowhere 2>&-").returncode == 2

    def test_a_working_folder_that_is_gone(self, tmp_path: Path):
        done = shell("mkdir gone; cd gone; rmdir ../gone; $tutor check 19-control", tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "tutor: the working folder is gone: change to one that exists (cd), and run the command again\n"
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("columns", ["0", "²", "9" * 5000])
    def test_a_width_that_no_terminal_has(self, columns: str):
        done = shell("$tutor trees", COLUMNS=columns)
        assert done.returncode == 0
        assert "phase-19" in done.stdout


def test_the_console_lets_only_its_own_styles_through():
    console = PlainConsole(width=60, force_terminal=True, color_system="standard", highlight=False)
    with console.capture() as captured:
        console.print(EVIL, style="bold")
    assert captured.get() == f"\x1b[1m{SHOWN}\x1b[0m\n"


def test_a_line_is_plain(capsys: pytest.CaptureFixture[str]):
    terminal.tell(EVIL)
    terminal.refuse(f"one{EVIL}\ntwo")
    assert tuple(capsys.readouterr()) == (f"{SHOWN}\n", f"tutor: one{SHOWN}\ntutor: two\n")


def test_commands_print_through_that_door_alone():
    for path in (ROOT / "tutor").rglob("*.py"):
        place = path.relative_to(ROOT / "tutor").as_posix()
        if (
            place.startswith(("terminal/", "ui/")) or place == "lab/calibrate.py"
        ):  # no command: it prints numbers
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            called = node.func if isinstance(node, ast.Call) else None
            name = called.id if isinstance(called, ast.Name) else None
            assert name != "print", f"{place}:{node.lineno}"
            if name == "Console":  # where it only measures
                assert place == "report.py", place
