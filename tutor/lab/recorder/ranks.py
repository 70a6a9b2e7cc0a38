"""The rows of several processes, each of its part of every step, as the rows of the whole.

A process copies out its own rows first; one call for each lot of rows sends them to the first process. A step
of training waits for nothing.
"""

import json
import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import torch
from torch import distributed
from torch.nn import functional

from tutor.lab.quantities import Joined, joined
from tutor.lab.shards import ranks
from tutor.runfolder.buffer import Row

_WORST = ("worst_token_losses", "worst_tokens")


def of_all(rows: list[Row], device: torch.device) -> list[Row]:
    """The rows of the whole in the first process, none in the others. Every process has to call it.

    Args:
        rows: this process's, as many as each other's.
        device: on which tensors can be sent to another process.
    """
    if ranks()[1] == 1:
        return rows
    return [as_one(step) for step in zip(*_gathered(rows, device), strict=True)]


def _gathered(rows: list[Row], device: torch.device) -> list[list[Row]]:
    """The rows of each process, in the first; nothing in the others.

    They travel as text: torch's own `gather_object` needs NumPy.
    """
    rank, world = ranks()
    text = torch.frombuffer(bytearray(json.dumps(rows).encode()), dtype=torch.uint8).to(device)
    sizes = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(world)]
    distributed.all_gather(sizes, torch.full((1,), text.numel(), device=device))
    longest = int(torch.cat(sizes).max())
    texts = [torch.zeros(longest, dtype=torch.uint8, device=device) for _ in range(world * (rank == 0))]
    distributed.gather(functional.pad(text, (0, longest - text.numel())), texts or None)
    return [
        json.loads(bytes(text[:size].tolist())) for text, size in zip(texts, map(int, sizes), strict=False)
    ]


def as_one(parts: Sequence[Row]) -> Row:
    """The row of a step, of the rows that the processes made of their parts of it."""
    row: Row = {}
    for column in dict.fromkeys(chain.from_iterable(parts)):
        values = [part[column] for part in parts if part.get(column) is not None]
        row[column] = _one(joined(column), values) if values else None
    return row | _worst(parts)


def _one(how: Joined, values: Sequence[Any]) -> Any:
    """One value of those of several processes; lists, item by item."""
    if how in ("first", "worst") or len(values) == 1:
        return values[0]
    if isinstance(values[0], list):
        return [_one(how, items) for items in zip(*values, strict=True)]
    if how == "norm":
        return math.sqrt(math.fsum(value * value for value in values))
    return sum(values) / len(values) if how == "mean" else sum(values)


def _worst(parts: Sequence[Row]) -> Row:
    """The worst tokens of all, as many as each process has; NaN comes first."""
    found = [part for part in parts if part.get(_WORST[1]) is not None]
    if not found:
        return {}
    pairs = chain.from_iterable(zip(*(part[column] for column in _WORST), strict=True) for part in found)
    ordered = sorted(pairs, key=lambda pair: -math.inf if math.isnan(pair[0]) else -pair[0])
    most = max(len(part[_WORST[1]]) for part in found)
    return {column: [pair[i] for pair in ordered[:most]] for i, column in enumerate(_WORST)}
