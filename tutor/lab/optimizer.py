"""The optimizer: AdamW in two groups, each laid out as one flat tensor.

Tensors with two dimensions or more decay; gains, biases and other 1-D tensors don't. Every parameter is a
view into its group's flat tensor, and gradients are gathered into another, so a norm over a group is one
operation and `torch.optim.AdamW`, the library's own, steps two tensors in place of fifty.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tutor.settings import Settings

Clip = Callable[[list[Tensor]], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Group:
    """Parameters that share a weight decay, flat, with their gathered gradients in `flat.grad`."""

    name: str
    weight_decay: float
    names: tuple[str, ...]
    parameters: tuple[nn.Parameter, ...]
    flat: nn.Parameter


class Optimizer:
    """AdamW over two flat groups, "decay" and "no_decay".

    Building it moves the model's parameters into the flat tensors: do it after `model.to(device)`.
    """

    def __init__(self, model: nn.Module, settings: Settings):
        named = list(model.named_parameters())
        self.groups = [
            _flatten("decay", settings.weight_decay, [(n, p) for n, p in named if p.ndim >= 2]),
            _flatten("no_decay", 0.0, [(n, p) for n, p in named if p.ndim < 2]),
        ]
        self.adam = torch.optim.AdamW(
            [{"params": [group.flat], "weight_decay": group.weight_decay} for group in self.groups],
            lr=settings.lr,
            betas=(settings.beta1, settings.beta2),
            eps=settings.eps,
            fused=True,
        )

    @property
    def flats(self) -> list[Tensor]:
        """The parameters, one flat tensor a group."""
        return [group.flat.detach() for group in self.groups]

    @property
    def grads(self) -> list[Tensor]:
        """The gathered gradients, one flat tensor a group."""
        return [group.flat.grad for group in self.groups]

    def moments(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Adam's m, v and count of updates for each group, once there was an update."""
        for group in self.groups:
            if state := self.adam.state.get(group.flat):
                yield state["exp_avg"], state["exp_avg_sq"], state["step"]

    def set_lr(self, lr: float) -> None:
        """Take `lr` for the next update."""
        for group in self.adam.param_groups:
            group["lr"] = lr

    def gather(self) -> None:
        """Move what backward left at each parameter into the flat gradients (zeros where it left none)."""
        for group in self.groups:
            parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in group.parameters]
            torch.cat([part.flatten() for part in parts], out=group.flat.grad)
            for parameter in group.parameters:
                parameter.grad = None  # so that the next backward writes, and needn't add


def _flatten(name: str, weight_decay: float, named: list[tuple[str, nn.Parameter]]) -> Group:
    flat = nn.Parameter(torch.cat([p.detach().flatten() for _, p in named]))
    flat.grad = torch.zeros_like(flat)
    start = 0
    for _, parameter in named:
        stop = start + parameter.numel()
        parameter.data = flat.data[start:stop].view_as(parameter)
        start = stop
    names, parameters = zip(*named, strict=True)
    return Group(name, weight_decay, names, parameters, flat)


def norm(tensors: list[Tensor]) -> Tensor:
    """The Euclidean norm over several flat tensors, left on the device."""
    return torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(t) for t in tensors]))


def clip_to(bound: float | None) -> Clip:
    """Gradients to (norm before, whether they were clipped); scaled in place when over `bound`.

    Without a bound they are left alone. The arithmetic is that of `torch.nn.utils.clip_grad_norm_`.
    """

    def clip(grads: list[Tensor]) -> tuple[Tensor, Tensor]:
        before = norm(grads)
        factor = bound / (before + 1e-6)
        for grad in grads:
            grad.mul_(factor.clamp(max=1.0))
        return before, factor < 1

    def leave(grads: list[Tensor]) -> tuple[Tensor, Tensor]:
        before = norm(grads)
        return before, torch.zeros_like(before, dtype=torch.bool)

    return leave if bound is None else clip
