"""Remark: what a reader passed over or had to assume, as a value that either language can say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tutor.words import say


@dataclass(frozen=True)
class Remark:
    """One line about how a run was read; its words are in `words/<language>/remarks.yaml`.

    Attributes:
        key: of its words.
        facts: what they name: columns, files, counts.
        unseen: whether a part of what was logged went unseen that may hold a flaw: nothing can then be
            called healthy.
    """

    key: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    unseen: bool = False

    def says(self, lang: str) -> str:
        """The line to show."""
        return say(f"remarks.{self.key}", lang, **self.facts)


def packed_torn() -> Remark:
    """The remark that a packed log couldn't be unpacked to its end."""
    return Remark("torn_packed", unseen=True)


IN_EPOCHS = Remark("in_epochs")
"""That the steps of a log are epochs."""
