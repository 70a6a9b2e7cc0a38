"""The parameters that an optimizer treats alike, and the sums that quantities take over them.

Each sum is a pass over the parameters: a step of training is only a few dozen such passes long where the
model is large and the batch small. So all sums are taken together, once for all quantities.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import torch
from torch import Tensor

from tutor.lab.quantities.norms import square

BLOCK = 1 << 18  # values; on a CPU what is read for one sum is still in the cache for the next
ALONE = 1 << 22  # values; on a GPU the sums over a larger tensor take longer than asking for them
AT_ONCE = 1 << 24  # values; of smaller tensors so many are copied together


@dataclass(frozen=True)
class Moments:
    """Adam's state of the tensors of a group that have any, after the update.

    Attributes:
        m, v: of each tensor, the running means of the gradient and of its square, not corrected for their
            start at zero, in the tensor's shape.
        updates: of each, how many there were, a scalar.
        ages: tensors of one age have had equally many.
        beta2, eps: of the group.
    """

    m: Sequence[Tensor]
    v: Sequence[Tensor]
    updates: Sequence[Tensor]
    ages: Sequence[Hashable]
    beta2: float
    eps: float


@dataclass(frozen=True)
class Sums:
    """Sums of squares over a group, in fp32: each is that of its parts, scalars on the device, or of none.

    Attributes:
        before, moved: of the parameters before the update, and of how far it moved them.
        gradients, rest: of the gradients, and of all of them but the embedding's.
        m, v: of Adam's moments.
        ratios: of g / sqrt(v), v corrected for its start at zero, and held at eps squared or above before.
    """

    before: Sequence[Tensor]
    moved: Sequence[Tensor]
    gradients: Sequence[Tensor]
    rest: Sequence[Tensor]
    m: Sequence[Tensor]
    v: Sequence[Tensor]
    ratios: Sequence[Tensor]


@dataclass(frozen=True)
class Group:
    """Parameters that the optimizer treats alike, as one tensor or many, of any shape.

    Attributes:
        before: the parameters that this step's forward pass used, one tensor each.
        after: the same ones once the optimizer has stepped.
        gradients: what it was given, clipped; none where a tensor got no gradient. Those whose moments are
            known come first.
        moments: of these; None under an optimizer without m and v, or before its first update.
        embedding: the place of the embedding's gradient among all; None where it isn't there.
        size: how many values have moments, in all processes; None where there is but this one.
    """

    name: str
    before: Sequence[Tensor]
    after: Sequence[Tensor]
    gradients: Sequence[Tensor]
    moments: Moments | None
    embedding: int | None = None
    size: int | None = None

    @property
    def with_moments(self) -> int:
        """How many values have moments, in all processes."""
        if self.size is not None:
            return self.size
        return sum(v.numel() for v in self.moments.v) if self.moments else 0

    @cached_property
    @torch.no_grad()
    def sums(self) -> Sums:
        """The sums over its tensors, taken as suits the device that they are on."""
        on_cpu = all(tensor.device.type == "cpu" for tensor in self.before)
        return sums_of(self, by_blocks if on_cpu else by_lists)


Piece = tuple[int, Sequence[Tensor]]
"""The place of the first tensor in it, and what is of each of several sequences of tensors, flat."""

Pieces = Callable[[Sequence[Sequence[Tensor]], Sequence[Hashable]], Iterator[Piece]]
"""Sequences of tensors, side by side, cut into pieces of tensors of one age."""


def by_blocks(sequences: Sequence[Sequence[Tensor]], ages: Sequence[Hashable]) -> Iterator[Piece]:
    """For a CPU: block by block, and every sum of a block before the next block."""
    del ages  # a block is of one tensor
    for place, tensors in enumerate(zip(*sequences, strict=True)):
        for blocks in zip(*(tensor.flatten().split(BLOCK) for tensor in tensors), strict=True):
            yield place, blocks


def by_lists(sequences: Sequence[Sequence[Tensor]], ages: Sequence[Hashable]) -> Iterator[Piece]:
    """For a GPU: large tensors one by one, and small ones copied together.

    A host takes as long to ask for a sum over a small tensor as for one over a large one, and ten times as
    long to ask for one over a list of tensors (`torch._foreach_norm`, measured on an H200): of a model of
    12 M parameters that was most of what the sums cost.
    """
    small: dict[Hashable, list[int]] = {}
    sizes: dict[Hashable, int] = {}
    for place, (tensor, age) in enumerate(zip(sequences[0], ages, strict=True)):
        count = tensor.numel()
        if count > ALONE:
            yield place, [one[place].flatten() for one in sequences]
            continue
        if age in small and sizes[age] + count > AT_ONCE:
            yield _joined(small.pop(age), sequences)
            sizes[age] = 0
        small.setdefault(age, []).append(place)
        sizes[age] = sizes.get(age, 0) + count
    for places in small.values():
        yield _joined(places, sequences)


def _joined(places: Sequence[int], sequences: Sequence[Sequence[Tensor]]) -> Piece:
    return places[0], [torch.cat([one[place].flatten() for place in places]) for one in sequences]


def sums_of(group: Group, pieces: Pieces) -> Sums:
    """The sums, over pieces of the group's tensors."""
    weights = [_weights(*flat) for _, flat in pieces((group.before, group.after), _any_age(group.before))]
    known = len(group.moments.m) if group.moments else 0
    at = group.embedding
    cuts = {0, known, len(group.gradients)} | (set() if at is None else {at, at + 1})
    gradients, rest, moments = [], [], []
    for begin, end in pairwise(sorted(cuts)):
        some = group.gradients[begin:end]
        if group.moments and end <= known:
            parts = list(_driven(some, group.moments, slice(begin, end), pieces))
            squares = [part[0] for part in parts]
            moments += [part[1:] for part in parts]
        else:
            squares = [square(flat) for _, (flat,) in pieces((some,), _any_age(some))]
        gradients += squares
        rest += squares if begin != at else []
    before, moved = zip(*weights, strict=True) if weights else ((), ())
    m, v, ratios = zip(*moments, strict=True) if moments else ((), (), ())
    return Sums(before, moved, gradients, rest, m, v, ratios)


def _any_age(tensors: Sequence[Tensor]) -> Sequence[Hashable]:
    return [0] * len(tensors)


def _weights(before: Tensor, after: Tensor) -> tuple[Tensor, Tensor]:
    """The sums of squares of parameters before the update, and of how far it moved them."""
    return square(before), square(torch.sub(after, before, out=_scratch(before)))


def _driven(
    gradients: Sequence[Tensor], moments: Moments, some: slice, pieces: Pieces
) -> Iterator[tuple[Tensor, ...]]:
    """The sums of squares of some gradients, of m, of v and of g / sqrt(v), v corrected, by piece."""
    ages, updates = moments.ages[some], moments.updates[some]
    corrections: dict[Hashable, Tensor] = {}  # what v is of the mean that it estimates, by age
    for place, (g, m, v) in pieces((gradients, moments.m[some], moments.v[some]), ages):
        if ages[place] not in corrections:
            correction = 1 - moments.beta2 ** updates[place]
            # Adam counts on the CPU unless it is fused or capturable; nothing waits for what goes from there.
            corrections[ages[place]] = correction.to(g.device, non_blocking=True)
        ratio = torch.clamp(v, min=moments.eps**2, out=_scratch(v))
        torch.div(g, ratio, out=ratio)
        ratios = torch.dot(ratio.float(), g.float()) * corrections[ages[place]]
        yield square(g), square(m), square(v), ratios


def _scratch(like: Tensor) -> Tensor | None:
    """On a CPU memory for a block, to be written over by whoever asks next; else None.

    On a CPU memory that is new at every step costs more than the arithmetic that it is for.
    """
    return _memory(like.dtype)[: len(like)] if like.device.type == "cpu" and len(like) <= BLOCK else None


@lru_cache(maxsize=8)
def _memory(dtype: torch.dtype) -> Tensor:
    return torch.empty(BLOCK, dtype=dtype)
