"""LeftOnce: a screen that is left once, however often and how fast it is asked to go; and painted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete
from textual.errors import NoWidget
from textual.geometry import Offset
from textual.screen import Screen

from tutor.ui.typed import InTutor

SOON = 0.002
"""Seconds without a message after which a screen that opens is painted."""

if TYPE_CHECKING:
    from textual import events
    from textual.geometry import Region
    from textual.message import Message
    from textual.timer import Timer
    from textual.widget import Widget
    from textual.worker import Worker

    _Screen = Screen[Any]
else:
    _Screen = object


class LeftOnce(InTutor, _Screen):
    """Mixed in before Textual's own screen, of which every screen of the app is one.

    Textual's `dismiss` takes away whatever screen is in front: a second Enter or Escape, pressed before the
    first one was dealt with, would take away the one below. And it paints a screen that opens at each step
    towards its place: unsized, sized, and once more in the layout of that size.
    """

    _left = False
    _result: Any = None
    _unpainted = False
    _soon: Timer | None = None

    def opens(self) -> None:
        """Paint nothing until all that opening brings with it is done. Its classes for the room that there is
        stand from the start: given when it is sized, they would have it styled and laid out a second time.
        """
        self._unpainted = True
        width, height = self.app.size
        for room, breakpoints in (
            (width, self.HORIZONTAL_BREAKPOINTS),
            (height, self.VERTICAL_BREAKPOINTS),
        ):
            self.set_class(True, *self._get_breakpoint_classes(room, breakpoints or []), update=False)

    @property
    def stands(self) -> bool:
        """Whether its widgets are there: neither is it being opened or taken away, nor is the app being left.
        What a screen has waited for may come when they are gone.
        """
        return self.is_mounted and self.is_attached and self.display

    async def on_event(self, event: events.Event) -> None:
        """A screen that opens while it is taken away, or the app is left, has no widgets: it isn't told that
        it stands.
        """
        from textual.events import Mount

        if not isinstance(event, Mount) or (self.is_attached and self.display):
            await super().on_event(event)

    def run_worker(self, *args: Any, start: bool = True, **how: Any) -> Worker[Any]:
        """Begin no work once the app is being left: it would end when the widgets are gone."""
        return super().run_worker(*args, start=start and not self.app.leaving, **how)

    async def _on_idle(self, event: events.Idle) -> None:
        """Paint soon after the last step of opening: Textual's own timer begins with a whole frame's wait."""
        if self._unpainted and self.is_current and not self.app._batch_count:
            if self._soon:
                self._soon.stop()
            self._soon = self.set_timer(SOON, self._on_timer_update)
        await super()._on_idle(event)

    def _on_timer_update(self) -> None:
        super()._on_timer_update()
        if self._unpainted and self.is_current and not self.app._batch_count:
            self._unpainted = False
            self._compositor_refresh()

    def _compositor_refresh(self) -> None:
        if not (self._unpainted and self.is_current):
            super()._compositor_refresh()

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave with `result`; a second time nothing happens. Under other screens, go once they have gone."""
        if self._left:
            return AwaitComplete.nothing()
        self._left, self._result = True, result
        return super().dismiss(result) if self.app.screen is self else AwaitComplete.nothing()

    def on_screen_resume(self) -> None:
        """In front: go, where that was asked for meanwhile; be covered while the terminal is too small."""
        if self.app.screen is not self:
            return
        if self._left:
            super().dismiss(self._result)
        else:
            self.app.cover()

    def on_screen_suspend(self) -> None:
        """Covered, perhaps before it was first painted: what waits for that waits no longer."""
        self.call_next(self._invoke_and_clear_callbacks)

    def check_message_enabled(self, message: Message) -> bool:
        """Once it is left, what its fields and lists still tell it is passed over."""
        return super().check_message_enabled(message) and not (self._left and message.control)

    def get_widget_at(self, x: int, y: int) -> tuple[Widget, Region]:
        """What is drawn there; where nothing is known to be, the screen itself.

        So it is beside what was laid out before the terminal grew: Textual would take the focus from what has
        it, and no key would reach a field any more.
        """
        try:
            return super().get_widget_at(x, y)
        except NoWidget:
            return self, self.region

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        """What is drawn there, unless it is on its way out: a selection can't begin in it."""
        from tutor.ui.widgets.plot import Plot

        widget, offset = super().get_widget_and_offset_at(x, y)
        if widget is None or not widget.is_attached:
            return None, None
        return widget, widget.place(Offset(x, y)) if isinstance(widget, Plot) else offset

    def get_selected_text(self) -> str | None:
        """What is selected; nothing where it was drawn anew and is shorter now: Textual would fail."""
        try:
            return super().get_selected_text()
        except IndexError:
            self.clear_selection()
            return None
