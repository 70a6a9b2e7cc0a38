"""A terminal that has gone: a window that was closed, a connection that was cut.

The kernel tells the leader of a session alone, as a rule a shell, which ends what it has begun. `make` and
others wait for it instead, and the app would read from what is no more, at full speed, for good.
"""

import errno
import os
import signal
import sys


def gone(descriptor: int) -> bool:
    """Whether the terminal at that descriptor was hung up; False for what is no terminal."""
    if sys.platform == "win32":
        return False
    import termios

    try:
        termios.tcgetattr(descriptor)
    except termios.error as error:
        return error.args[0] == errno.EIO
    return False


def hang_up() -> None:
    """End as the signal of a hang-up ends a process. Not for Windows, which has none."""
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGHUP)
