"""What a run of a card is to be: its settings, its trigger and its faults, in plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tutor.card.schema import Card
from tutor.parts import Part
from tutor.settings import Settings, build

Role = Literal["plain", "control", "break", "fix", "fork"]


@dataclass(frozen=True)
class Plan:
    """What a run is to be, in plain data.

    Attributes:
        settings: every number.
        trigger: what befalls a break and its control alike.
        faults: what is wrong with the break.
        actions: what is done about a run when it is forked.
        role: "plain", "control", "break", or "fix" where a setting that mends the break was changed.
    """

    settings: Settings
    trigger: tuple[Part, ...] = ()
    faults: tuple[Part, ...] = ()
    role: Role = "plain"
    actions: tuple[Part, ...] = ()


def resolve(card: Card | None, *, control: bool = False, changes: Mapping[str, Any] | None = None) -> Plan:
    """What the run of `card` is to be, with `changes` (settings) laid over it.

    Raises:
        ValueError: a control of nothing, an unknown setting, a value out of bounds.
    """
    changes = changes or {}
    if card is None:
        if control:
            raise ValueError("--control needs --break: it is the control of that break")
        return Plan(build(changes))
    if control:
        return Plan(build({**card.settings, **changes}), card.trigger, role="control")
    broken = build({**card.settings, **card.change})
    settings = build(changes, broken)
    mended = any(getattr(settings, name) != getattr(broken, name) for name in card.mending)
    return Plan(settings, card.trigger, card.faults, "fix" if mended else "break")
