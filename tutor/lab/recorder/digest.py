"""The hash of a batch, computed where the batch lies: nothing waits for a device."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

_MOST = 1 << 20  # values; of a larger batch so many, evenly spread
_PIECES = (0, 16, 32)  # the low bits of a product carry less than the high ones
_BY_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def digest(batch: Tensor) -> Tensor:
    """Three pieces of 16 bits, (3,), of the sum of each value times a number of its place's, modulo 2 ** 64.

    Each piece is exact in fp32, in which numbers are copied out.
    """
    values = batch.detach().reshape(-1)
    values = values[:: max(1, values.numel() // _MOST)]
    whole = values.view(_BY_SIZE[values.element_size()]).long()
    # A compiled model has the numbers made in its graph, where nothing can be kept for the next time.
    factors = _factors if torch.compiler.is_compiling() else _kept_factors
    mixed = (whole * factors(whole.numel(), whole.device)).sum()
    return torch.stack([(mixed >> (bits + 16)) & 0xFFFF for bits in _PIECES])


def spelled(pieces: Sequence[float]) -> str:
    """The hash of micro-batches, twelve hex digits each, as the rows of the lab have it."""
    return "".join(f"{int(piece):04x}" for piece in pieces)


def _factors(count: int, device: torch.device) -> Tensor:
    """An odd number for each place, the same on every machine (the mixing of SplitMix64)."""
    places = torch.arange(1, count + 1, dtype=torch.int64, device=device)
    mixed = places * -7046029254386353131
    mixed = (mixed ^ ((mixed >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
    mixed = (mixed ^ ((mixed >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
    return mixed | 1


_kept_factors = lru_cache(maxsize=4)(_factors)
