"""Menu: all that can be done, to search in: Textual's command palette, with its way out at the bottom."""

from typing import Any

from textual import work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette

from tutor.ui import bindings
from tutor.ui.screens.once import LeftOnce
from tutor.ui.widgets.footer import Keys
from tutor.ui.widgets.options import Clicked, has_room


class Commands(Clicked, CommandList, can_focus=False):
    """The commands that were found."""


class Menu(LeftOnce, CommandPalette):
    """The command palette of the app.

    Textual's asks for its list at any moment, also before it stands and after it has gone.
    """

    BINDINGS = bindings.MENU

    def compose(self) -> ComposeResult:
        """The search, over the keys."""
        for widget in super().compose():
            yield Commands() if type(widget) is CommandList else widget
        yield Keys()

    @property
    def _list(self) -> CommandList | None:
        """Its list, where it stands."""
        return next(iter(self.query(CommandList)), None)

    def action_close(self) -> None:
        """Back to the screen below."""
        self._action_escape()

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave; what it has begun ends first."""
        self._cancel_gather_commands()
        self._stop_busy_countdown()
        self._stop_no_matches_countdown()
        return super().dismiss(result)

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        if self._list and not self._left:
            await CommandPalette._gather_commands.__wrapped__(self, search_value)  # pyright: ignore[reportFunctionMemberAccess]

    def _action_cursor_down(self) -> None:
        if self._list:
            super()._action_cursor_down()

    def _action_command_list(self, action: str) -> None:
        if self._list and (has_room(self._list) or not action.startswith("page")):
            super()._action_command_list(action)
