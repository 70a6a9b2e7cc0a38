"""The norm of the update."""

import torch

from tutor.lab.quantities import Columns, quantity
from tutor.lab.quantities.observation import Observation, norm, scratch


@quantity(needs=("groups",), columns=("update_norm",))
def update_norm(seen: Observation) -> Columns:
    """Norm of how far the parameters moved, weight decay included."""
    pairs = [pair for group in seen.groups for pair in zip(group.after, group.before, strict=True)]
    norms = [
        norm([torch.sub(after.flatten(), before.flatten(), out=scratch(before))]) for after, before in pairs
    ]
    return {"update_norm": norm(norms)}
