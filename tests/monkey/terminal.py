"""What a terminal sends for an action."""

from collections.abc import Iterator, Sequence
from typing import Any

from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key


def events_of(kind: str, what: Sequence[Any], size: Size) -> Iterator[events.Event]:
    """What the terminal would send; places are shares of its size."""

    def place(x: float, y: float) -> tuple[int, int]:
        return min(int(x * size.width), size.width - 1), min(int(y * size.height), size.height - 1)

    def mouse(
        event: type[events.MouseEvent], x: int, y: int, *, button: int = 0, shift: bool = False
    ) -> events.Event:
        return event(
            None, x, y, delta_x=0, delta_y=0, button=button, shift=shift, meta=False, ctrl=False,
            screen_x=x, screen_y=y,
        )  # fmt: skip

    match kind, *what:
        case "press", key:
            yield events.Key(*_key_event(key))
        case "paste", text:
            yield events.Paste(text)
        case "click", x, y, times:
            at = place(x, y)
            yield mouse(events.MouseMove, *at)
            for _ in range(times):
                yield mouse(events.MouseDown, *at, button=1)
                yield mouse(events.MouseUp, *at, button=1)
        case "wheel", x, y, way, shift:
            event = events.MouseScrollDown if way > 0 else events.MouseScrollUp
            yield mouse(event, *place(x, y), shift=shift)
        case "drag", x, y, to_x, to_y:
            yield mouse(events.MouseDown, *place(x, y), button=1)
            yield mouse(events.MouseMove, *place((x + to_x) / 2, (y + to_y) / 2), button=1)
            yield mouse(events.MouseMove, *place(to_x, to_y), button=1)
            yield mouse(events.MouseUp, *place(to_x, to_y), button=1)
        case _:
            raise ValueError(f"nobody can {kind}")


def _key_event(key: str) -> tuple[str, str | None]:
    """The key's name, and the character that it types, if any."""
    if len(key) == 1:
        return (key if key.isalnum() else _character_to_key(key)), key
    typed = {
        "space": " ",
        "enter": "\r",
        "tab": "\t",
        "plus": "+",
        "minus": "-",
        "comma": ",",
        "full_stop": ".",
    }
    return key, typed.get(key)
