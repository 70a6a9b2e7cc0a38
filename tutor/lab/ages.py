"""Which tensors an optimizer has updated equally often, without asking the device at every step."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from torch import Tensor

_MOST = 4  # times as many counts as a step has: of an optimizer that is rebuilt again and again


@dataclass(slots=True)
class _Seen:
    count: Tensor  # held, so that no other tensor has its id
    first: int  # the call that saw it first
    began: float  # what it was then
    since: int = -1  # in how many calls it was seen since


class Ages:
    """Tells tensors apart by Adam's counts of their updates, which a fused Adam keeps on the device.

    Each count is read when it is first seen. From then on it goes up in every step of which its tensor has a
    gradient, but for a step that is skipped, which is skipped for all.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Seen] = {}
        self._calls = 0

    def of(self, counts: Sequence[Tensor]) -> list[Hashable]:
        """By tensor its age, from its count after an update: tensors of one age have equal counts.

        Called once a step, with the counts of those tensors that had a gradient in it.
        """
        if len(self._known) > _MOST * (len(counts) + 1):
            self._known = {}
        self._calls += 1
        ages = []
        for count in counts:
            seen = self._known.get(id(count))
            if seen is None:
                seen = self._known[id(count)] = _Seen(count, self._calls, float(count))
            seen.since += 1
            ages.append((seen.first, seen.began, seen.since))
        return ages
