"""Workers: a function over many items, several at once, each in a process that never outlives this one."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, get_context
from typing import TypeVar

KILLED = "its process was killed, or ran out of memory"

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
    with _pool(at_once) as pool:
        with _ignoring_interrupts():
            futures = [pool.submit(function, item) for item in items]
        yield (future.result() for future in futures)


def outcomes(
    function: Callable[[Item], Result], items: Sequence[Item], at_once: int
) -> Iterator[tuple[Item, Result | str]]:
    """`function` of every item, with it, as they get done; in place of a result why there is none.

    A worker that dies (killed, out of memory) takes no other item with it: those that were under way are
    tried again one by one, so that it is known which of them it was.

    Args:
        function: at the top of a module; it says what went wrong in what it returns.
        items: what can be sent to another process.
        at_once: how many processes.
    """
    waiting, suspects = deque(items), deque[Item]()
    while waiting or suspects:
        alone = bool(suspects)
        queue = suspects if alone else waiting
        running: dict[Future[Result], Item] = {}
        try:
            with _pool(1 if alone else at_once) as pool:
                while queue or running:
                    while queue and len(running) < (1 if alone else at_once):
                        with _ignoring_interrupts():
                            future = pool.submit(function, queue[0])  # raises where a worker died just now
                        running[future] = queue.popleft()
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        result = future.result()  # raises, and leaves the item, where its worker died
                        yield running.pop(future), result
        except BrokenProcessPool:
            if alone:
                yield from ((item, KILLED) for item in running.values())
            else:
                suspects.extend(running.values())


@contextmanager
def _pool(at_once: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that end with the block, and with this process however it ends."""
    context = get_context("spawn")
    # Nothing is ever sent: a worker waits for the other end to close, which the end of this process does too.
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(at_once, mp_context=context, initializer=_end_with, initargs=(theirs,))
    with theirs, ours, pool:
        try:
            yield pool
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
