"""Which tensors an optimizer has updated equally often, without asking the device at every step."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

_MOST = 4
"""So many times as many counts as a step has are kept: an optimizer may be rebuilt again and again."""


@dataclass(slots=True)
class _Seen:
    count: Tensor  # held, so that no other tensor has its id
    first: int  # in which step it was read
    began: float  # what it was then
    since: int = 0  # how many updates there were since

    @property
    def age(self) -> Hashable:
        return self.first, self.began, self.since


class Ages:
    """Tells tensors apart by Adam's counts of their updates, which a fused Adam keeps on the device.

    Each count is read when it is first seen. From then on it goes up in every step of the optimizer in which
    its tensor has a gradient, but for one that is skipped, which is skipped for all.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Seen] = {}
        self._steps = 0

    def step(self, counts: Sequence[Tensor]) -> None:
        """The optimizer has stepped: the counts of all tensors that had a gradient."""
        self._steps += 1
        if len(self._known) > _MOST * (len(counts) + 1):
            self._known = {}
        for count in counts:
            if seen := self._known.get(id(count)):
                seen.since += 1

    def of(self, counts: Iterable[Tensor]) -> list[Hashable]:
        """By tensor its age, from its count: tensors of one age have equal counts."""
        ages = []
        for count in counts:
            seen = self._known.get(id(count))
            if seen is None:
                seen = self._known[id(count)] = _Seen(count, self._steps, float(count))
            ages.append(seen.age)
        return ages
