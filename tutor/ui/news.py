"""News: what a screen is told of the run that is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tutor.following.growing import State
    from tutor.following.striking import Strike


@dataclass(frozen=True)
class News:
    """How the run that is followed stands.

    Attributes:
        state: as it was last read.
        strike: the last that came since it is followed, or None.
    """

    state: State
    strike: Strike | None = None


@dataclass
class Grown(Message):
    """The run that is followed was looked at."""

    news: News
