"""Files: what is read and written goes on beside the screen, so that a slow disk never holds up a key.

Runs are read beside each other. The notebook has one thread to itself: what is asked of it happens in the
order in which it was asked, so that a later save never loses to an earlier one and whoever reads sees it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tutor.words import SaidError

T = TypeVar("T")


class Files:
    """Reads and writes for one app. Its callbacks run on the app's own thread.

    Attributes:
        busy: how many reads and saves are under way.
    """

    def __init__(self) -> None:
        self.busy = 0
        self._notebook = ThreadPoolExecutor(max_workers=1, thread_name_prefix="notebook")

    async def read(self, act: Callable[[], T]) -> T:
        """What `act` gives; it reads runs or trees."""
        return await self._counted(asyncio.to_thread(act))

    async def notes(self, act: Callable[[], T]) -> T:
        """What `act` gives; it reads the notebook, with everything in it that was saved before."""
        return await self._counted(asyncio.wrap_future(self._notebook.submit(act)))

    def save(self, act: Callable[[], object], refused: Callable[[SaidError], None]) -> None:
        """Let `act` write the notebook; nobody waits. `refused` is told why it couldn't."""

        def done(saving: asyncio.Future) -> None:
            self.busy -= 1
            error = saving.exception()
            if isinstance(error, SaidError):
                refused(error)
            elif error:
                raise error

        self.busy += 1
        asyncio.wrap_future(self._notebook.submit(act)).add_done_callback(done)

    async def close(self) -> None:
        """Wait until everything is saved. A process that ends without it waits too, at its very end."""
        await asyncio.to_thread(self._notebook.shutdown)

    async def _counted(self, work: Awaitable[T]) -> T:
        self.busy += 1
        try:
            return await work
        finally:
            self.busy -= 1
