"""A terminal that has gone: a window that was closed, a connection that was cut.

The kernel tells the leader of a session alone, as a rule a shell, which ends what it has begun. `make` and
others wait for it instead, and the app would read from what is no more, at full speed, for good.
"""

import errno
import os
import signal
import sys
from threading import Thread
from time import sleep

EVERY = 1.0  # seconds
"""How often `watch` looks."""


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


def watch(descriptor: int) -> None:
    """End this process once the terminal at that descriptor has gone, whatever it is doing then.

    From a thread of its own: the app may be waiting for good to write to what is no more.
    """

    def look() -> None:
        while not gone(descriptor):
            sleep(EVERY)
        hang_up()

    if os.isatty(descriptor):
        Thread(target=look, name="hang-up", daemon=True).start()


def hang_up() -> None:
    """End as a hang-up ends a process, also below nohup, where its signal is ignored. Not for Windows."""
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGHUP)
        os._exit(128 + signal.SIGHUP)
