"""What can be seen of one training step, as tensors on the device."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from tutor.lab.quantities.group import Group, Moments


@dataclass(frozen=True)
class Observation:
    """One step. What a loop doesn't show is None or empty; quantities say what they can't do without.

    Attributes:
        groups: the parameters, by group of the optimizer.
        losses: loss of each token, in nats, of all micro-batches: (N,).
        targets: the token to be predicted at each of these places: (N,).
        objective: the scalar whose gradient the step took, after reduction and accumulation.
        streams: the hidden states by layer: of each micro-batch's the sum of its squares, a scalar.
        probe_loss: mean loss of a fixed batch under the parameters before the update, in nats.
        grad_norm: norm of the gradient before clipping.
        clipped: whether it was scaled down.
        rest_norm: norm before clipping of all but the embedding's gradient.
        scale, scale_after: factor on the loss in this step and in the next; None without a scaler.
    """

    groups: Sequence[Group] = ()
    losses: Tensor | None = None
    targets: Tensor | None = None
    objective: Tensor | None = None
    streams: Sequence[Sequence[Tensor]] = ()
    probe_loss: Tensor | None = None
    grad_norm: Tensor | None = None
    clipped: Tensor | None = None
    rest_norm: Tensor | None = None
    scale: Tensor | None = None
    scale_after: Tensor | None = None

    @property
    def moments(self) -> list[Moments]:
        """Those of all groups."""
        return [group.moments for group in self.groups if group.moments]

    @property
    def size(self) -> int:
        """How many values have moments, in all processes."""
        return sum(group.with_moments for group in self.groups)
