"""Workers: a function over many items, several at once, each in a process that never outlives this one."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def results(
    function: Callable[[Item], Result], items: Sequence[Item], at_once: int
) -> Iterator[Iterator[Result]]:
    """`function` of every item, in order, each when it and those before it are done.

    However the block is left before its end, and however this process ends (kill -9 too), the workers end
    there and then.

    Args:
        function: at the top of a module; what it raises is raised here.
        items: what can be sent to another process.
        at_once: how many processes.
    """
    context = get_context("spawn")
    # Nothing is ever sent: a worker waits for the other end to close, which the end of this process does too.
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(at_once, mp_context=context, initializer=_end_with, initargs=(theirs,))
    with theirs, ours, pool:
        try:
            with _ignoring_interrupts():
                futures = [pool.submit(function, item) for item in items]
            yield (future.result() for future in futures)
        except BaseException:
            ours.close()
            raise


def _end_with(parent: connection.Connection) -> None:
    """End this worker when the other end of the pipe is closed."""

    def watch() -> None:
        connection.wait([parent])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C for good: only their parent answers it, in one line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, held)
