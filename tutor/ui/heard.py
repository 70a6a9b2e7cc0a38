"""heard: what was typed into a field has come up to its screen, before something is done with it."""

import asyncio
from contextlib import suppress

from textual.widget import Widget


async def heard(field: Widget | None) -> None:
    """Wait until what was typed has come up from `field` to its screen.

    A key makes its field tell of the change, and each widget above passes that on: two turns at each.
    Without the wait Ctrl+S right behind a word would save a text without its end. Not to be awaited by one of
    these widgets: none takes a turn while it waits.
    """
    with suppress(TimeoutError):  # a field that was taken away in the meantime takes no turn any more
        async with asyncio.timeout(1):
            on_the_way = field.ancestors_with_self if field else ()
            for widget in (one for one in on_the_way if isinstance(one, Widget)):
                for _ in range(2):
                    turn = asyncio.Event()
                    if widget.call_later(turn.set):
                        await turn.wait()
