"""A terminal that goes away, as of a connection that is cut, takes the app with it."""

import os
import select
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from tutor.terminal.hangup import gone

ROOT = Path(__file__).parents[2]
PATIENCE = 60

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals", allow_module_level=True)


def test_a_terminal_is_gone_once_its_other_end_is():
    ours, theirs = os.openpty()
    assert not gone(theirs)
    os.close(ours)
    assert gone(theirs)
    os.close(theirs)


def test_what_is_no_terminal_was_not_hung_up(tmp_path: Path):
    with (tmp_path / "a").open("w") as file:
        assert not gone(file.fileno())


@pytest.mark.parametrize(
    ("handler", "code"), [(signal.SIG_DFL, -signal.SIGHUP), (signal.SIG_IGN, 128 + signal.SIGHUP)]
)
def test_the_app_ends_where_nobody_tells_it_of_the_hang_up(home: Path, handler: signal.Handlers, code: int):
    """As below make: the kernel signals the leader of the session alone, and that waits for the app.

    Below nohup the app is told to ignore the signal.
    """
    ours, theirs = os.openpty()
    app = subprocess.Popen(
        [sys.executable, "-m", "tutor", "walk", str(ROOT / "runs" / "19-break")],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
        preexec_fn=partial(signal.signal, signal.SIGHUP, handler),
    )
    os.close(theirs)
    try:
        assert "NaN or Inf?" in drawn(ours, "NaN or Inf?")
        os.close(ours)
        assert app.wait(PATIENCE) == code
    finally:
        app.kill()
        app.wait()


def drawn(terminal: int, until: str) -> str:
    """What the app draws, until a text is there."""
    seen, end = "", monotonic() + PATIENCE
    while until not in seen and monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
    return seen
